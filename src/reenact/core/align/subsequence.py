"""The longest common subsequence of two sequences of steps, messages or words.

Bit-parallel: a whole row of the table is one integer, so that 3,400 against 3,400 words take 3 ms. `difflib` takes more
than a second for that, and often finds less; docs/decisions has the figures.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence

_CELLS = 1 << 29

Pairs = list[tuple[int, int]]
"""Places in the first and in the second sequence, both ascending."""

Run = tuple[int, int, int]
"""Consecutive pairs: the first place in each sequence, and their number."""


def common(a: Sequence[Hashable], b: Sequence[Hashable]) -> Pairs:
    """Return the places of a longest common subsequence; of very long ones, of a long one."""
    return [(i + place, j + place) for i, j, length in common_runs(a, b) for place in range(length)]


def common_runs(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Run]:
    """Return the same subsequence as runs of consecutive pairs."""
    start, end = _ends(a, b)
    found: list[Run] = [(0, 0, start)] if start else []
    middle = _middle(a[start : len(a) - end], b[start : len(b) - end])
    found += [(start + i, start + j, length) for i, j, length in middle]
    return [*found, (len(a) - end, len(b) - end, end)] if end else found


def increasing(values: Sequence[int]) -> list[int]:
    """Return the places of a longest increasing subsequence of different numbers."""
    tails: list[int] = []
    places: list[int] = []
    before: list[int] = []
    for place, value in enumerate(values):
        at = bisect_left(tails, value)
        before.append(places[at - 1] if at else -1)
        if at == len(tails):
            tails.append(value)
            places.append(place)
        else:
            tails[at], places[at] = value, place
    found = []
    place = places[-1] if places else -1
    while place >= 0:
        found.append(place)
        place = before[place]
    return found[::-1]


def gaps(anchors: Pairs, lengths: tuple[int, int]) -> list[tuple[range, range]]:
    """Return the ranges between ascending pairs, before the first and after the last."""
    found = []
    i = j = 0
    for p, q in [*anchors, lengths]:
        if i < p and j < q:
            found.append((range(i, p), range(j, q)))
        i, j = p + 1, q + 1
    return found


def _ends(a: Sequence[Hashable], b: Sequence[Hashable]) -> tuple[int, int]:
    most = min(len(a), len(b))
    start = 0
    while start < most and a[start] == b[start]:
        start += 1
    end = 0
    while end < most - start and a[-1 - end] == b[-1 - end]:
        end += 1
    return start, end


def _middle(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Run]:
    if not a or not b:
        return []
    return _whole(a, b) if len(a) * len(b) <= _CELLS else _split(a, b)


def _whole(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Run]:
    """Compute row by row: a zero bit means that the subsequence grows at that place of `b`."""
    masks: dict[Hashable, int] = {}
    for place, item in enumerate(b):
        masks[item] = masks.get(item, 0) | 1 << place
    row = full = (1 << len(b)) - 1
    rows = []
    for item in a:
        hit = row & masks.get(item, 0)
        row = ((row + hit) | (row - hit)) & full
        rows.append(row)
    found: list[Run] = []
    i, j, length = len(a) - 1, len(b) - 1, 0
    while i >= 0 and j >= 0:
        if a[i] == b[j]:
            i, j, length = i - 1, j - 1, length + 1
            continue
        if length:
            found.append((i + 1, j + 1, length))
            length = 0
        if i and not rows[i - 1] >> j & 1:
            i -= 1
        else:
            j -= 1
    if length:
        found.append((i + 1, j + 1, length))
    return found[::-1]


def _split(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Run]:
    """Cut sequences that are too long for one table at entries that each has once."""
    once = Counter(a), Counter(b)
    where = {item: place for place, item in enumerate(b) if once[1][item] == 1}
    single = [(place, where[item]) for place, item in enumerate(a) if once[0][item] == 1 and item in where]
    anchors = [single[place] for place in increasing([j for _, j in single])]
    if not anchors:
        return []
    found = [(i, j, 1) for i, j in anchors]
    for one, other in gaps(anchors, (len(a), len(b))):
        parts = common_runs(a[one.start : one.stop], b[other.start : other.stop])
        found += [(one.start + i, other.start + j, length) for i, j, length in parts]
    return sorted(found)
