"""Add tombstones, holds, and leases of blobs in upload."""  # noqa: INP001 - run by Alembic, never imported

from alembic import op
from sqlalchemy import text

from reenact.team.locks import indexed, locked

revision = "0004"
down_revision = "0003"

_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS reenact.holds (
        key INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        project INTEGER NOT NULL REFERENCES reenact.projects (key),
        filter TEXT NOT NULL,
        why TEXT NOT NULL,
        who TEXT NOT NULL,
        at BIGINT NOT NULL,
        UNIQUE (project, filter)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS reenact.tombstones (
        project INTEGER NOT NULL REFERENCES reenact.projects (key),
        id TEXT NOT NULL,
        at BIGINT NOT NULL,
        until BIGINT NOT NULL,
        why TEXT NOT NULL,
        who TEXT NOT NULL,
        receipt TEXT NOT NULL,
        PRIMARY KEY (project, id)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS reenact.leases (
        key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        project INTEGER NOT NULL REFERENCES reenact.projects (key),
        address TEXT NOT NULL,
        at BIGINT NOT NULL
    )
    """,
)

# Earlier versions used the clock of the sender, which may be ahead.
_WRITTEN = """
UPDATE reenact.recordings SET written = extract(epoch from clock_timestamp()) * 1000000000
WHERE written > extract(epoch from clock_timestamp()) * 1000000000
"""


def upgrade() -> None:
    """Make the tables."""
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        for statement in _TABLES:
            locked(connection, statement)
        indexed(connection, "tombstones_at", "tombstones (project, at)")
        indexed(connection, "leases_address", "leases (project, address)")
        connection.execute(text(_WRITTEN))
