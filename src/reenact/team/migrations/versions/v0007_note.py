"""Add the note that a person gave a recording."""  # noqa: INP001 - run by Alembic, never imported

from alembic import op

from reenact.team.locks import locked

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the column."""
    with op.get_context().autocommit_block():
        locked(
            op.get_bind(),
            "ALTER TABLE reenact.recordings ADD COLUMN IF NOT EXISTS note TEXT NOT NULL DEFAULT ''",
        )
