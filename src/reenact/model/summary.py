"""What a list says of a recording without opening it: kept in the index, and made here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reenact.model.facts import RecordingFacts, StepFacts
from reenact.model.plain import compact

_ARGS = 4096
_TEXT = 16384


@dataclass(frozen=True, slots=True)
class Summary:
    """One recording on one line.

    Attributes:
        broken: Why it cannot be read, or nothing; all else is empty then.
        failed: How many of its steps raised.
        cost: US dollars, as far as prices are known, or None.
        written: When its file was last written, in nanoseconds since 1970.
        problem: The error that the run ended with, or nothing.
    """

    id: str
    path: str
    written: int = 0
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
    """What filters may ask about a step. `args` and `output` are left out where they are long; `keys` names the first.

    `text` is there for model calls only, perhaps cut: of all else it is made of arguments and output. `whole` says
    that text and all is there.
    """

    number: int
    kind: str
    name: str
    ended: str
    scope: str
    began: float
    duration: float | None
    model: str | None
    calls: tuple[str, ...]
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    error: str | None
    keys: tuple[str, ...]
    args: str | None
    output: str | None
    text: str | None
    whole: bool


def summarise(facts: RecordingFacts, *, path: str, written: int) -> tuple[Summary, list[StepSummary]]:
    """A recording's line, and those of its steps."""
    recording = facts.recording
    steps = [_step(step) for step in facts]
    costs = [step.cost for step in steps if step.cost is not None]
    sealed = recording.logs[0].sealed or {}
    line = Summary(
        id=recording.id,
        path=path,
        written=written,
        name=recording.name,
        status=recording.status,
        started=recording.started,
        entry=str(recording.header.get("entry") or ""),
        duration=recording.duration,
        steps=len(steps),
        failed=sum(step.ended == "error" for step in steps),
        models=tuple(dict.fromkeys(step.model for step in steps if step.model)),
        input_tokens=sum(step.input_tokens or 0 for step in steps),
        output_tokens=sum(step.output_tokens or 0 for step in steps),
        cost=round(sum(costs), 9) if costs else None,
        tags=recording.tags,
        problem=str((sealed.get("error") or {}).get("text") or ""),
    )
    return line, steps


def _step(facts: StepFacts) -> StepSummary:
    spoken = facts.model_call is not None
    text = facts.text if spoken else None
    args, output = (None, None) if spoken else (_short(facts.args), _short(facts.output))
    return StepSummary(
        number=facts.step.number,
        kind=facts.call.kind,
        name=facts.call.name,
        ended=facts.call.status,
        scope=facts.call.scope,
        began=facts.call.began,
        duration=facts.call.duration,
        model=facts.get("model"),
        calls=tuple(facts.get("calls")),
        input_tokens=facts.get("input_tokens"),
        output_tokens=facts.get("output_tokens"),
        cost=facts.get("cost"),
        error=facts.get("error"),
        keys=tuple(facts.args),
        args=args,
        output=output,
        text=None if text is None else text[:_TEXT],
        whole=args is not None and output is not None if text is None else len(text) <= _TEXT,
    )


def _short(value: Any) -> str | None:
    # As JSON even where it is a text, since it is read back as JSON.
    text = compact([value])
    return text[1:-1] if len(text) <= _ARGS else None
