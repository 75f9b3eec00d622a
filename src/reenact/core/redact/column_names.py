r"""Secrets in rows whose columns are named elsewhere, in SQL, `COPY` and JSON.

`INSERT INTO t (name, password) VALUES ('ann', '...')`, `[["user", "password"], ["ann", "..."]]` and
`{"columns": ["user", "password"], "rows": [["ann", "..."]]}`; also within JSON strings.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from functools import lru_cache

from reenact.core.patterns import compiled, lazy
from reenact.core.redact.marks import CASELESS, MarkPattern
from reenact.core.redact.name_forms import GAP
from reenact.core.redact.names import Names, dense, is_placeholder
from reenact.core.redact.text import FoundSecret, Look, hit, is_json, level_of, plain
from reenact.core.redact.work import LOOKS_A_HIT, Work

_LONGEST = 4096  # bytes of the names of the columns
_NOTHING = 0.5  # looks that are given back where a word is no statement
_FAR = 65536  # bytes between the columns and rows that stand before them
_MOST_COLUMNS = 200
_LOOKS_A_VALUE = 0.4
_SQL = lazy(
    rb"(?:into|copy)\b[^()]{1,300}?\((?P<columns>[^()]{1,4000})\)"
    + GAP
    + rb"(?:overriding[a-z ]{1,30})?(?:(?P<values>values?)|from\s{1,4}stdin[^;\r\n\\]{0,200};?)",
    re.IGNORECASE,
)
_COLUMN = lazy(rb"(?:\\{1,15}[nrt]|\W)*+(?P<name>[\w.$\-]{1,80})")
_SQL_TEXT = (
    rb"(?:[A-Za-z_]\w{0,20})?(?:'(?P<text>(?:[^'\\%b]++|''|\\++[^\\])*+)'"
    rb"|(?P<slashes>\\{0,15})\"(?P<quoted>[^\"\\]*+)(?P=slashes)\")"
)
_SQL_OTHER = rb"(?P<other>[^\s,()'\"\\][^,()'\"\\]{0,200}+(?:\([^()'\"]{0,100}\))?)"
_ROW_OPENS = lazy(GAP + rb",?" + GAP + rb"\(")
_CLOSE = rb"\\{0,15}\""
_BEFORE_A_NAME = lazy(rb"[\"']\\*+(?:\s|[nrt]\\{1,15})*+[,\[]")
_HEADER = lazy(
    rb"\["
    + GAP
    + rb"(?:(?P<slashes>\\{0,15})\"[^\"\\\[\]{}]{0,80}(?P=slashes)\""
    + GAP
    + rb",?"
    + GAP
    + rb"){2,200}+\]"
)
_NAMES = lazy(rb"\"([^\"\\\[\]{}]{0,80})\\{0,15}\"")
_COLUMNS_BEHIND = lazy(
    rb"(?:\s|[nrt]\\{1,15})*+:(?:\s|[nrt]\\{1,15})*+\"\\{0,15}(?:srebmuloc|snmuloc|sloc|redaeh|sredaeh|sdleif|seman_?nmuloc|semannmuloc)\"",
    re.IGNORECASE,
)
_LIST_BEHIND = lazy(rb"(?:\s|[nrt]\\{1,15})*+\[")
_ROWS = lazy(rb"\"(?:rows|data|values|records|body)" + _CLOSE + GAP + rb":" + GAP + rb"\[(?=" + GAP + rb"\[)")


def row_marks(names: Names) -> Iterator[tuple[MarkPattern, Look]]:
    """Yield the marks of SQL's rows, each with its look."""
    look = _Statements(names).look
    for after in ("(", " ", "\n", "\r", "\\"):
        yield MarkPattern(f"values{after}", CASELESS, len(after)), look
    yield MarkPattern("from stdin", CASELESS), look


class _Statements:
    """Finds the values of secret columns in `INSERT` and `COPY`."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def look(self, data: bytes, at: int, work: Work) -> Iterator[FoundSecret]:
        """Yield the secrets in the rows that begin here."""
        if at < work.read_to.get("rows", 0):
            return
        begin = max(0, at - _LONGEST, work.read_to.get("columns", 0))
        before = data[begin:at].lower()
        start = max(before.rfind(b"into"), before.rfind(b"copy"))
        work.read((at - begin) // 8)
        work.read_to["columns"] = at
        found = _SQL.match(data, begin + start, at + 210) if start >= 0 else None
        if found is None or (found["values"] and found.end() != at):
            work.left += _NOTHING
            return
        work.read(found.end() - found.start())
        columns = [_COLUMN.match(column) for column in found["columns"].split(b",")]
        kinds = {
            number: kind
            for number, column in enumerate(columns[:_MOST_COLUMNS])
            if column and (kind := self._names.kind(_bare_name(column["name"])))
        }
        if not kinds:
            return
        rows = _sql_rows if found["values"] else _copied_rows
        yield from rows(data, found.end(), kinds, work)


def _bare_name(column: bytes) -> bytes:
    return column.rpartition(b".")[2] if not column.endswith(b".") else column


@lru_cache(maxsize=2)
def _sql_value(*, json_: bool) -> re.Pattern[bytes]:
    text = _SQL_TEXT % (b'"' if json_ else b"")
    return compiled(GAP + rb"(?:" + text + rb"|" + _SQL_OTHER + rb")?" + GAP + rb"(?P<end>[,)])", re.DOTALL)


def _sql_rows(data: bytes, at: int, kinds: dict[int, str], work: Work) -> Iterator[FoundSecret]:
    value = _sql_value(json_=is_json(data))
    while opened := _ROW_OPENS.match(data, at):
        at = opened.end()
        for number in range(_MOST_COLUMNS):
            found = value.match(data, at)
            if found is None:
                work.read_to["rows"] = at
                return
            work.spend(_LOOKS_A_VALUE)
            work.read(found.end() - at)
            at = found.end()
            which = "text" if found["text"] is not None else "quoted"
            if number in kinds and found[which]:
                yield from _secret(data, found.span(which), kinds[number], 0, work)
            if found["end"] == b")":
                break
    work.read_to["rows"] = at


def _copied_rows(data: bytes, at: int, kinds: dict[int, str], work: Work) -> Iterator[FoundSecret]:
    r"""Yield the secrets in the tabbed lines below `COPY t (a, b) FROM stdin;`, up to `\.`."""
    plain_line = compiled(rb"\r?\n(?!\\\.)[^\r\n]++").match(data, at)
    line = compiled(
        rb"\r?\n(?!\\\.)(?P<row>[^\r\n]++)"
        if plain_line
        else rb"(?:\\{1,15}r)?\\{1,15}n(?!\\{2,16}\.)(?P<row>(?:[^\"\\]++|\\{1,15}[tNbfv\\])++)"
    )
    tab = compiled(rb"\t" if plain_line else rb"\\{1,15}t|\t")
    while found := line.match(data, at):
        work.read(len(found[0]) * 2)
        at = found.end()
        begin = found.start("row")
        for number, gap in enumerate([*tab.finditer(data, begin, at), None]):
            end = gap.start() if gap else at
            if number in kinds:
                yield from _secret(data, (begin, end), kinds[number], 0, work)
            if gap is None or number > _MOST_COLUMNS:
                break
            begin = gap.end()
    work.read_to["rows"] = at


class Lists:
    """Finds the values of secret columns in lists of JSON."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def look(self, data: bytes, at: int, before: bytes, work: Work) -> Iterator[FoundSecret]:
        """Yield the values in the column whose name ends here.

        Args:
            data: The text.
            at: The end of the name, before its quote.
            before: The text before the name, reversed.
            work: Counts what is read.
        """
        if not _BEFORE_A_NAME.match(before) or work.read_to.get("list", 0) > at:
            return
        start = data.rfind(b"[", max(0, at - _LONGEST), at)
        header = _HEADER.match(data, start, start + 2 * _LONGEST) if start >= 0 else None
        work.read(at - start)
        if header is None:
            return
        work.read(header.end() - start)
        work.read_to["list"] = header.end()
        names = _NAMES.findall(header[0])
        kinds = {number: kind for number, name in enumerate(names) if (kind := self._names.kind(name))}
        begin = _rows_of(data, start, header.end(), work)
        if not kinds or begin is None or (len(names) == 2 and set(kinds) == {0} and begin == header.end()):
            return  # a pair of a list of pairs has its own rule
        row = _row(len(header["slashes"]), tuple(sorted(kinds)), len(names))
        while found := row.match(data, begin):
            work.spend(1)
            work.read(found.end() - begin)
            begin = found.end()
            for group, number in enumerate(sorted(kinds), 1):
                if found[group] is not None:
                    level = level_of(header["slashes"])
                    yield from _secret(data, found.span(group), kinds[number], level, work)


def _rows_of(data: bytes, start: int, end: int, work: Work) -> int | None:
    """Return the place of the rows whose columns are named in data[start:end]."""
    behind = data[max(0, start - 64) : start][::-1]
    if _LIST_BEHIND.match(behind):
        return end
    if not _COLUMNS_BEHIND.match(behind):
        return None
    work.read(_LONGEST)
    after = _ROWS.search(data, end, end + _LONGEST)
    if after:
        return after.end()
    work.read(min(start, _FAR))
    before = deque(_ROWS.finditer(data, max(0, start - _FAR), start), maxlen=1)
    return before[0].end() if before else None


@lru_cache(maxsize=64)
def _row(slashes: int, secret: tuple[int, ...], count: int) -> re.Pattern[bytes]:
    """Return a pattern of a row with that many cells, and a group for each secret text."""
    text = rb"(?:[^\"\\]++|\\++(?![\"\\])|\\{%d,}+\")*+" % (2 * slashes + 1)
    quote = rb"\\{%d}\"" % slashes
    cells = []
    for number in range(count):
        group = rb"(" if number in secret else rb"(?:"
        flat = rb"[^\[\]{}\"]++|\"[^\"]*+\""
        inner = rb"(?:" + flat + rb"|[\[{](?:" + flat + rb"){0,40}+[\]}]){0,40}+"
        other = rb"[^\s,\[\]{}\"\\]++|\[" + inner + rb"\]|\{" + inner + rb"\}"
        cells.append(rb"(?:" + quote + group + text + rb")" + quote + rb"|" + other + rb")")
    return compiled(
        GAP + rb",?" + GAP + rb"\[" + GAP + (GAP + rb"," + GAP).join(cells) + GAP + rb"\]", re.DOTALL
    )


def _secret(data: bytes, span: tuple[int, int], kind: str, level: int, work: Work) -> Iterator[FoundSecret]:
    start, end = span
    raw = data[start:end]
    value = plain(raw, level)
    if (
        len(value) >= 4
        and (kind != "weak" or dense(value))
        and not is_placeholder(raw)
        and not raw.startswith(b"%(")
    ):
        work.spend(LOOKS_A_HIT)
        yield from hit(data, start, end, value)
