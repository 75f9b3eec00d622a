"""What is said when a server of the team's store does not answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.errors import ProgramLimitExceeded
from sqlalchemy.exc import DataError, DBAPIError, InterfaceError, OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as SlowPool

from reenact.errors import StoreAway

UNFIT = (
    DataError,
    ProgrammingError,
    psycopg.DataError,
    psycopg.ProgrammingError,
    ProgramLimitExceeded,
    ValueError,
    TypeError,
)
"""What is raised for a value that a column does not take. Asking again is of no use."""


@contextmanager
def asking(place: str) -> Iterator[None]:
    """Around what is asked of a database. Raises StoreAway where it does not answer.

    Args:
        place: What it is called, without a password.
    """
    try:
        yield
    except ProgramLimitExceeded:
        raise
    except (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError) as error:
        if isinstance(error, DBAPIError) and isinstance(error.orig, ProgramLimitExceeded):
            # A value is too long for an index: the server answers, and says so each time.
            raise error.orig from None
        raise _away(place, error) from None
    except SlowPool:
        raise StoreAway(f"{place} is kept busy by this process: no connection to it became free") from None
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        raise _away(place, error) from None


def _away(place: str, error: DBAPIError | psycopg.Error) -> StoreAway:
    # What libpq says behind its first line is advice to who runs the server.
    said, _, _ = str(error.orig if isinstance(error, DBAPIError) else error).strip().partition("\n")
    said = said.removeprefix("connection is bad: ")[:200]
    return StoreAway(f"{place} does not answer ({said})")
