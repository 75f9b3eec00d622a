"""The content of a database of SQLite: equal where a reader sees the same, wherever its bytes stand."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

from reenact.core.files import databases


def _made(path: Path, rows: int, *, last: str = "end") -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("pragma journal_mode=wal")
    connection.execute("create table t(a, b)")
    connection.executemany("insert into t values(?, ?)", [(n, "x" * 200) for n in range(rows)])
    connection.execute("insert into t values(-1, ?)", (last,))
    connection.commit()
    return connection


def _content(path: Path) -> bytes:
    log = Path(f"{path}-wal")
    return databases.content(path.read_bytes(), log.read_bytes() if log.exists() else b"")


@pytest.mark.parametrize("rows", [0, 3, 500])
def test_an_open_database_equals_a_closed_one(tmp_path, rows):
    with closing(_made(tmp_path / "open.db", rows)):
        _made(tmp_path / "closed.db", rows).close()
        assert (tmp_path / "open.db-wal").stat().st_size
        assert not (tmp_path / "closed.db-wal").exists()
        assert databases.equal_content(_content(tmp_path / "open.db"), _content(tmp_path / "closed.db"))


def test_another_row_in_the_log_is_another_content(tmp_path):
    with closing(_made(tmp_path / "one.db", 5)), closing(_made(tmp_path / "two.db", 5, last="other")):
        assert not databases.equal_content(_content(tmp_path / "one.db"), _content(tmp_path / "two.db"))


def test_what_is_not_committed_does_not_count(tmp_path):
    with closing(_made(tmp_path / "one.db", 5)) as one, closing(_made(tmp_path / "two.db", 5)):
        one.execute("pragma cache_size=1")
        one.executemany("insert into t values(?, ?)", [(n, "y" * 900) for n in range(500)])
        assert databases.equal_content(_content(tmp_path / "one.db"), _content(tmp_path / "two.db"))


def test_an_open_database_is_filled_through_sqlite(tmp_path):
    with closing(_made(tmp_path / "one.db", 3)) as one, closing(_made(tmp_path / "two.db", 400)):
        wanted = _content(tmp_path / "two.db")
        databases.fill(str(tmp_path / "one.db"), wanted)
        assert one.execute("select count(*) from t").fetchone() == (401,)
        assert databases.equal_content(_content(tmp_path / "one.db"), wanted)


def test_a_file_that_is_no_database_is_not_filled(tmp_path):
    (tmp_path / "one.db").write_bytes(b"text" * 1000)
    with pytest.raises(OSError, match="not a database"):
        databases.fill(str(tmp_path / "one.db"), databases.MAGIC)


@pytest.mark.parametrize("page", [1, 2**31])
def test_a_log_that_names_more_pages_than_it_has_is_passed_over(page):
    salt = b"saltsalt"
    log = struct.pack(">IIII8s8x", 0x377F0682, 3007000, 65536, 0, salt)
    log += struct.pack(">II8s8x", page, 2**31, salt) + bytes(65536)
    assert databases.content(databases.MAGIC + bytes(84), log) == databases.MAGIC + bytes(84)


def test_a_file_beside_a_database_is_known_by_its_name():
    assert databases.base_of("a/b.db-wal") == "a/b.db"
    assert databases.base_of("a/b.db") is None
    assert databases.base_of("-wal") is None


@pytest.mark.parametrize(
    ("database", "uri", "found"),
    [
        ("shop.db", False, ("shop.db", "")),
        (b"shop.db", False, ("shop.db", "")),
        ("file:a%20shop.db?mode=ro", True, ("a shop.db", "mode=ro")),
        ("file:shop.db?mode=ro", False, ("file:shop.db?mode=ro", "")),
        (":memory:", False, None),
        ("", False, None),
        ("file:shop?mode=memory", True, None),
    ],
)
def test_the_path_of_a_database_is_read_as_sqlite_reads_it(database, uri, found):
    assert databases.opened(database, uri=uri) == found


def _pages(*statements: str) -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        return connection.serialize()


TABLE = "create table t(a, b)"
NUMBERED = "create table t(id integer primary key autoincrement, a)"


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ([TABLE, "insert into t values (1, 2), (3, 4)"], [TABLE, "insert into t values (3, 4), (1, 2)"], True),
        ([NUMBERED, "insert into t(a) values (1), (2)"], [NUMBERED, "insert into t(a) values (2), (1)"], True),
        ([TABLE, "insert into t values (1, 2), (3, 4)"], [TABLE, "insert into t values (3, 4), (1, 5)"], False),
        ([TABLE, "insert into t values (1, 2)"], [TABLE, "insert into t values ('1', 2)"], False),
        ([TABLE, "insert into t values (1, 2)"], [TABLE, "insert into t values (1, 2), (1, 2)"], False),
        ([TABLE], ["create table t(a, c)"], False),
        ([TABLE], [TABLE, "create table u(a)"], False),
        (["create table t(a text primary key)", "insert into t values ('x')"],
         ["create table t(a text primary key)", "insert into t values ('y')"], False),
    ],
)  # fmt: skip
def test_rows_are_equal_in_any_order_and_with_other_numbers(one, other, equal):
    assert databases.equal_rows(_pages(*one), _pages(*other)) is equal


def test_a_damaged_database_equals_none(monkeypatch):
    good = _pages(TABLE, "insert into t values (1, 2)")
    assert databases.equal_rows(good, good)
    for damaged in (b"", b"text", good[:100], good[:4096] + bytes(4096)):
        assert not databases.equal_rows(good, damaged)
    monkeypatch.setattr(databases, "_ROWS", 1)
    many = _pages(TABLE, "insert into t values (1, 2), (3, 4)")
    assert not databases.equal_rows(many, many)


def test_a_page_that_is_its_own_child_gives_no_endless_rows(monkeypatch):
    pages = bytearray(_pages(TABLE, *(f"insert into t values ({n}, '{'x' * 500}')" for n in range(100))))
    root = 4096
    assert pages[root] == 5
    first = struct.unpack(">H", pages[root + 12 : root + 14])[0]
    pages[root + first : root + first + 4] = struct.pack(">I", 2)
    monkeypatch.setattr(databases, "_ROWS", 10_000)
    assert not databases.equal_rows(bytes(pages), bytes(pages))
