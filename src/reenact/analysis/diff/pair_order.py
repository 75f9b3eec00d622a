"""Order the pairs of steps, and find those that were moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reenact.analysis.diff.content import Content
from reenact.core.align.subsequence import increasing

Place = tuple[int | None, int | None]
"""The positions of a step on each side; None on a side without a counterpart."""


def backbone(mates: Mapping[int, int]) -> dict[int, int]:
    """Return the longest series of pairs in the same order in both runs."""
    pairs = sorted(mates.items())
    return dict(pairs[place] for place in increasing([j for _, j in pairs]))


def told(mates: Mapping[int, int], spine: Mapping[int, int], lengths: tuple[int, int]) -> Iterator[Place]:
    """Yield all steps of both sides, once: pairs, and between them the steps of only one side."""
    taken = set(mates.values())
    i = j = 0
    for p, q in [*spine.items(), lengths]:
        for place in range(i, p):
            yield place, mates.get(place)
        for place in range(j, q):
            if place not in taken:
                yield None, place
        if p < lengths[0]:
            yield p, q
        i, j = p + 1, q + 1


def moved(
    mates: Mapping[int, int], spine: Mapping[int, int], sides: tuple[Sequence[Content], Sequence[Content]]
) -> set[int]:
    """Return the places of moved steps in the first run, if their order has a meaning.

    The order of steps in concurrent tasks has no meaning. It has one within a scope, and between a scope and those
    below it: a tool that was called before the second question and is now called after it.
    """
    found = set()
    parents = tuple(_parents(side) for side in sides)
    for i, j in mates.items():
        if i in spine or _carried_along(i, j, mates, parents):
            continue
        crossed = ((c, d) for c, d in spine.items() if (c < i) != (d < j))
        if any(_ordered(sides[0][i], sides[0][c]) and _ordered(sides[1][j], sides[1][d]) for c, d in crossed):
            found.add(i)
    return found


def _ordered(one: Content, other: Content) -> bool:
    """Return whether the program itself fixes the order of the two."""
    a, b = one.facts.call, other.facts.call
    if one.facts.step.log is not other.facts.step.log:
        return False
    if a.scope != b.scope and not a.scope.startswith(b.scope + "/") and not b.scope.startswith(a.scope + "/"):
        return False
    first, second = (a, b) if one.place < other.place else (b, a)
    return first.duration is not None and first.began + first.duration <= second.began


def _parents(side: Sequence[Content]) -> list[int | None]:
    """Return the position of the step around each step, or None."""
    return [
        None if (number := step.facts.recording.within(step.facts)) is None else number - 1 for step in side
    ]


def _carried_along(i: int, j: int, mates: Mapping[int, int], parents: tuple[list[int | None], ...]) -> bool:
    """Return whether the step moved only together with its enclosing step."""
    parent = parents[0][i]
    return parent is not None and mates.get(parent) == parents[1][j]
