"""The timeline of a recording in lanes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from reenact.analysis.views.base import Ended, View
from reenact.analysis.views.steps import began
from reenact.core.dataclass import dataclass
from reenact.core.query.facts import RecordingFacts, StepFacts

Bar = tuple[int, int, float, float | None, str, Ended]


class LaneView(View):
    """A lane of the timeline."""

    scope: str
    label: str
    process: str


@dataclass(slots=True)
class _Lane:
    scope: str
    label: str
    process: str
    number: int
    free: float = 0.0


_MOST = 256
"""The maximum number of lanes of one scope and depth. Calls without an answer need one each."""


class LanesView(View):
    """The timeline: lanes, and bars as `[step, lane, began, duration, kind, status]`.

    `began` and `duration` are in seconds; the duration is null while the step is open.
    """

    lanes: tuple[LaneView, ...]
    bars: tuple[Bar, ...]
    duration: float


def lanes(facts: RecordingFacts, depths: Sequence[int]) -> LanesView:
    """Return the timeline of a recording.

    Successive steps are on the same lane, also those of scopes that share a name (`agent:step`, `agent:step~1`), and
    concurrent steps on several. The inside of a step is on lanes of its own below it, so that no lane has two bars in
    one place, except the last of `_MOST`.

    Args:
        facts: The recording.
        depths: The number of steps that each step is inside of.
    """
    return _Arrangement().of(facts, depths)


class _Arrangement:
    """The lanes so far, numbered as they are opened."""

    def __init__(self) -> None:
        self._lanes: dict[tuple[str, str, int], list[_Lane]] = {}
        self._all: list[_Lane] = []

    def of(self, facts: RecordingFacts, depths: Sequence[int]) -> LanesView:
        bars: list[Bar] = []
        for number, step in enumerate(facts, 1):
            start, call = began(step), step.call
            took = call.duration
            lane = self._free(step, depths[number - 1], start)
            lane.free = start + took if took is not None else float("inf")
            bars.append((number, lane.number, start, took, call.kind, step.get("ended")))
        shown = [LaneView(scope=lane.scope, label=lane.label, process=lane.process) for lane in self._all]
        return LanesView(lanes=tuple(shown), bars=tuple(bars), duration=facts.recording.duration)

    def _free(self, step: StepFacts, depth: int, start: float) -> _Lane:
        process, name = step.step.log.process, named(step.call.scope)
        lanes = self._lanes.setdefault((process, name, depth), [])
        for lane in lanes:
            if lane.free <= start:
                return lane
        if len(lanes) >= _MOST:
            return lanes[-1]
        again = f" ·{len(lanes) + 1}" if lanes else ""
        label = f"{name or process}{' >' * min(depth, 20)}{again}"
        lane = _Lane(step.call.scope, label, process, len(self._all))
        lanes.append(lane)
        self._all.append(lane)
        return lane


_SCOPES = 1024
"""Scopes whose names are kept: most steps of a run have one of a few."""

_UNNAMED = re.compile(r"[:#]|\.\d+$")
"""A task, thread, call or effect: it has no name of its own choice."""

_ORDINAL = re.compile(r"~\d+$")
"""The number of a scope among those of the same name in its parent."""


@lru_cache(_SCOPES)
def named(scope: str) -> str:
    """Return the innermost chosen name in a scope, without its ordinal; or empty.

    It is the name of an agent, a graph's node or a span.
    """
    parts = [_ORDINAL.sub("", part) for part in scope.split("/")[1:]]
    return next(
        (
            part
            for part in reversed(parts)
            if part.startswith(("agent:", "node:")) or not _UNNAMED.search(part)
        ),
        "",
    )
