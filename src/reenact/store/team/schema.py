"""Brings a database's tables to what this version of Reenact knows, once, whoever comes first."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import ProgrammingError

from reenact.errors import UsageError
from reenact.store.team.tables import META
from reenact.store.writer import warn

_FOLDER = Path(__file__).parent / "migrations"
_LOCK = 0x7265656E61637400
"""The number of the lock (in the database) under which tables are changed: no one else asks for it."""


def ready(engine: Engine, to: str = "head") -> None:
    """Make or upgrade the tables, where they are not as they should be. Who reads and writes goes on meanwhile.

    Args:
        engine: The database.
        to: Which version they should have; a test may want an older one.

    Raises:
        UsageError: They are of a later version of Reenact, or of an older one and this user may not change them.
    """
    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    scripts = ScriptDirectory.from_config(config)
    with engine.connect() as connection:
        version = _version(connection)
        if version == scripts.get_current_head():
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
            if version is not None and version != scripts.get_current_head():
                warn(
                    f"the team's store goes from version {version} to {scripts.get_current_head()}; that may take "
                    "minutes, and whoever uses it goes on meanwhile"
                )
            config.attributes["connection"] = connection
            command.upgrade(config, to)
            connection.commit()
        except ProgrammingError as error:
            if not isinstance(error.orig, InsufficientPrivilege):
                raise
            raise UsageError(_refused(version, scripts.get_current_head(), error.orig)) from None
        finally:
            connection.rollback()
            connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": _LOCK})
            connection.commit()


def _refused(version: str | None, wanted: str | None, error: InsufficientPrivilege) -> str:
    why = str(error).partition("\n")[0]
    has = f"has tables of version {version}, this Reenact needs {wanted}" if version else "has no tables yet"
    return (
        f"the team's store {has}, and this user may not make them ({why}): whoever owns them runs "
        "`reenact list --team` once"
    )


def _version(connection: Connection) -> str | None:
    context = MigrationContext.configure(connection, opts={"version_table_schema": META.schema})
    found = context.get_current_revision()
    connection.rollback()
    return found
