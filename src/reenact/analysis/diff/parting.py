"""The first place where two runs differ, and the reason."""

from __future__ import annotations

from collections.abc import Sequence

from reenact.analysis.diff.result import Kind, Pair, Parting
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recorded_run import Step


def parting(pairs: Sequence[Pair], facts: tuple[RecordingFacts, RecordingFacts]) -> Parting | None:
    """Return the first difference of the runs, or None."""
    place = next((place for place, pair in enumerate(pairs) if pair.kind is not Kind.SAME), None)
    if place is None:
        return None
    pair = _innermost(pairs, pairs[place], facts)
    a, b = _steps(pairs, pair, place)
    return Parting(a, b, _why(pair, a, b), pair)


def _innermost(pairs: Sequence[Pair], pair: Pair, both: tuple[RecordingFacts, RecordingFacts]) -> Pair:
    """Return the step that caused a different answer to the same question, if it is inside.

    If nothing happened inside in one of the runs (a fork with an edited answer), the answer is the first difference.
    """
    facts = both[0]
    while pair.kind is Kind.CHANGED and not pair.asked and pair.a is not None and pair.b is not None:
        number = pair.a.number
        if not _has_inside(both[1], pair.b) or not _has_inside(facts, pair.a):
            break
        inside = (
            other
            for other in pairs
            if other.kind is not Kind.SAME
            and other.a is not None
            and facts.within(facts.steps[other.a.number - 1]) == number
        )
        found = next(inside, None)
        if found is None:
            break
        pair = found
    return pair


def _has_inside(facts: RecordingFacts, step: Step) -> bool:
    return any(facts.within(other) == step.number for other in facts)


def _steps(pairs: Sequence[Pair], pair: Pair, place: int) -> tuple[Step | None, Step | None]:
    """Return the steps of both runs at a place; for a missing one the step that follows."""
    a, b = pair.a, pair.b
    if a is not None and b is not None:
        return a, b
    rest = pairs[place:]
    return (
        a or next((other.a for other in rest if other.a is not None), None),
        b or next((other.b for other in rest if other.b is not None), None),
    )


def _why(pair: Pair, a: Step | None, b: Step | None) -> str:
    if pair.kind is Kind.MOVED:
        return "the same step is at a different place"
    if pair.kind is Kind.CHANGED:
        if not pair.asked:
            return "the same question got a different answer"
        return (
            "a different question was asked"
            if not pair.answered
            else "a different question, and a different answer"
        )
    if a is None or b is None:
        return f"{'A' if a is None else 'B'} ends here, {'B' if a is None else 'A'} goes on"
    if a.call.label != b.call.label:
        return f"A asks {a.call.label}, B asks {b.call.label}"
    return f"both call {a.call.label}, with different arguments"
