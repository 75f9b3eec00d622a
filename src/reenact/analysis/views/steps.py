"""A recording in parts, for paged views: one line a step, conversation, timeline."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson

from reenact.analysis.views.text import one_line
from reenact.analysis.views.values import pretty, spelled
from reenact.core import messages as reading
from reenact.core.messages import Message
from reenact.core.model.plain import compact, parsed
from reenact.core.query.facts import RecordingFacts, StepFacts

SUMMARY = 200
"""Characters of a step in a line."""

TEXT = 20_000
"""Characters of a text in a conversation; the step has it whole."""


def began(step: StepFacts) -> float:
    """Return a step's start, in seconds since the recording began."""
    return round(float(step.step.log.opened.get("offset") or 0.0) + step.call.began, 6)


def gist(step: StepFacts) -> str:
    """A step in a line: what a model answered, what a tool was given and gave."""
    call = step.model_call
    if call is not None:
        said = (
            [call.answer.text[:SUMMARY], *map(spelled, call.answer.calls)] if call.answer else [call.problem]
        )
        return _cut(" ".join(part for part in (*said, step.error) if part.strip()))
    if step.call.kind == "http":
        return _cut(step.error)
    came = step.error or (_short(step.output) if step.output is not None else "")
    given = ", ".join(f"{name}={_short(value)}" for name, value in step.args.items())
    return _cut(f"{given} → {came}" if came and given else came or given)


def _short(value: Any) -> str:
    return value[:SUMMARY] if isinstance(value, str) else compact(value)[:SUMMARY]


def _cut(text: str) -> str:
    return one_line(text[: 4 * SUMMARY], SUMMARY)


def row(step: StepFacts, depth: int) -> dict[str, Any]:
    """A step as a line of a table."""
    call = step.call
    model = step.model_call
    usage = model.usage if model is not None else None
    return {
        "step": step.step.number,
        "kind": call.kind,
        "name": call.name,
        "model_name": (model.model or None) if model is not None else None,
        "status": step.get("ended"),
        "began": began(step),
        "duration": call.duration,
        "depth": depth,
        "within": step.recording.within(step),
        "scope": call.scope,
        "process": step.step.log.process,
        "error": _cut(step.error) or None,
        "summary": gist(step),
        "tokens": {"input": usage.input, "output": usage.output} if usage is not None else None,
        "cost": reading.cost(model) if model is not None else None,
        "chunks": len(call.pieces),
        "edited": call.edited,
    }


# -- the conversation ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Talk:
    """A recording as a conversation, read on demand: items by step.

    A tool's result stands at the tool's call; the message that hands it to the model is not repeated.
    """

    facts: RecordingFacts
    _items: list[list[dict[str, Any]]] = field(default_factory=list)
    _known: set[tuple[str, int]] = field(default_factory=set)

    def items(self, first: int, last: int, depths: Sequence[int]) -> list[dict[str, Any]]:
        """Return the items of the steps from `first` to `last`."""
        while len(self._items) < min(last, len(self.facts.steps)):
            step = self.facts.steps[len(self._items)]
            self._items.append(list(self._of(step, depths[step.step.number - 1])))
        return [item for items in self._items[first - 1 : last] for item in items]

    def forget(self, first: int) -> None:
        """Read anew from that step on."""
        del self._items[max(first - 1, 0) :]

    def _of(self, step: StepFacts, depth: int) -> Iterator[dict[str, Any]]:
        turn, call = step.turn, step.call
        about = {
            "step": step.step.number,
            "kind": call.kind,
            "depth": depth,
            "process": step.step.log.process,
        }
        if turn is not None:
            for message in turn.new:
                if message.role != "tool" or (message.name, _same(message.text)) not in self._known:
                    yield {**about, "part": "asked", **_said(message), "dropped": 0}
            answer = turn.call.answer or Message("assistant")
            yield {
                **about,
                "part": "answer",
                **_said(answer),
                "dropped": turn.dropped,
                "model": turn.call.model or None,
                "error": turn.call.problem or step.error or None,
                **_ended(step),
            }
            return
        if call.kind == "tool":
            self._known.add((call.name, _same(step.output)))
        if self._carries(step):
            return
        came = pretty(step.output) if step.output is not None else ""
        text, more = _folded("" if call.kind == "http" else came)
        yield {
            **about,
            "part": "done",
            "role": "tool" if call.kind == "tool" else "effect",
            "name": call.name,
            "args": None if call.kind == "http" else _folded_args(step.args),
            "text": text,
            "more": more,
            "error": step.error or None,
            **_ended(step),
        }

    def _carries(self, step: StepFacts) -> bool:
        """Return True for the exchange that carries a model call, which is shown already."""
        within = self.facts.within(step)
        return (
            step.call.kind == "http"
            and within is not None
            and self.facts.steps[within - 1].call.kind == "model"
        )


def _ended(step: StepFacts) -> dict[str, Any]:
    usage = step.model_call.usage if step.model_call is not None else None
    return {
        "status": step.get("ended"),
        "duration": step.call.duration,
        "tokens": {"input": usage.input, "output": usage.output} if usage is not None else None,
        "cost": step.get("cost"),
        "edited": step.call.edited,
    }


def _said(message: Message) -> dict[str, Any]:
    text, more = _folded(message.text)
    found: dict[str, Any] = {"role": message.role, "text": text, "more": more}
    if message.calls:
        found["calls"] = [asdict(call) | {"id": call.id or None} for call in message.calls]
    return found | {name: value for name in ("name", "thinking") if (value := getattr(message, name))}


def _folded(text: str) -> tuple[str, int]:
    """A text, cut where it is very long, and how many characters are left out."""
    return (text, 0) if len(text) <= TEXT else (text[:TEXT], len(text) - TEXT)


def _folded_args(args: dict[str, Any]) -> dict[str, Any]:
    """Arguments, those that are very long as the beginning of their text."""
    return {
        name: value if len(text := compact(value)) <= TEXT else f"{text[:TEXT]}…"
        for name, value in args.items()
    }


def _same(value: Any) -> int:
    """Return a key of a tool's result, regardless of spaces, key order, and JSON or text."""
    inside = parsed(value)
    if isinstance(inside, (dict, list)):
        return hash(orjson.dumps(inside, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str))
    return hash("".join(compact(value).split()).strip('"'))


# -- the timeline --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Lane:
    scope: str
    label: str
    process: str
    number: int
    free: float = 0.0


_MOST = 256
"""Lanes of one scope and depth at most. Calls without an answer would need one each."""


class Lanes:
    """Steps on lanes: one after the other on the same, those at the same time beside each other.

    The inside of a step lies on lanes of its own below it, so that a lane never shows two bars in one place, but
    for the last of `_MOST`. Lanes are numbered as they are opened; `under` leads from a lane to its place among the
    others.
    """

    def __init__(self) -> None:
        self._lanes: dict[tuple[str, str, int], list[_Lane]] = {}
        self._all: list[_Lane] = []

    def of(self, facts: RecordingFacts, depths: Sequence[int]) -> dict[str, Any]:
        """Return all lanes, and the bars: `[step, lane, began, duration, kind, status]`.

        The duration is null while open.
        """
        bars = []
        for step in facts:
            start, call = began(step), step.call
            lane = self._free(step, depths[step.step.number - 1], start)
            lane.free = start + call.duration if call.duration is not None else float("inf")
            bars.append([step.step.number, lane.number, start, call.duration, call.kind, step.get("ended")])
        order = sorted(self._all, key=lambda lane: lane.number)
        return {
            "lanes": [{"scope": lane.scope, "label": lane.label, "process": lane.process} for lane in order],
            "bars": bars,
        }

    def _free(self, step: StepFacts, depth: int, start: float) -> _Lane:
        process, name = step.step.log.process, named(step.call.scope)
        lanes = self._lanes.setdefault((process, name, depth), [])
        for lane in lanes:
            if lane.free <= start:
                return lane
        if len(lanes) >= _MOST:
            return lanes[-1]
        again = f" ·{len(lanes) + 1}" if lanes else ""
        label = f"{name or process}{' >' * depth}{again}"
        lane = _Lane(step.call.scope, label, process, len(self._all))
        lanes.append(lane)
        self._all.append(lane)
        return lane


_UNNAMED = re.compile(r"[:#]|\.\d+$")
"""A task, thread, call or effect: it has no name of its own choice."""


def named(scope: str) -> str:
    """Return the innermost chosen name in a scope: an agent, a graph's node, a span; or empty."""
    parts = scope.split("/")[1:]
    return next(
        (
            part
            for part in reversed(parts)
            if part.startswith(("agent:", "node:")) or not _UNNAMED.search(part)
        ),
        "",
    )
