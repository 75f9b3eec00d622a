"""Changing tables while others read and write them: for migrations."""

from __future__ import annotations

import time

from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from reenact.team.tables import META

_PATIENCE = "500ms"
_PAUSE = 0.2


def locked(connection: Connection, statement: str) -> None:
    """Run a statement that needs an exclusive lock on a table for a moment.

    While it waits for a long reader, all later queries wait behind it. So it waits briefly, lets them
    pass, and tries again.
    """
    while True:
        connection.execute(text(f"SET lock_timeout = '{_PATIENCE}'"))
        try:
            connection.execute(text(statement))
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != "55P03":  # lock_not_available
                raise
            time.sleep(_PAUSE)
        else:
            return
        finally:
            connection.execute(text("RESET lock_timeout"))


def indexed(connection: Connection, name: str, what: str) -> None:
    """Create an index during use; drop an invalid one of an interrupted run first.

    Args:
        connection: One that commits each statement by itself.
        name: The name of the index.
        what: The table and its columns: `steps (kind, recording)`.
    """
    valid = connection.execute(
        text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)"),
        {"name": f"{META.schema}.{name}"},
    ).scalar()
    if valid:
        return
    if valid is not None:
        connection.execute(text(f"DROP INDEX CONCURRENTLY {META.schema}.{name}"))
    connection.execute(text(f"CREATE INDEX CONCURRENTLY {name} ON {META.schema}.{what}"))
