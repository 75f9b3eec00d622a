"""Secrets that are known exactly: the process holds them."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterator
from itertools import chain
from urllib.parse import quote, quote_plus

from reenact.core.patterns import lazy
from reenact.core.redact.marks import Database
from reenact.core.redact.text import ALNUM, Hit, boundary
from reenact.core.redact.work import Work

_LEAST_PACKED = 10  # characters, or it would be found by chance
_LONGEST_PACKED = 512  # characters before and after that are hidden, too
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_PACKED_BEFORE = lazy(rb"[A-Za-z0-9+/_\-]++\Z")
_PACKED_AFTER = lazy(rb"[A-Za-z0-9+/_\-]*+={0,2}")


def _spellings(value: str) -> set[bytes]:
    """The value as it is, in a URL, and in JSON up to four deep."""
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


class Known:
    """Finds exact values, in all spellings.

    Attributes:
        spelled: (spelling, value, whether it is a word) of each value as text.
    """

    def __init__(self, values: Collection[str]) -> None:
        self.count = len(values)
        self.spelled = [
            (spelling, value, value.isalpha())
            for value in sorted(values)
            for spelling in sorted(_spellings(value))
        ]
        self._packed = [spelling for value in sorted(values) for spelling in sorted(_packed(value))]
        # As \x.. and not as literals: those end at a NUL.
        spellings = chain((spelling for spelling, _, _ in self.spelled), self._packed)
        marks = [("".join(f"\\x{b:02x}" for b in spelling).encode(), 0) for spelling in spellings]
        self._db = Database(marks) if marks else None

    def find(self, data: bytes, work: Work) -> list[Hit]:
        """All values in data.

        Raises:
            TooDense: There are more than `work` allows.
        """
        if self._db is None:
            return []
        hits = []
        packed: list[tuple[int, int]] = []
        for number, end in self._db.scan(data, work):
            if number >= len(self.spelled):
                packed.append((end - len(self._packed[number - len(self.spelled)]), end))
                continue
            spelling, value, word = self.spelled[number]
            start = end - len(spelling)
            # A value that is a word must stand as a word: hiding "sunshine" must not hurt "sunshines".
            within = word and not (boundary(data, start) and (end == len(data) or data[end] not in ALNUM))
            if not within:
                hits.append(Hit(start, end, value, whole=True))
        hits += _around(data, packed)
        work.spend(len(hits))
        return hits


def _around(data: bytes, spans: list[tuple[int, int]]) -> Iterator[Hit]:
    """Hide all of the packed text around such a part, unless it is long."""
    last = 0
    for start, end in sorted(spans):
        if start < last:
            continue
        before = _PACKED_BEFORE.search(data, max(last, start - _LONGEST_PACKED), start)
        after = _PACKED_AFTER.match(data, end, end + _LONGEST_PACKED)
        first, last = before.start() if before else start, after.end() if after else end
        yield Hit(first, last, data[first:last].decode(), whole=True)
