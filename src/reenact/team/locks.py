"""Change tables while others read and write them, in migrations."""

from __future__ import annotations

import time

from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from reenact.team.tables import META

_PATIENCE = "500ms"
_PAUSE = 0.2


def locked(connection: Connection, statement: str) -> None:
    """Run a statement that briefly needs an exclusive lock on a table.

    While it waits for a long reader, all later queries wait for it. So it waits only briefly, lets them pass, and tries
    again.
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
    """Create an index while the table is used; first drop an invalid one of an interrupted run.

    Args:
        connection: A connection that commits each statement.
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
