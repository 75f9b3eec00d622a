"""Add the facts of arguments and outputs, by which a filter on a value finds recordings."""  # noqa: INP001 - run by Alembic, never imported

from alembic import op

from reenact.team.locks import indexed, locked

revision = "0008"
down_revision = "0007"

_FACTS = """
CREATE TABLE IF NOT EXISTS reenact.facts (
    recording BIGINT PRIMARY KEY REFERENCES reenact.recordings (key) ON DELETE CASCADE,
    facts BIGINT[] NOT NULL
)
"""


def upgrade() -> None:
    """Make the table; searches fill it for recordings with a summary by an earlier version."""
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        locked(
            connection,
            "ALTER TABLE reenact.recordings ADD COLUMN IF NOT EXISTS facted BIGINT NOT NULL DEFAULT 0",
        )
        locked(connection, _FACTS)
        indexed(connection, "recordings_unfacted", "recordings (project) WHERE facted <> known")
        # `fastupdate` keeps pending entries in a list, which each search would have to read.
        indexed(connection, "facts_facts", "facts USING gin (facts) WITH (fastupdate = off)")
