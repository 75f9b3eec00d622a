"""Secrets that are known exactly: the process holds them."""

from __future__ import annotations

import json
from collections.abc import Collection
from urllib.parse import quote, quote_plus

from reenact.core.redact.marks import Database
from reenact.core.redact.text import ALNUM, Hit, boundary
from reenact.core.redact.work import Work


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


class Known:
    """Finds exact values, in all spellings."""

    def __init__(self, values: Collection[str]) -> None:
        self.count = len(values)
        self.spelled = [
            (spelling, value, value.isalpha())
            for value in sorted(values)
            for spelling in sorted(_spellings(value))
        ]
        # As \x.. and not as literals: those end at a NUL.
        marks = [("".join(f"\\x{b:02x}" for b in spelling).encode(), 0) for spelling, _, _ in self.spelled]
        self._db = Database(marks) if marks else None

    def find(self, data: bytes, work: Work) -> list[Hit]:
        """All values in data.

        Raises:
            TooDense: There are more than `work` allows.
        """
        if self._db is None:
            return []
        hits = []
        for number, end in self._db.scan(data, work):
            spelling, value, word = self.spelled[number]
            start = end - len(spelling)
            # A value that is a word must stand as a word: hiding "sunshine" must not hurt "sunshines".
            within = word and not (boundary(data, start) and (end == len(data) or data[end] not in ALNUM))
            if not within:
                hits.append(Hit(start, end, value, whole=True))
        work.spend(len(hits))
        return hits
