"""The content of an SQLite database: its file, with the pages in its write-ahead log.

The log's bytes hold random numbers, and the time at which SQLite moves them into the database depends on the end of the
connections. So two databases of equal content differ in their files.
"""

from __future__ import annotations

import os
import struct
from collections import Counter
from contextlib import closing
from importlib import import_module
from typing import Any
from urllib.parse import unquote

from reenact.core.web_address import split_address
from reenact.errors import TooLarge

MAGIC = b"SQLite format 3\0"
LOG, JOURNAL, SHARED = "-wal", "-journal", "-shm"
"""The ends of the names of the files beside a database."""

BESIDE = (LOG, JOURNAL, SHARED)

_WAL = (0x377F0682, 0x377F0683)
_HEADER, _FRAME = 32, 24
_LARGEST, _ROWS = 16 << 20, 1_000_000
"""The maximum number of bytes of a database whose rows are compared, and of rows of a table."""
_VOLATILE = ((18, 20), (24, 28), (40, 44), (92, 100))
"""Places in the first page that change without the content: mode, counters, version."""


def is_database(data: bytes) -> bool:
    """Return True for the bytes of an SQLite database."""
    return data.startswith(MAGIC)


def base_of(name: str) -> str | None:
    """Return the name of the database that a file beside it belongs to; None for other names."""
    return next((name.removesuffix(end) for end in BESIDE if name.endswith(end) and name != end), None)


def opened(database: object, *, uri: bool) -> tuple[str, str] | None:
    """Return the path and the query of a database to connect to; None for one in memory."""
    text = os.fsdecode(database) if isinstance(database, (str, bytes, os.PathLike)) else ""
    query = ""
    if uri and text.startswith("file:"):
        name, _, query = text.partition("?")
        text = unquote(split_address(name).path)
    return None if text in ("", ":memory:") or "mode=memory" in query else (text, query)


def content(data: bytes, log: bytes = b"") -> bytes:
    """Return the pages of a database as a reader would see them.

    Args:
        data: The bytes of its file.
        log: The bytes of its write-ahead log, if there is one.
    """
    pages = bytearray(data)
    last, size, changed = _committed(log)
    if changed * size > len(pages) + len(log):
        # No transaction adds more pages than it writes.
        return data
    for number, start in last.items():
        end = number * size
        if end > len(pages):
            pages.extend(bytes(end - len(pages)))
        pages[end - size : end] = log[start : start + size]
    if last:
        del pages[changed * size :]
    return bytes(pages)


def equal_content(one: bytes, other: bytes) -> bool:
    """Return True if two results of `content` differ in nothing but counters."""
    return _plain(one) == _plain(other)


def equal_rows(one: bytes, other: bytes) -> bool:
    """Return True if two results of `content` have the same tables and rows, in any order.

    The numbers that SQLite gives to rows do not count. Databases that cannot be read, are larger than 16 MB or have
    more than a million rows in a table are not equal.
    """
    if max(len(one), len(other)) > _LARGEST:
        return False
    sqlite3 = import_module("sqlite3")
    try:
        with closing(sqlite3.connect(":memory:")) as left, closing(sqlite3.connect(":memory:")) as right:
            return bool(_rows(left, one) == _rows(right, other))
    except (sqlite3.Error, AttributeError, OverflowError, TooLarge):
        return False


def _rows(source: Any, pages: bytes) -> list[tuple[bytes, bytes, Counter[str]]]:
    """Return the name, definition and rows of each table. Raises sqlite3.Error, TooLarge."""
    plain = bytearray(pages)
    plain[18:20] = b"\1\1"
    source.deserialize(bytes(plain))
    # A stranger's recording may have the database: its schema runs nothing, and a damaged page gives no endless rows.
    source.execute("PRAGMA trusted_schema = OFF")
    source.setlimit(import_module("sqlite3").SQLITE_LIMIT_LENGTH, max(len(pages), 1000))
    source.text_factory = bytes
    tables = source.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"
    ).fetchall()
    found = []
    for name, text in tables:
        if text is None or name == b"sqlite_sequence" or text[:14].upper() == b"CREATE VIRTUAL":
            continue
        columns = source.execute(f"PRAGMA table_info({_quoted(name)})").fetchall()
        keys = [column[1] for column in columns if column[5]]
        numbers = [column[1] for column in columns if column[5] and column[2].upper() == b"INTEGER"]
        names = [column[1] for column in columns if len(keys) > 1 or column[1] not in numbers]
        kept = ", ".join(map(_quoted, names)) or "1"
        rows: Counter[str] = Counter()
        for count, row in enumerate(source.execute(f"SELECT {kept} FROM {_quoted(name)}")):  # noqa: S608 - quoted
            if count >= _ROWS:
                raise TooLarge(f"a table has more than {_ROWS} rows")
            rows[repr(row)] += 1
        found.append((name, text, rows))
    return found


def _quoted(name: bytes) -> str:
    return '"' + name.decode("utf-8", "replace").replace('"', '""') + '"'


def fill(path: str, pages: bytes) -> None:
    """Give an existing database that content, through SQLite: others may hold it open.

    Raises OSError.
    """
    sqlite3 = import_module("sqlite3")
    plain = bytearray(pages)
    # A database in memory has no log.
    plain[18:20] = b"\1\1"
    try:
        with closing(sqlite3.connect(":memory:")) as source, closing(sqlite3.connect(path)) as target:
            source.deserialize(bytes(plain))
            source.backup(target)
    except (sqlite3.Error, AttributeError) as error:
        raise OSError(0, str(error)) from None


def _plain(pages: bytes) -> bytes:
    plain = bytearray(pages)
    for start, end in _VOLATILE:
        plain[start:end] = bytes(len(plain[start:end]))
    return bytes(plain)


def _committed(log: bytes) -> tuple[dict[int, int], int, int]:
    """Return the places of a log's committed pages, the size of a page, and their number."""
    if len(log) < _HEADER:
        return {}, 0, 0
    magic, _, size, _, salt = struct.unpack(">IIII8s", log[:24])
    if magic not in _WAL or not 512 <= size <= 65536:
        return {}, 0, 0
    committed: dict[int, int] = {}
    pending: dict[int, int] = {}
    count = 0
    for start in range(_HEADER, len(log) - _FRAME - size + 1, _FRAME + size):
        page, pages, own = struct.unpack(">II8s", log[start : start + 16])
        # Frames of an earlier log follow those of this one.
        if own != salt or not page:
            break
        pending[page] = start + _FRAME
        if pages:
            committed.update(pending)
            pending.clear()
            count = pages
    # A later transaction dropped pages after the end.
    return {page: start for page, start in committed.items() if page <= count}, size, count
