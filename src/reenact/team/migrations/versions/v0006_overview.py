"""Add the script, the prompt and the outcome of each recording."""  # noqa: INP001 - run by Alembic, never imported

from alembic import op

from reenact.team.locks import indexed, locked

revision = "0006"
down_revision = "0005"

_COLUMNS = """
ALTER TABLE reenact.recordings
    ADD COLUMN IF NOT EXISTS script TEXT,
    ADD COLUMN IF NOT EXISTS prompt TEXT,
    ADD COLUMN IF NOT EXISTS outcome TEXT
"""


def upgrade() -> None:
    """Add the columns, and an index of the recordings that an earlier version summarised."""
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        locked(connection, _COLUMNS)
        indexed(connection, "recordings_without_outcome", "recordings (project) WHERE outcome IS NULL")
