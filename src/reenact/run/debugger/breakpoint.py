"""Breakpoints of a replay: a step, a filter, a divergence, a change of the tracked state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any

from reenact.core.dataclass import dataclass
from reenact.core.model.plain import compact, plain
from reenact.core.query.facts import RecordingFacts, joined, lookup
from reenact.core.query.filter import Filter
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.question import Question
from reenact.errors import UsageError

DIVERGENCE = "divergence"
STATE = "state"


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """One breakpoint, as the user wrote it.

    Attributes:
        text: `7`, `divergence`, `state`, `state:memory`, or a filter (docs/filters.md), for example `error`.
        filter: The filter, or None.
        step: The step's number, or None.
        state: The name of the state that it watches (`*` for any), or None.
    """

    text: str
    filter: Filter | None = field(default=None, compare=False)
    step: int | None = None
    state: str | None = None

    @property
    def on_divergence(self) -> bool:
        """True if it stops at a divergence."""
        return self.text == DIVERGENCE


def breakpoint_of(written: str | int) -> Breakpoint:
    """Read a breakpoint. Raises FilterError, pointing at the column, or UsageError."""
    text = str(written).strip()
    if not text:
        raise UsageError(
            "an empty breakpoint; try a step's number, `error`, or a filter such as tool:cancel_order"
        )
    if text.isdigit():
        if int(text) < 1:
            raise UsageError("there is no step 0: steps are numbered from 1")
        return Breakpoint(text, step=int(text))
    if text == DIVERGENCE:
        return Breakpoint(text)
    word, colon, name = text.partition(":")
    if word == STATE and " " not in text:
        return Breakpoint(text, state=(name if colon else "*") or "*")
    return Breakpoint(text, Filter(text))


class Matching:
    """The steps of a recording that match the breakpoints. Each filter is asked once."""

    def __init__(self, recording: RecordedRun) -> None:
        self._recording = recording
        self._facts: RecordingFacts | None = None
        self._known: dict[str, frozenset[int]] = {}

    def steps(self, breakpoints: Iterable[Breakpoint]) -> frozenset[int]:
        """The numbers of all steps at which one of them stops."""
        return frozenset().union(*(self._of(point) for point in breakpoints))

    def at(self, step: int, breakpoints: Iterable[Breakpoint]) -> Breakpoint | None:
        """Return the breakpoint that stops at a step, or None."""
        return next((point for point in breakpoints if step in self._of(point)), None)

    def _of(self, point: Breakpoint) -> frozenset[int]:
        if point.step is not None:
            return frozenset((point.step,))
        if point.filter is None:
            return frozenset()
        known = self._known.get(point.text)
        if known is None:
            if self._facts is None:
                self._facts = RecordingFacts(self._recording)
            facts, test = self._facts, point.filter.matches
            known = self._known[point.text] = frozenset(each.step.number for each in facts if test(each))
        return known


class Unknown:
    """The filter facts of a question that the recording does not have."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._args = {name: plain(tree) for name, tree in question.trees.items()}

    def get(self, field: str) -> Any:
        """Return the value of a filter's field, or None."""
        root, _, path = field.partition(".")
        if root == "args":
            return lookup(self._args, path) if path else compact(self._args)
        fields: dict[str, Callable[[], Any]] = {
            "kind": lambda: self._question.effect.kind,
            "label": lambda: self._question.label,
            "scope": lambda: self._question.scope.path,
            "text": lambda: joined(self._args, None, ""),
            "ended": lambda: "in flight",
            "model": lambda: self._question.effect.name if self._question.effect.kind == "model" else None,
        }
        return fields[field]() if field in fields else None
