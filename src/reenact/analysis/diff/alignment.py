"""Align the steps of two runs: by equal content first, then by likeness.

Steps of a scope (a task, a thread, the inside of a tool) have an order that the program gave them; those of two scopes
come in a different order in every run. So each scope is aligned by itself first. Steps without a counterpart there are
then paired across scopes.
"""

from __future__ import annotations

from collections.abc import Sequence

from reenact.analysis.diff.content import Content
from reenact.core.align import Pairing

ALIKE = 0.3
"""The share of common words from which a step at the same place counts as changed."""


def align(a: Sequence[Content], b: Sequence[Content]) -> dict[int, int]:
    """Return the position of the counterpart in `b` of each step in `a` that has one."""
    table = Pairing(a, b)
    lanes = _lanes(a, b)
    for lane in lanes:
        table.in_order(*lane, lambda step: step.key)
    # Moved steps, and those of scopes that were renamed.
    table.in_order(range(len(a)), range(len(b)), lambda step: step.key)
    table.anywhere(lambda step: step.key)
    for lane in lanes:
        for gap in table.gaps(*lane):
            table.in_order(*gap, lambda step: (step.family, step.question))
    for lane in lanes:
        for gap in table.gaps(*lane):
            table.alike(*gap, likeness, ALIKE)
    if len(lanes) > 1 or len({step.scope for step in (*a, *b)}) > 1:
        everything = list(range(len(a))), list(range(len(b)))
        for gap in table.gaps(*everything):
            table.in_order(*gap, lambda step: (step.family, step.question))
        for gap in table.gaps(*everything):
            table.alike(*gap, likeness, ALIKE)
    return table.mates


def _lanes(a: Sequence[Content], b: Sequence[Content]) -> list[tuple[list[int], list[int]]]:
    """Return the positions of the steps of each scope that both runs have."""
    found: dict[str, tuple[list[int], list[int]]] = {}
    for side, steps in enumerate((a, b)):
        for step in steps:
            found.setdefault(step.scope, ([], []))[side].append(step.place)
    return [lane for lane in found.values() if all(lane)]


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
