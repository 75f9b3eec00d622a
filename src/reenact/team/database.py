"""The Postgres of a team's store, with its tables up to date."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, Select, Table, create_engine, func, literal, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import ArgumentError

from reenact.errors import UsageError
from reenact.team.location import STORE, TeamPlace
from reenact.team.schema import ready
from reenact.team.tables import CLOCK, PROJECTS, RECORDINGS
from reenact.team.unavailable import asking

PATIENCE = 10
"""Seconds to wait for a server."""

LONGEST = 60.0
"""Most seconds for a query of a search."""

_BLOBS_LOCK = 0x7265656E


class Database:
    """A Postgres, and one project in it. It connects at the first query. Thread-safe.

    Args:
        place: The addresses of the store.
        patience: Seconds to wait for it.

    Raises:
        UsageError: The address is invalid.
    """

    def __init__(self, place: TeamPlace, patience: int = PATIENCE) -> None:
        self.place = place
        self._lock = threading.Lock()
        self._project: int | None = None
        try:
            self._engine: Engine = create_engine(
                "postgresql+psycopg://" + place.database.partition("://")[2],
                pool_pre_ping=True,
                pool_size=5,
                max_overflow=15,
                connect_args={"connect_timeout": patience},
            )
        except (ArgumentError, ValueError):
            raise UsageError(
                f"{STORE} is no address of a Postgres; postgresql://user@host/database"
            ) from None

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """Open a transaction, committed at its end. Raises StoreAway if the server does not answer."""
        self.project  # noqa: B018 - the tables are there, then
        with asking(self.place.name), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def administered(self) -> Iterator[Connection]:
        """Open a transaction as `begin` does, without creating the project."""
        with asking(self.place.name):
            ready(self._engine)
            with self._engine.begin() as connection:
                yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Open a read-only transaction: all queries see the same moment.

        Raises StoreAway, and SearchEnded for a query that takes longer than a minute.
        """
        self.project  # noqa: B018 - as above
        with asking(self.place.name), self._engine.connect() as connection:
            connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                # The limit holds only for this transaction.
                limit = func.set_config("statement_timeout", f"{LONGEST * 1000:.0f}", literal(value=True))
                connection.execute(select(limit))
                yield connection

    @property
    def project(self) -> int:
        """The project's key; the project is created if missing. Raises StoreAway, UsageError."""
        if self._project is None:
            with self._lock, asking(self.place.name):
                ready(self._engine)
                with self._engine.begin() as connection:
                    wanted = select(PROJECTS.c.key).where(PROJECTS.c.name == self.place.project)
                    found = connection.execute(wanted).scalar()
                    if found is None:
                        new = insert(PROJECTS).values(name=self.place.project).on_conflict_do_nothing()
                        connection.execute(new)
                        found = connection.execute(wanted).scalar_one()
                self._project = found
        return self._project

    def now(self) -> int:
        """Return the time of the database's clock, in nanoseconds since 1970. Raises StoreAway."""
        with self.begin() as connection:
            return int(connection.execute(select(CLOCK)).scalar_one())

    def recordings(self, *columns: Any) -> Select[Any]:
        """Return a query about the project's recordings."""
        return select(*columns).where(RECORDINGS.c.project == self.project)

    def sizes(self) -> dict[str, tuple[int, int]]:
        """Return the number of recordings and the bytes of their lines, by project.

        Raises StoreAway.
        """
        asked = (
            select(PROJECTS.c.name, func.count(), func.coalesce(func.sum(RECORDINGS.c.bytes), 0))
            .join_from(PROJECTS, RECORDINGS)
            .where(RECORDINGS.c.version > 0)
            .group_by(PROJECTS.c.name)
        )
        with self.begin() as connection:
            return {name: (int(count), int(size)) for name, count, size in connection.execute(asked)}

    def blobs_held(self, connection: Connection, *, alone: bool = False) -> None:
        """Prevent the deletion of the project's blobs until the transaction ends.

        With `alone`, prevent additions, too.
        """
        take = func.pg_advisory_xact_lock if alone else func.pg_advisory_xact_lock_shared
        connection.execute(select(take(_BLOBS_LOCK, self.project)))

    def close(self) -> None:
        """Close the connections."""
        with contextlib.suppress(Exception):
            self._engine.dispose()


def copied(
    connection: Connection,
    table: Table,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    types: Sequence[str] = (),
) -> None:
    """Insert many rows into a table at once.

    Args:
        connection: The connection, in its transaction.
        table: The table.
        columns: The columns of the rows, in their order.
        rows: The rows.
        types: Postgres's names of the columns' types, if all values have exactly these, which is faster.
    """
    driver: Any = connection.connection.driver_connection
    binary = " (FORMAT BINARY)" if types else ""
    statement = f"COPY {table.fullname} ({', '.join(columns)}) FROM STDIN{binary}"
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        if types:
            copy.set_types(types)
        for row in rows:
            copy.write_row(row)
