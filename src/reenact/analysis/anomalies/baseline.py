"""The usual figures of other recordings, for comparison."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from statistics import median

from reenact.core.dataclass import dataclass
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.query.summary import Summary

LEAST = 5
"""The least number of recordings for a baseline."""


@dataclass(frozen=True, slots=True)
class Totals:
    """A recording's figures; `greatest` has the step with the greatest part of each."""

    duration: float | None = None
    tokens: float | None = None
    cost: float | None = None
    steps: float | None = None
    greatest: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usual:
    """The median of a figure, and its usual deviation (1.4826 times the median deviation)."""

    median: float
    deviation: float
    count: int

    def beyond(self, value: float, spread: float) -> bool:
        """Return True if a value is above by `spread` deviations and by half of the median."""
        return value > self.median + spread * self.deviation and value > 1.5 * self.median


class Baseline:
    """The figures of other recordings.

    Args:
        recordings: Recordings, or their lines in the index.
    """

    def __init__(self, recordings: Iterable[RecordedRun | Summary | Totals] = ()) -> None:
        self._totals = [one if isinstance(one, Totals) else _line(one) for one in recordings]

    def usual(self, figure: str) -> Usual | None:
        """Return the usual value of a figure, or None if too few recordings have it."""
        values = [value for one in self._totals if (value := getattr(one, figure)) is not None]
        if len(values) < LEAST:
            return None
        middle = median(values)
        return Usual(middle, 1.4826 * median(abs(value - middle) for value in values), len(values))


def totals(facts: RecordingFacts) -> Totals:
    """The figures of a recording."""
    sums: dict[str, float] = {}
    most: dict[str, tuple[float, int]] = {}
    for step in facts:
        for figure in ("duration", "tokens", "cost"):
            value = step.get(figure)
            if value is None:
                continue
            sums[figure] = sums.get(figure, 0.0) + value
            most[figure] = max(most.get(figure, (-1.0, 0)), (value, step.step.number))
    duration = facts.recording.duration or None
    return Totals(
        duration,
        sums.get("tokens"),
        sums.get("cost"),
        float(len(facts.steps)),
        {k: v[1] for k, v in most.items()},
    )


def _line(one: RecordedRun | Summary) -> Totals:
    if isinstance(one, RecordedRun):
        return totals(RecordingFacts(one))
    tokens = one.input_tokens + one.output_tokens
    return Totals(one.duration or None, tokens or None, one.cost, float(one.steps))
