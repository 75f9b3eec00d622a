"""Errors of the team's store: distinguish an unavailable server from a refused value."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.errors import ProgramLimitExceeded, QueryCanceled
from sqlalchemy.exc import DataError, DBAPIError, InterfaceError, OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as SlowPool

from reenact.errors import SearchEnded, StoreAway

UNFIT = (
    DataError,
    ProgrammingError,
    psycopg.DataError,
    psycopg.ProgrammingError,
    ProgramLimitExceeded,
    ValueError,
    TypeError,
)
"""The errors for a value that a column refuses, which would be refused again."""


@contextmanager
def asking(place: str) -> Iterator[None]:
    """Convert database errors to StoreAway, or to SearchEnded if the server ended a query.

    Args:
        place: The store's name, without a password.
    """
    try:
        yield
    except ProgramLimitExceeded:
        raise
    except (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError) as error:
        if isinstance(error, DBAPIError) and isinstance(error.orig, ProgramLimitExceeded):
            # A value is too long for an index, which is no reason to try again.
            raise error.orig from None
        if isinstance(getattr(error, "orig", error), QueryCanceled):
            raise SearchEnded(
                f"{place} has ended the search, which took too long: say more of the recordings that it is about "
                "(their tag, name or status), or use a simpler pattern"
            ) from None
        raise _away(place, error) from None
    except SlowPool:
        raise StoreAway(f"{place} is busy: no connection became free in this process") from None
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        raise _away(place, error) from None


def _away(place: str, error: DBAPIError | psycopg.Error) -> StoreAway:
    # The lines after libpq's first one are advice for the server's operator.
    said, _, _ = str(error.orig if isinstance(error, DBAPIError) else error).strip().partition("\n")
    said = said.removeprefix("connection is bad: ")[:200]
    return StoreAway(f"{place} does not answer ({said})")
