"""Pair the entries of two sequences, pass by pass: by equal keys first, then by likeness."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

from reenact.core.align.subsequence import Pairs, common, gaps, increasing

_BAND = 32

T = TypeVar("T")

_Row = tuple[int, list[float]]
"""A row's first column, and its sums from there on; further columns have the last sum."""


class Pairing(Generic[T]):
    """The pairs found so far. Each pass pairs entries that have no counterpart yet.

    Attributes:
        mates: The place in the second sequence by the place in the first.
    """

    def __init__(self, a: Sequence[T], b: Sequence[T]) -> None:
        self._a = a
        self._b = b
        self.mates: dict[int, int] = {}
        self._taken: set[int] = set()

    def in_order(self, a: Iterable[int], b: Iterable[int], key: Callable[[T], Hashable]) -> None:
        """Pair entries of equal keys at these places, as many as stand in the same order."""
        one, other = self._left(a, b)
        found = common([key(self._a[i]) for i in one], [key(self._b[j]) for j in other])
        self._join((one[i], other[j]) for i, j in found)

    def anywhere(self, key: Callable[[T], Hashable]) -> None:
        """Pair entries of equal keys wherever they stand, the first with the first."""
        one, other = self._left(range(len(self._a)), range(len(self._b)))
        waiting: dict[Hashable, list[int]] = {}
        for j in reversed(other):
            waiting.setdefault(key(self._b[j]), []).append(j)
        self._join((i, found.pop()) for i in one if (found := waiting.get(key(self._a[i]))))

    def gaps(self, a: list[int], b: list[int]) -> list[tuple[list[int], list[int]]]:
        """Return the unpaired places between pairs of these places that stand in the same order."""
        where = {j: place for place, j in enumerate(b)}
        pairs = [(place, where[j]) for place, i in enumerate(a) if (j := self.mates.get(i, -1)) in where]
        anchors: Pairs = [pairs[place] for place in increasing([j for _, j in pairs])]
        found = (
            self._left((a[i] for i in one), (b[j] for j in other))
            for one, other in gaps(anchors, (len(a), len(b)))
        )
        return [gap for gap in found if all(gap)]

    def alike(self, a: list[int], b: list[int], likeness: Callable[[T, T], float], least: float) -> None:
        """Pair entries of similar places in order, so that the sum of their likeness is the largest."""
        rows, columns = len(a), len(b)
        # A row has sums near its relative place only: all of them would be rows times columns.
        best: list[_Row] = [(0, [0.0])]
        for i in range(rows):
            near = _near(i, rows, columns)
            before = best[i]
            row = [_at(before, near.start)]
            for j in near:
                gain = likeness(self._a[a[i]], self._b[b[j]])
                joined = _at(before, j) + gain if gain >= least else 0.0
                row.append(max(row[-1], _at(before, j + 1), joined))
            best.append((near.start, row))
        i, j = rows, columns
        while i and j:
            # At and before a row's first place, its sums are those of the row before.
            if j <= best[i][0] or _at(best[i], j) == _at(best[i - 1], j):
                i -= 1
            elif _at(best[i], j) == _at(best[i], j - 1):
                j -= 1
            else:
                i, j = i - 1, j - 1
                self._join([(a[i], b[j])])

    def _join(self, pairs: Iterable[tuple[int, int]]) -> None:
        for i, j in pairs:
            self.mates[i] = j
            self._taken.add(j)

    def _left(self, a: Iterable[int], b: Iterable[int]) -> tuple[list[int], list[int]]:
        return [i for i in a if i not in self.mates], [j for j in b if j not in self._taken]


def nearest(candidates: Iterable[T], likeness: Callable[[T], float], above: float) -> T | None:
    """Return the first candidate of the greatest likeness, or None if none lies above the limit."""
    best, most = None, above
    for one in candidates:
        alike = likeness(one)
        if alike > most:
            best, most = one, alike
    return best


def _at(row: _Row, column: int) -> float:
    """Return a row's sum at a column that is not before its first."""
    start, sums = row
    return sums[min(column - start, len(sums) - 1)]


def _near(row: int, rows: int, columns: int) -> range:
    """Return the columns to compare with a row: those at about the same relative place."""
    middle = row * columns // rows
    width = max(_BAND, columns // rows)
    return range(max(middle - width, 0), min(middle + width + 1, columns))
