"""Add limits of a project: its size, and the age of its recordings."""  # noqa: INP001 - run by Alembic, never imported

from alembic import op

from reenact.team.locks import indexed, locked

revision = "0003"
down_revision = "0002"

_LIMITS = """
CREATE TABLE IF NOT EXISTS reenact.limits (
    project INTEGER PRIMARY KEY REFERENCES reenact.projects (key),
    keep BIGINT,
    most_bytes BIGINT,
    most_recordings BIGINT
)
"""


def upgrade() -> None:
    """Make the table, and an index by age."""
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        locked(connection, _LIMITS)
        indexed(connection, "recordings_written", "recordings (project, written)")
