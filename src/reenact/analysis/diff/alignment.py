"""Align the steps of two runs: by equal content first, then by likeness.

Steps of a scope (a task, a thread, the inside of a tool) have an order that the program gave them; those of two scopes
come in a different order in every run. So each scope is aligned by itself first. Steps without a counterpart there are
then paired across scopes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import accumulate

from reenact.analysis.diff.content import Content
from reenact.analysis.diff.subsequence import Pairs, common, gaps, increasing

ALIKE = 0.3
"""The share of common words from which a step at the same place counts as changed."""

_BAND = 32

Key = Callable[[Content], Hashable]


def align(a: Sequence[Content], b: Sequence[Content]) -> dict[int, int]:
    """The counterpart in `b` of each place in `a` that has one."""
    table = _Table(a, b)
    lanes = _lanes(a, b)
    for lane in lanes:
        table.pair(*lane, lambda step: step.key)
    table.leftovers()
    for lane in lanes:
        for gap in table.gaps(*lane):
            table.pair(*gap, lambda step: (step.family, step.question))
    for lane in lanes:
        for gap in table.gaps(*lane):
            table.resemble(*gap)
    if len(lanes) > 1 or len({step.scope for step in (*a, *b)}) > 1:
        everything = list(range(len(a))), list(range(len(b)))
        for gap in table.gaps(*everything):
            table.pair(*gap, lambda step: (step.family, step.question))
        for gap in table.gaps(*everything):
            table.resemble(*gap)
    return table.mates


def _lanes(a: Sequence[Content], b: Sequence[Content]) -> list[tuple[list[int], list[int]]]:
    """The places of each scope that both runs have."""
    found: dict[str, tuple[list[int], list[int]]] = {}
    for side, steps in enumerate((a, b)):
        for step in steps:
            found.setdefault(step.scope, ([], []))[side].append(step.place)
    return [lane for lane in found.values() if all(lane)]


class _Table:
    """The pairs found so far."""

    def __init__(self, a: Sequence[Content], b: Sequence[Content]) -> None:
        self._a = a
        self._b = b
        self.mates: dict[int, int] = {}
        self._taken: set[int] = set()

    def _join(self, pairs: Iterable[tuple[int, int]]) -> None:
        for i, j in pairs:
            self.mates[i] = j
            self._taken.add(j)

    def _left(self, a: Iterable[int], b: Iterable[int]) -> tuple[list[int], list[int]]:
        return [i for i in a if i not in self.mates], [j for j in b if j not in self._taken]

    def pair(self, a: Iterable[int], b: Iterable[int], key: Key) -> None:
        """Those of equal keys, in order."""
        one, other = self._left(a, b)
        found = common([key(self._a[i]) for i in one], [key(self._b[j]) for j in other])
        self._join((one[i], other[j]) for i, j in found)

    def leftovers(self) -> None:
        """Pair equal steps at any place: moved ones, and those of renamed scopes."""
        everything = range(len(self._a)), range(len(self._b))
        self.pair(*everything, lambda step: step.key)
        one, other = self._left(*everything)
        waiting: dict[Hashable, list[int]] = {}
        for j in reversed(other):
            waiting.setdefault(self._b[j].key, []).append(j)
        self._join((i, found.pop()) for i in one if (found := waiting.get(self._a[i].key)))

    def gaps(self, a: list[int], b: list[int]) -> list[tuple[list[int], list[int]]]:
        """Yield the unpaired places between the pairs that are in the same order."""
        where = {j: place for place, j in enumerate(b)}
        pairs = [(place, where[j]) for place, i in enumerate(a) if (j := self.mates.get(i, -1)) in where]
        anchors: Pairs = [pairs[place] for place in increasing([j for _, j in pairs])]
        found = (
            self._left((a[i] for i in one), (b[j] for j in other))
            for one, other in gaps(anchors, (len(a), len(b)))
        )
        return [gap for gap in found if all(gap)]

    def resemble(self, a: list[int], b: list[int]) -> None:
        """Return the ordered pairing of most likeness, among steps of one family at similar places."""
        rows, columns = len(a), len(b)
        best = [[0.0] * (columns + 1)]
        for i in range(rows):
            before = best[i]
            row = list(before)
            for j in _near(i, rows, columns):
                gain = likeness(self._a[a[i]], self._b[b[j]])
                if gain >= ALIKE and before[j] + gain > row[j + 1]:
                    row[j + 1] = before[j] + gain
            best.append(list(accumulate(row, max)))
        i, j = rows, columns
        while i and j:
            if best[i][j] == best[i - 1][j]:
                i -= 1
            elif best[i][j] == best[i][j - 1]:
                j -= 1
            else:
                i, j = i - 1, j - 1
                self._join([(a[i], b[j])])


def _near(row: int, rows: int, columns: int) -> range:
    """Return the places at a similar depth: long unequal stretches stay cheap to compare."""
    middle = row * columns // rows
    width = max(_BAND, columns // rows)
    return range(max(middle - width, 0), min(middle + width + 1, columns))


def likeness(a: Content, b: Content) -> float:
    """Return the likeness of two steps from 0 to 1; 0 for different families."""
    if a.family != b.family:
        return 0.0
    if a.question == b.question:
        return 1.0
    if a.answer == b.answer and a.scope == b.scope and not a.words.isdisjoint(b.words):
        return 0.9
    both = len(a.words & b.words)
    return 2 * both / (len(a.words) + len(b.words)) if both else 0.0
