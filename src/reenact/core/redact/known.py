"""Secrets that are known exactly: the process holds them."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterator
from itertools import chain
from urllib.parse import quote, quote_plus

from reenact.core.patterns import lazy
from reenact.core.redact.marks import Database
from reenact.core.redact.text import ALNUM, FoundSecret, boundary
from reenact.core.redact.work import Work

_LEAST_PACKED = 10  # characters, or it would be found by chance
_LONGEST_PACKED = 512  # characters before and after that are hidden, too
_MARK = 48  # bytes of a spelling that are searched for: a long one would take long to compile, or not compile at all
_FIRST = 4  # bytes by which the beginning of a value at the end of a piece is looked for
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_PACKED_BEFORE = lazy(rb"[A-Za-z0-9+/_\-]++\Z")
_PACKED_AFTER = lazy(rb"[A-Za-z0-9+/_\-]*+={0,2}")
_AS_NAME = lazy(rb"\\*[\"']\s*+:")
_QUOTES = frozenset(b"\"'`")
_SHORT = 8  # characters of a value below which it must stand as a word
_SHORTEST_WORD = 4
_SHORTEST_NUMBER = 6
_IS_NUMBER = lazy(rb"(?:[\"']\s*+:|[\[,])\s*+\Z")
_ANYWHERE, _WORD, _TYPED_WORD, _QUOTED = range(4)


def _spellings(value: str) -> set[bytes]:
    """Return the value as it is, in a URL, and in JSON up to four deep."""
    data = _encoded(value)
    spellings = {data, *(url.encode() for url in (quote(data, safe=""), quote_plus(data), quote(data)))}
    for ascii_ in (False, True):
        text = value
        for _ in range(4):
            text = json.dumps(text, ensure_ascii=ascii_)[1:-1]
            spellings.add(_encoded(text))
    return spellings


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")  # a variable may hold bytes that are no UTF-8
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _packed(value: str) -> set[bytes]:
    """Return the value's hexadecimal form, and its base64 at each of the three alignments."""
    data = _encoded(value)
    spellings = {data.hex().encode(), data.hex().upper().encode()}
    for before in range(3):
        text = base64.b64encode(b"\0" * before + data)
        bits = 8 * (before + len(data))
        sure = text[-(-8 * before // 6) : bits // 6]
        spellings |= {sure, sure.translate(_URL_SAFE)}
    return {spelling for spelling in spellings if len(spelling) >= _LEAST_PACKED}


class KnownValues:
    """Finds exact values, in all spellings.

    Args:
        values: Values that are found anywhere, or, of letters only, as a word.
        typed: Values that were written into secret fields. Short ones are found as a word, or between quotes.

    Attributes:
        by_first: The spellings of all values as text by their first bytes, the longest first.
    """

    def __init__(self, values: Collection[str], typed: Collection[str] = ()) -> None:
        ways = [(value, _WORD if value.isalpha() else _ANYWHERE) for value in sorted(values)]
        ways += [(value, _way_of_typed(value)) for value in sorted(typed)]
        self._spelled = [
            (spelling, value, way) for value, way in ways for spelling in sorted(_spellings(value))
        ]
        self._packed = [spelling for value, _ in ways for spelling in sorted(_packed(value))]
        self.by_first: dict[bytes, list[bytes]] = {}
        for spelling, _, _ in sorted(self._spelled, key=lambda one: -len(one[0])):
            self.by_first.setdefault(spelling[:_FIRST], []).append(spelling)
        # As \x.. and not as literals: those end at a NUL.
        spellings = chain((spelling for spelling, _, _ in self._spelled), self._packed)
        marks = [("".join(f"\\x{b:02x}" for b in spelling[:_MARK]).encode(), 0) for spelling in spellings]
        self._db = Database(marks) if marks else None

    def find(self, data: bytes, work: Work) -> list[FoundSecret]:
        """Return all values in data.

        Raises:
            TooDense: There are more than `work` allows.
        """
        if self._db is None:
            return []
        hits = []
        packed: list[tuple[int, int]] = []
        for number, mark_end in self._db.scan(data, work.left):
            if number >= len(self._spelled):
                spelling = self._packed[number - len(self._spelled)]
                start, end = _span(spelling, mark_end)
                if data.startswith(spelling, start):
                    packed.append((start, end))
                continue
            spelling, value, way = self._spelled[number]
            start, end = _span(spelling, mark_end)
            if data.startswith(spelling, start) and (way == _ANYWHERE or _stands(data, start, end, way)):
                hits.append(FoundSecret(start, end, value, whole=True))
        hits += _around(data, packed)
        work.spend(len(hits))
        return hits


def _span(spelling: bytes, mark_end: int) -> tuple[int, int]:
    """Return the place of a spelling whose mark ends there."""
    start = mark_end - min(len(spelling), _MARK)
    return start, start + len(spelling)


def _way_of_typed(value: str) -> int:
    if len(value) < (_SHORTEST_NUMBER if value.isdigit() else _SHORTEST_WORD):
        return _QUOTED
    return _TYPED_WORD if value.isalpha() or value.isdigit() or len(value) < _SHORT else _ANYWHERE


def _stands(data: bytes, start: int, end: int, way: int) -> bool:
    """Return True if a value stands there as a word, or between quotes.

    A value that is a word must stand as a word: hiding "sunshine" must not hurt "sunshines".
    """
    if way == _QUOTED:
        return start > 0 and end < len(data) and data[start - 1] in _QUOTES and data[end] in _QUOTES | {92}
    if not boundary(data, start) or (end < len(data) and data[end] in ALNUM):
        return False
    if way == _WORD:
        return True
    value = data[start:end]
    if value.isdigit():
        # A number of JSON is a size or a time.
        return _IS_NUMBER.search(data, max(0, start - 8), start) is None
    # A member's name that is such a word (`"demo": …`) stays: another name would change the object.
    return not (value.isalpha() and start and data[start - 1] in _QUOTES and _AS_NAME.match(data, end))


def _around(data: bytes, spans: list[tuple[int, int]]) -> Iterator[FoundSecret]:
    """Hide all of the packed text around such a part, unless it is long."""
    last = 0
    for start, end in sorted(spans):
        if start < last:
            continue
        before = _PACKED_BEFORE.search(data, max(last, start - _LONGEST_PACKED), start)
        after = _PACKED_AFTER.match(data, end, end + _LONGEST_PACKED)
        first, last = before.start() if before else start, after.end() if after else end
        yield FoundSecret(first, last, data[first:last].decode(), whole=True)
