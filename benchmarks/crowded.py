"""A team's store with very many recordings: some that really came in, and copies of them that the database makes.

A copy has an id, a beginning and a version of its own; all else, in every table, is its original's, as if the intake
had taken it and somebody had read it. It does so whatever version the tables have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Engine, text

_TOGETHER = 100
_OWN = ("key", "id", "version", "known", "worded", "facted", "moment", "started")
_EVERY = 3600
"""Seconds by which one copy began before the other."""

_MADE = """
CREATE TEMPORARY TABLE made ON COMMIT DROP AS
SELECT r.key AS source, r.id AS old, r.started AS began,
       'c' || lpad((c.number * :many + row_number() OVER (PARTITION BY c.number ORDER BY r.key))::text, 9, '0') AS id,
       nextval('reenact.versions') AS version,
       r.moment - c.number * :every AS moment,
       to_char(to_timestamp(r.moment - c.number * :every) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS+00:00')
         AS started
FROM reenact.recordings r CROSS JOIN generate_series(CAST(:first AS int), :last) AS c(number)
WHERE r.key = ANY(:sources)
"""


def multiply(engine: Engine, sources: list[int], copies: int, first: int = 1) -> None:
    """Copy recordings.

    Args:
        engine: The database.
        sources: The keys of those that are copied.
        copies: How many of each.
        first: The number of the first copy: greater than that of all that were made before.
    """
    for start in range(first, first + copies, _TOGETHER):
        with engine.begin() as connection:
            _some(connection, sources, start, min(start + _TOGETHER, first + copies) - 1)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # What a database does by itself, some time after.
        connection.execute(text("VACUUM ANALYZE"))


def _some(connection: Connection, sources: list[int], first: int, last: int) -> None:
    asked = {"first": first, "last": last, "sources": sources, "many": len(sources), "every": _EVERY}
    connection.execute(text(_MADE), asked)
    versions = [
        name
        for name in ("version", "known", "worded", "facted")
        if name in _columns(connection, "recordings")
    ]
    same = [name for name in _columns(connection, "recordings") if name not in _OWN]
    # What was made of all of an original was made of all of its copy.
    taken = [f"CASE WHEN r.{name} = r.version THEN m.version ELSE 0 END" for name in versions]
    taken += [f"r.{name}" for name in same]
    connection.execute(
        text(
            f"INSERT INTO reenact.recordings (id, moment, started, {', '.join(versions + same)}) "
            f"SELECT m.id, m.moment, m.started, {', '.join(taken)} "
            "FROM made m JOIN reenact.recordings r ON r.key = m.source"
        )
    )
    for table in _tables(connection):
        names = [name for name in _columns(connection, table) if name != "recording"]
        given = [_given(table, name) for name in names]
        connection.execute(
            text(
                f"INSERT INTO reenact.{table} (recording, {', '.join(names)}) SELECT r.key, {', '.join(given)} "
                f"FROM made m JOIN reenact.recordings r ON r.id = m.id AND r.version = m.version "
                f"JOIN reenact.{table} t ON t.recording = m.source"
            )
        )


def _given(table: str, name: str) -> str:
    if (table, name) != ("chunks", "data"):
        return f"t.{name}"
    # The header names the recording, and says when it began.
    whole = "replace(replace(convert_from(t.data, 'UTF8'), m.old, m.id), m.began, m.started)"
    return f"CASE WHEN t.at = 0 THEN convert_to({whole}, 'UTF8') ELSE t.data END"


def _tables(connection: Connection) -> list[str]:
    asked = text(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'reenact' "
        "AND column_name = 'recording' ORDER BY table_name"
    )
    return list(connection.execute(asked).scalars())


def _columns(connection: Connection, table: str) -> list[str]:
    asked = text(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'reenact' AND table_name = :table "
        "AND is_generated = 'NEVER' ORDER BY ordinal_position"
    )
    return list(connection.execute(asked, {"table": table}).scalars())


def counted(engine: Engine) -> dict[str, int]:
    """How many rows each table has."""
    with engine.begin() as connection:
        names = ["recordings", *_tables(connection)]
        return {name: _count(connection, name) for name in names}


def _count(connection: Connection, table: str) -> int:
    return int(connection.execute(text(f"SELECT count(*) FROM reenact.{table}")).scalar_one())


def sizes(engine: Engine) -> Iterator[tuple[str, int]]:
    """The bytes of each table, with its indexes."""
    asked = text(
        "SELECT relname, pg_total_relation_size(oid) FROM pg_class "
        "WHERE relkind = 'r' AND relnamespace = 'reenact'::regnamespace ORDER BY 1"
    )
    with engine.begin() as connection:
        rows: list[Any] = list(connection.execute(asked))
    yield from ((str(name), int(size)) for name, size in rows)
