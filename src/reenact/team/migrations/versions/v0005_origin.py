"""Add a project's key, and the origin of each recording."""  # noqa: INP001 - run by Alembic, never imported

from alembic import op

from reenact.team.locks import locked

revision = "0005"
down_revision = "0004"

_STATEMENTS = (
    """
    CREATE TABLE IF NOT EXISTS reenact.project_keys (
        project INTEGER PRIMARY KEY REFERENCES reenact.projects (key),
        seed BYTEA NOT NULL,
        public TEXT NOT NULL
    )
    """,
    """
    ALTER TABLE reenact.recordings
        ADD COLUMN IF NOT EXISTS seal TEXT NOT NULL DEFAULT '',
        ADD COLUMN IF NOT EXISTS signer TEXT NOT NULL DEFAULT '',
        ADD COLUMN IF NOT EXISTS endorser TEXT NOT NULL DEFAULT '',
        ADD COLUMN IF NOT EXISTS endorsement TEXT NOT NULL DEFAULT ''
    """,
)


def upgrade() -> None:
    """Make the table and the columns."""
    with op.get_context().autocommit_block():
        for statement in _STATEMENTS:
            locked(op.get_bind(), statement)
