"""What is said when a server of the team's store does not answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy import exc
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from reenact.errors import StoreAway


@contextmanager
def asking(place: str) -> Iterator[None]:
    """Around what is asked of a database. Raises StoreAway where it does not answer.

    Args:
        place: What it is called, without a password.
    """
    try:
        yield
    except (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise _away(place, error) from None
    except exc.TimeoutError:
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
