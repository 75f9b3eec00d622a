"""Add search in Postgres: indexes for common filters, and texts in which words are found.

Readers and writers are not blocked: no table is rewritten, indexes are built concurrently, and locks are tried only for
a short time, repeatedly. After an interruption it starts again.
"""  # noqa: INP001 - run by Alembic, never imported

import contextlib

from alembic import op
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from reenact.team.locks import indexed, locked

revision = "0002"
down_revision = "0001"

_FOLDED = "lower((translate({0}, '\u0130\u0131\u017f\u212a', 'iisk') COLLATE \"C\"))"

_INDEXES = {
    "recordings_began": 'recordings (project, moment DESC, written DESC, id COLLATE "C")',
    "recordings_beginning": 'recordings (project, id COLLATE "C")',
    "recordings_unread": "recordings (project) WHERE known < version",
    "recordings_unworded": "recordings (project) WHERE worded <> known",
    "steps_label": f"steps ({_FOLDED.format('label')}, recording)",
    "steps_model": f"steps ({_FOLDED.format('model')}, recording) WHERE model IS NOT NULL",
    "steps_kind": "steps (kind, recording)",
    "steps_ended": "steps (ended, recording) WHERE ended <> 'ok'",
    "steps_tokens": "steps ((input_tokens + output_tokens), recording) WHERE input_tokens IS NOT NULL",
    "steps_cost": "steps (cost, recording) WHERE cost IS NOT NULL",
    "steps_duration": "steps (duration, recording)",
}

_TEXTS = """
CREATE TABLE IF NOT EXISTS reenact.texts (
    recording BIGINT NOT NULL REFERENCES reenact.recordings (key) ON DELETE CASCADE,
    part SMALLINT NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (recording, part)
)
"""


def upgrade() -> None:
    """Create the columns, indexes and tables."""
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        locked(
            connection,
            "ALTER TABLE reenact.recordings ADD COLUMN IF NOT EXISTS worded BIGINT NOT NULL DEFAULT 0",
        )
        locked(connection, _TEXTS)
        for name, what in _INDEXES.items():
            indexed(connection, name, what)
        connection.execute(text("DROP INDEX CONCURRENTLY IF EXISTS reenact.recordings_moment"))
        with contextlib.suppress(DBAPIError):
            # Postgres includes the extension, and any user who may create tables may create it. Without it, texts are
            # searched one by one.
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA reenact"))
            where = text("SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'pg_trgm'")
            schema = connection.execute(where).scalar_one()
            indexed(connection, "texts_body", f"texts USING gin (body {schema}.gin_trgm_ops)")
