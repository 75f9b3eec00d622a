"""What a list says of a recording without opening it, and what filters ask of its steps: made for the index."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from reenact.model.event import Tree
from reenact.model.facts import RecordingFacts, StepFacts
from reenact.model.outline import outline, outline_args
from reenact.model.plain import compact, error_line

_TEXT = 1 << 18


@dataclass(frozen=True, slots=True)
class Summary:
    """One recording on one line.

    Attributes:
        broken: Why it cannot be read, or nothing; all else is empty then.
        failed: How many of its steps raised.
        cost: US dollars, as far as prices are known, or None.
        written: When its file was last written, in nanoseconds since 1970.
        moment: When it began, in seconds since 1970; where it does not say, when its file was last written.
        problem: The error that the run ended with, or nothing.
    """

    id: str
    path: str
    written: int = 0
    moment: float = 0.0
    broken: str = ""
    name: str = ""
    status: str = ""
    started: str = ""
    entry: str = ""
    duration: float = 0.0
    steps: int = 0
    failed: int = 0
    models: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    tags: tuple[str, ...] = ()
    problem: str = ""

    def get(self, field: str) -> Any:
        """The value of a filter's field, or None."""
        if field == "tag":
            return list(self.tags)
        return getattr(self, field) if field in ("id", "name", "status") else None


@dataclass(frozen=True, slots=True)
class StepSummary:
    """What filters may ask about a step.

    Attributes:
        label: `kind:name`.
        calls: The tools that a model's answer asks for, as JSON, or None.
        text: All that is said or passed in it, or None where that is too long to keep.
        args: The outline of its arguments, as JSON (see `outline`).
        output: The outline of its output, as JSON.
    """

    number: int
    kind: str
    label: str
    ended: str
    scope: str
    duration: float | None
    model: str | None
    calls: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    error: str | None
    text: str | None
    args: str
    output: str


def _problem(error: Tree) -> str:
    """What a run's error says; of one that says nothing (KeyboardInterrupt), its name."""
    return str(error.get("text") or "") or error_line(error) if isinstance(error, dict) else ""


def summarise(facts: RecordingFacts, *, path: str, written: int = 0) -> Summary:
    """A recording's line."""
    recording = facts.recording
    calls = [step.model_call for step in facts]
    models = [step.get("model") for step, call in zip(facts, calls, strict=True) if call is not None]
    usages = [call.usage for call in calls if call is not None and call.usage is not None]
    costs = [cost for step in facts if (cost := step.get("cost")) is not None]
    sealed = recording.logs[0].sealed or {}
    return Summary(
        id=recording.id,
        path=path,
        written=written,
        moment=moment(recording.started, written / 1e9),
        name=recording.name,
        status=recording.status,
        started=recording.started,
        entry=str(recording.header.get("entry") or ""),
        duration=recording.duration,
        steps=len(facts.steps),
        failed=sum(step.get("ended") == "error" for step in facts),
        models=tuple(dict.fromkeys(model for model in models if model)),
        input_tokens=sum(usage.input for usage in usages),
        output_tokens=sum(usage.output for usage in usages),
        cost=round(sum(costs), 9) if costs else None,
        tags=recording.tags,
        problem=_problem(sealed.get("error")),
    )


def moment(started: str, otherwise: float) -> float:
    """A time in ISO 8601 as seconds since 1970; without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(started)
    except ValueError:
        return otherwise
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


def summarise_step(facts: StepFacts) -> StepSummary:
    """What the index keeps of a step."""
    calls, text = facts.get("calls"), facts.text
    return StepSummary(
        number=facts.step.number,
        kind=facts.call.kind,
        label=facts.call.label,
        ended=facts.get("ended"),
        scope=facts.call.scope,
        duration=facts.call.duration,
        model=facts.get("model"),
        calls=compact(calls) if calls else None,
        input_tokens=facts.get("input_tokens"),
        output_tokens=facts.get("output_tokens"),
        cost=facts.get("cost"),
        error=facts.get("error"),
        text=text if len(text) <= _TEXT else None,
        args=_json(outline_args(facts.args, facts.parsed)),
        output=_json(outline(facts.output)),
    )


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
