"""Finding: marks first, then a look at each."""

from __future__ import annotations

import re
from functools import lru_cache

from reenact.redact.marks import PREFILTER, Database, Mark, compiles, name_marks, own_name_marks
from reenact.redact.named import Named
from reenact.redact.names import Names
from reenact.redact.placed import passwords, place_marks
from reenact.redact.rules import SecretRules
from reenact.redact.text import Hit, Look, groups


class _Marked:
    """Some marks, and the looks at them."""

    def __init__(self, marks: list[tuple[Mark, Look]], *, literal: bool) -> None:
        self._looks = [(look, mark.back) for mark, look in marks]
        self.scan = Database([(mark.text.encode(), mark.flags) for mark, _ in marks], literal=literal).scan

    def find(self, data: bytes) -> list[Hit]:
        return self.look(data, self.scan(data))

    def look(self, data: bytes, marks: list[tuple[int, int]]) -> list[Hit]:
        hits: list[Hit] = []
        for number, end in marks:
            look, back = self._looks[number]
            hits += look(data, end - back)
        return hits


class Finder:
    """All rules but the exact values, compiled: immutable, and shared by the redactors with equal rules."""

    def __init__(self, rules: SecretRules) -> None:
        self.names = Names(rules)
        named = Named(self.names)
        self._marked = _Marked(
            [*((mark, named.look) for mark in name_marks(self.names)), *place_marks()], literal=True
        )
        own: list[tuple[Mark, Look]] = [(mark, named.look) for mark in own_name_marks(self.names)]
        self._slow: list[re.Pattern[bytes]] = []
        for text in rules.patterns:
            pattern = re.compile(text.encode())
            if compiles(text):
                own.append((Mark(text, PREFILTER), _user(pattern)))
            else:  # hyperscan cannot even approximate it, so Python has to read everything
                self._slow.append(pattern)
        self._scan = self._marked.scan
        self._own = _Marked(own, literal=False) if own else None
        self._more = bool(self._own or self._slow)

    def find(self, data: bytes) -> list[Hit]:
        """All secrets in data, in no order and perhaps overlapping."""
        marks = self._scan(data)
        if not self._more and not marks and b"@" not in data:
            return []
        hits = self._marked.look(data, marks)
        if b"@" in data:
            hits += passwords(data)
        if self._own:
            hits += self._own.find(data)
        for pattern in self._slow:
            hits += groups(pattern, data)
        return hits


def _user(pattern: re.Pattern[bytes]) -> Look:
    return lambda data, _: groups(pattern, data)


@lru_cache(maxsize=16)
def finder(rules: SecretRules) -> Finder:
    return Finder(rules)  # some milliseconds, so once for all redactors of a process
