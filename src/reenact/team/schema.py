"""Create or upgrade the database's tables to this version, once for all processes."""

from __future__ import annotations

import time
from pathlib import Path

from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import ProgrammingError

from reenact.core.store.writer import warn
from reenact.errors import UsageError
from reenact.team.tables import ANALYZE, HEAD, META

_FOLDER = Path(__file__).parent / "migrations"
_PAUSE = 0.2
_LOCK = 0x7265656E61637400
"""The number of the database lock for changing tables."""


def ready(engine: Engine, to: str = HEAD) -> None:
    """Create or upgrade the tables if needed, without blocking readers and writers.

    Args:
        engine: The database.
        to: The version to reach; a test may want an older one.

    Raises:
        UsageError: The tables are of a later version, or of an older one and this user may not change them.
    """
    with engine.connect() as connection:
        if _version(connection) == HEAD:
            return
    with engine.connect() as connection:
        _upgrade(connection, to)


def _upgrade(connection: Connection, to: str) -> None:
    # Imported here because they are slow, and an upgrade is rare.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    # Poll, because a query that waits for the lock would block the concurrent creation of an index.
    while not connection.execute(text("SELECT pg_try_advisory_lock(:lock)"), {"lock": _LOCK}).scalar():
        connection.rollback()
        time.sleep(_PAUSE)
    version = None
    try:
        connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {META.schema}"))
        connection.commit()
        config = Config()
        config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
        version = _version(connection)
        known = {one.revision for one in ScriptDirectory.from_config(config).walk_revisions()}
        if version is not None and version not in known:
            raise UsageError(
                f"the team's store has tables of version {version}, which this Reenact does not know: "
                "upgrade with `pip install -U 'reenact[team]'`"
            )
        if version is not None and version != HEAD:
            warn(
                f"the team's store goes from version {version} to {HEAD}; this may take minutes; "
                "the store can be used meanwhile"
            )
        config.attributes["connection"] = connection
        command.upgrade(config, to)
        if version is not None and to == HEAD:
            connection.execute(text(ANALYZE))
        connection.commit()
    except ProgrammingError as error:
        if not isinstance(error.orig, InsufficientPrivilege):
            raise
        raise UsageError(_refused(version, error.orig)) from None
    finally:
        connection.rollback()
        connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": _LOCK})
        connection.commit()


def _refused(version: str | None, error: InsufficientPrivilege) -> str:
    why = str(error).partition("\n")[0]
    has = f"has tables of version {version}, this Reenact needs {HEAD}" if version else "has no tables yet"
    return (
        f"the team's store {has}, and this user may not create them ({why}): their owner must run "
        "`reenact list --team` once"
    )


def _version(connection: Connection) -> str | None:
    name = f"{META.schema}.alembic_version"
    there = connection.execute(text("SELECT to_regclass(:name)"), {"name": name}).scalar()
    found = connection.execute(text(f"SELECT version_num FROM {name}")).scalar() if there else None  # noqa: S608
    connection.rollback()
    return found
