"""Brings a database's tables to what this version of Reenact knows, once, whoever comes first."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from reenact.errors import UsageError
from reenact.store.team.tables import META

_FOLDER = Path(__file__).parent / "migrations"
_LOCK = 0x7265656E61637400
"""The number of the lock (in the database) under which tables are changed: no one else asks for it."""


def ready(engine: Engine) -> None:
    """Make or upgrade the tables, where they are not as they should be.

    Raises:
        UsageError: They are of a later version of Reenact.
    """
    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    scripts = ScriptDirectory.from_config(config)
    with engine.connect() as connection:
        if _version(connection) == scripts.get_current_head():
            return
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": _LOCK})
        try:
            connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {META.schema}"))
            connection.commit()
            version = _version(connection)
            if version is not None and version not in {one.revision for one in scripts.walk_revisions()}:
                raise UsageError(
                    f"the team's store has tables of version {version}, which this Reenact does not know: "
                    "upgrade with `pip install -U 'reenact[team]'`"
                )
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.commit()
        finally:
            connection.rollback()
            connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": _LOCK})
            connection.commit()


def _version(connection: Connection) -> str | None:
    context = MigrationContext.configure(connection, opts={"version_table_schema": META.schema})
    found = context.get_current_revision()
    connection.rollback()
    return found
