"""The SQLite tables of the index: columns, numbered words, and packed values."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import orjson

from reenact.core.query.summary import Summary
from reenact.core.store.compiler import WORDS
from reenact.core.store.details import PARTS, facts_in
from reenact.core.store.query import QueryPlan
from reenact.core.store.summarised import STEP

VERSION = 9
RECORDING = [field.name for field in fields(Summary)]
"""The columns of a recording, in their order."""


class Columns:
    """The columns of the database, for a plan."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def words(self, column: str) -> list[tuple[int, str]]:
        """Return the words of a column, with their numbers."""
        return self._database.execute("SELECT id, word FROM words WHERE sort = ?", [column]).fetchall()

    def function(self, test: Callable[[Any], bool]) -> str:
        """Return the name of a test of one value as an SQL function."""
        name = f"holds_{id(test)}"
        self._database.create_function(name, 1, test)
        return name


class Words:
    """Numbers the words of the steps of one recording."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._known: dict[tuple[str, str], int] = {}

    def number(self, column: str, value: Any) -> Any:
        """Return the number of a column's word; other values stay as they are."""
        if column not in WORDS or value is None:
            return value
        key = (column, str(value))
        if key not in self._known:
            self._database.execute("INSERT OR IGNORE INTO words (sort, word) VALUES (?, ?)", key)
            row = self._database.execute("SELECT id FROM words WHERE sort = ? AND word = ?", key).fetchone()
            self._known[key] = row[0]
        return self._known[key]


def candidates(database: sqlite3.Connection, plan: QueryPlan, keys: list[int]) -> dict[int, list[str | None]]:
    """Return by recording the numbers of the candidate steps, and of those per condition."""
    text, values = plan.within
    sums, given = ["group_concat(number)"], []
    for condition, some in () if plan.exact else plan.conditions:
        sums.append(f"group_concat(CASE WHEN {condition} THEN number END)")
        given += some
    rows = database.execute(
        f"SELECT recording, {', '.join(sums)} FROM steps"  # noqa: S608
        f" WHERE recording IN (SELECT value FROM json_each(?)) AND {text} GROUP BY recording",
        [*given, orjson.dumps(keys).decode(), *values],
    )
    return {key: found for key, *found in rows}


def numbers_of(text: str | None) -> list[int]:
    return sorted(map(int, text.split(","))) if text else []


def number_set(text: str | None) -> set[int]:
    return set(numbers_of(text))


def place_of(key: int, part: int) -> int:
    return key * len(PARTS) + part


def block(database: sqlite3.Connection, key: int, part: str) -> bytes:
    place = place_of(key, PARTS.index(part))
    row = database.execute("SELECT data FROM details WHERE place = ?", [place]).fetchone()
    return bytes(row[0])


def created(database: sqlite3.Connection) -> sqlite3.Connection:
    """Make the tables of an empty database; close it if they cannot be made."""
    try:
        _create(database)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _create(database: sqlite3.Connection) -> None:
    recordings = ", ".join(RECORDING)
    steps = ", ".join(f"{name} INTEGER" if name in WORDS else name for name in STEP)
    database.executescript(
        f"""
        CREATE TABLE recordings (key INTEGER PRIMARY KEY, folder TEXT UNIQUE, signature, {recordings});
        CREATE TABLE steps (recording INTEGER, {steps}, PRIMARY KEY (recording, number)) WITHOUT ROWID;
        CREATE TABLE details (place INTEGER PRIMARY KEY, data BLOB);
        CREATE TABLE facts (fact INTEGER, recording INTEGER, PRIMARY KEY (fact, recording)) WITHOUT ROWID;
        CREATE TABLE words (id INTEGER PRIMARY KEY, sort TEXT, word TEXT, UNIQUE (sort, word));
        PRAGMA user_version = {VERSION};
        """
    )


def delete(database: sqlite3.Connection, folder: str) -> None:
    row = database.execute("SELECT key FROM recordings WHERE folder = ?", [folder]).fetchone()
    if row is None:
        return
    places = place_of(row[0], 0), place_of(row[0] + 1, 0)
    blocks = database.execute(
        "SELECT data FROM details WHERE place >= ? AND place < ? ORDER BY place", places
    )
    facts = facts_in([data for (data,) in blocks])
    database.executemany(
        "DELETE FROM facts WHERE fact = ? AND recording = ?", [(fact, *row) for fact in facts]
    )
    database.execute("DELETE FROM recordings WHERE key = ?", row)
    database.execute("DELETE FROM steps WHERE recording = ?", row)
    database.execute("DELETE FROM details WHERE place >= ? AND place < ?", places)


@contextmanager
def savepoint(database: sqlite3.Connection) -> Iterator[None]:
    """Undo the writes of the body only, if it raises."""
    if not database.in_transaction:
        # Without it each savepoint would be a transaction, and synced to the disk.
        database.execute("BEGIN")
    database.execute("SAVEPOINT one")
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK TO one")
        raise
    finally:
        database.execute("RELEASE one")


def cell(value: Any) -> Any:
    return orjson.dumps(value).decode() if isinstance(value, tuple) else value


def line_of(row: list[Any]) -> Summary:
    fields = dict(zip(RECORDING, row, strict=True))
    fields["models"], fields["tags"] = (tuple(orjson.loads(fields[name])) for name in ("models", "tags"))
    fields["here"] = bool(fields["here"])
    return Summary(**fields)
