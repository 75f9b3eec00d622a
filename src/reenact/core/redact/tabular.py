r"""Secrets in columns: CSV, tabs, and tables of Markdown and of database shells.

They are found within JSON strings, too.

The name is in the first line, its values are in the same column of the lines below. A table ends at a line with
another number of cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from reenact.core.patterns import compiled, lazy
from reenact.core.redact.marks import CASELESS, MarkPattern
from reenact.core.redact.names import Names, dense, is_placeholder
from reenact.core.redact.text import FoundSecret, hit, plain
from reenact.core.redact.work import LOOKS_A_HIT, Work

_LONGEST = 2048  # bytes of the first line, to each side of the name
_MOST_CELLS = 200
_NAME = lazy(rb"[\w./()#*\-\x80-\xff]{0,40}+(?: [\w./()#*\-\x80-\xff]{1,40}+){0,3}+")
_CELL_ENDS = lazy(
    rb"\\{0,15}\"?[ ]{0,40}(?:[,;|\t\r\n]|\\{1,15}[tnr])(?!\s*+\\{0,15}\"\w{1,40}\\{0,15}\"\s*+:)"
)
_RULE = rb"[\-+|=: ]{3,}+"  # between the first line of a table and its values
_FROM, _TO = "table from", "table"
_MARK = b"\xef\xbb\xbf"
"""The byte order mark that spreadsheets put before a table."""


class _Table(NamedTuple):
    """The form of a table.

    Attributes:
        slashes: The backslashes of a newline: 0 in plain text, 1 in a JSON string, 2 in one within another, 4, 8.
        sign: The separator of cells.
        before: The number of cells before the secret ones.
        after: The number of cells after them.
    """

    slashes: int
    sign: bytes
    before: int
    after: int

    @property
    def quote(self) -> bytes:
        """The quote that opens and closes a cell."""
        return _quote(self.slashes)


def table_marks(names: Names) -> Iterator[MarkPattern]:
    """Yield literals for names of one word in a table's first line; others have marks."""
    for spelled in names.ends.values():
        if spelled.isalpha():
            yield from (MarkPattern(f"{spelled}{sign}", CASELESS, 1) for sign in ",;|")
            yield MarkPattern(f"{spelled} |", CASELESS, 2)
            yield from (MarkPattern(f"{spelled} {end}", CASELESS, 2) for end in "\n\\")


class Tables:
    """Finds the values below a secret name in the first line of a table."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def look(self, data: bytes, at: int, work: Work) -> Iterator[FoundSecret]:
        """Yield the values below the name that ends here."""
        if not _CELL_ENDS.match(data, at) or work.read_to.get(_FROM, 0) <= at < work.read_to.get(_TO, 0):
            return
        work.spend(LOOKS_A_HIT)
        end, slashes = _end_of_line(data, at)
        first = self._first_line(data, at, end, slashes, work) if end >= 0 else None
        if first is None:
            return
        table, kind = first
        newline, row = _newline(slashes), _row(table)
        begun = compiled(newline + rb"(?:" + _RULE + newline + rb")?").match(data, end)
        at = work.read_to[_FROM] = begun.end() if begun else end
        while found := row.match(data, at):
            work.spend(LOOKS_A_HIT)
            work.read(found.end() - at)
            yield from _value(data, found, kind, table)
            at = found.end()
            if not found["newline"]:
                break
        work.read_to[_TO] = at

    def _first_line(
        self, data: bytes, at: int, end: int, slashes: int, work: Work
    ) -> tuple[_Table, str] | None:
        """Return the form of the table whose first line holds this name, and the name's kind."""
        tab = b"\\" * slashes + b"t" if slashes else b"\t"
        signs = (b",", b";", b"|", tab)
        rest = data[at:end].removeprefix(_quote(slashes)).lstrip(b" ")
        sign = next((sign for sign in signs if rest.startswith(sign)), b"")
        if rest and not sign:
            return None
        start = _start_of_line(data, at, slashes)
        work.read(end - max(start, at - _LONGEST))
        sign = sign or max(signs, key=lambda sign: data.rfind(sign, max(start, 0), at))
        cells = [_bare(cell, slashes) for cell in data[max(start, 0) : end].split(sign)]
        if start < 0 or not 2 <= len(cells) <= _MOST_CELLS or not all(map(_NAME.fullmatch, cells)):
            return None
        before = data.count(sign, start, at)
        kind = self._names.kind(cells[before])
        if kind is None or sum(map(bool, cells)) < 2:
            return None
        return _Table(slashes, sign, before, len(cells) - before - 1), kind


def _quote(slashes: int) -> bytes:
    return b"\\" * max(0, 2 * slashes - 1) + b'"'


def _bare(cell: bytes, slashes: int) -> bytes:
    quote = _quote(slashes)
    return cell.removeprefix(_MARK).strip(b" ").removeprefix(quote).removesuffix(quote)


def _newline(slashes: int) -> bytes:
    return rb"(?:\\{%d}r)?\\{%d}n" % (slashes, slashes) if slashes else rb"\r?\n"


def _end_of_line(data: bytes, at: int) -> tuple[int, int]:
    """Return the end of the line around this place, or -1; and its newline's backslashes."""
    end = data.find(b"\n", at, at + _LONGEST)
    escaped = data.find(b"\\n", at, end if end >= 0 else at + _LONGEST)
    if escaped < 0:
        return (end - 1 if end > at and data[end - 1 : end] == b"\r" else end), 0
    begun = escaped
    while begun > at and data[begun - 1 : begun] == b"\\":
        begun -= 1
    slashes = escaped + 1 - begun
    back = b"\\" * slashes + b"r"
    return (begun - len(back) if data.endswith(back, at, begun) else begun), slashes


def _start_of_line(data: bytes, at: int, slashes: int) -> int:
    """Return the start of the line around this place, or -1 if it is too far away."""
    least = max(0, at - _LONGEST)
    if not slashes:
        found = data.rfind(b"\n", least, at)
        return found + 1 if found >= 0 else -1 if least else 0
    newline = b"\\" * slashes + b"n"
    found = data.rfind(newline, least, at)
    start = found + len(newline) if found >= 0 else -1
    # Or with the string that holds the table: its quote has fewer backslashes than those of cells.
    quote = at
    while (quote := data.rfind(b'"', max(least, start, 0), quote)) >= 0:
        before = data[max(0, quote - 64) : quote]
        if len(before) - len(before.rstrip(b"\\")) == slashes - 1:
            return quote + 1
    return start


@lru_cache(maxsize=64)
def _row(table: _Table) -> re.Pattern[bytes]:
    """Return the pattern of a table's line. It takes linear time: no part backtracks."""
    slashes, sign, quote = table.slashes, re.escape(table.sign), re.escape(table.quote)
    if slashes:
        tab = b"" if table.sign.endswith(b"t") else b"t"
        escape = rb"\\{%d}(?:u[0-9a-fA-F]{4}|[bf/%b]|\\{%d})" % (slashes, tab, slashes)
        bare = rb'(?:[^%b"\\\r\n]++|%b)*+' % (b"" if table.sign.endswith(b"t") else sign, escape)
        quoted = rb'%b(?:[^"\\\r\n]++|%b%b|\\++[^"\\])*+%b' % (quote, quote, quote, quote)
        end = rb'\\{%d}"|\Z' % (slashes - 1)
    else:
        bare = rb'[^%b"\r\n]*+' % sign
        quoted = rb'"(?:[^"]++|"")*+"'
        end = rb"\Z"
    cell = rb"[ ]*+(?>%b|%b)[ ]*+" % (quoted, bare)
    return compiled(
        rb"(?:%b%b){%d}(?P<cell>%b)(?:%b%b){%d}(?:(?P<newline>%b)|(?=%b))"
        % (cell, sign, table.before, cell, sign, cell, table.after, _newline(slashes), end)
    )


def _value(data: bytes, found: re.Match[bytes], kind: str, table: _Table) -> Iterator[FoundSecret]:
    start, end = found.span("cell")
    text = data[start:end]
    start += len(text) - len(text.lstrip(b" "))
    end -= len(text) - len(text.rstrip(b" "))
    if end - start >= 2 * len(table.quote) and data.startswith(table.quote, start):
        start, end = start + len(table.quote), end - len(table.quote)
    raw = data[start:end]
    level = table.slashes.bit_length() - 1
    value = plain(raw, level) if level >= 0 else raw.decode("utf-8", "surrogateescape")
    if len(value) >= 4 and (kind != "weak" or dense(value)) and not is_placeholder(raw):
        yield from hit(data, start, end, value)
