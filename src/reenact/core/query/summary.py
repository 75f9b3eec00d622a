"""The summary of a recording for lists and filters, made for the index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from reenact.core.dataclass import dataclass
from reenact.core.model import storable
from reenact.core.model.event import Tree
from reenact.core.model.plain import compact, error_line
from reenact.core.model.storable import LONGEST, LONGEST_TAG, MOST_TAGS, integer, number
from reenact.core.query.facts import RecordingFacts, StepFacts
from reenact.core.query.outline import outline, outline_args
from reenact.core.query.overview import overview
from reenact.errors import CorruptRecording

_TEXT = 1 << 18
_MOST_MODELS = 256
_SHORT = 64
_NAME = 512
"""The maximum length of an indexed text in characters: a step's kind, label and model."""

_WORD = 1 << 16
"""Maximum characters of other texts. `calls` (JSON) is kept whole or not at all."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of one recording.

    Attributes:
        broken: The reason that it cannot be read, or empty; all other fields are empty then.
        failed: The number of its steps that raised.
        cost: US dollars, as far as prices are known, or None.
        written: The time its file was last written, in nanoseconds since 1970.
        moment: The start in seconds since 1970; if unknown, the time its file was last written.
        problem: The error that the run ended with, or empty.
        seal: The state of its seal, as in `trust.Seal`; empty if unknown.
        signer: The public key that has signed it, or empty.
        here: The home that lists it has written it itself.
        endorser: The public key of the team's project that has endorsed it, or nothing.
        script: The file or module that ran, or empty.
        prompt: The first user message, on one line, or empty.
        outcome: The run's error, its output or the model's last answer, on one line, or empty.
        note: The note that a person gave it, or empty. Labels are among the tags.
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
    seal: str = ""
    signer: str = ""
    here: bool = False
    endorser: str = ""
    script: str = ""
    prompt: str = ""
    outcome: str = ""
    note: str = ""

    @property
    def agent(self) -> str:
        """The name that the run was given, or its script."""
        return self.name or self.script

    def get(self, field: str) -> Any:
        """Return the value of a filter's field, or None."""
        if field == "tag":
            return list(self.tags)
        return getattr(self, field) if field in ("id", "name", "note", "status") else None


@dataclass(frozen=True, slots=True)
class StepSummary:
    """The fields of a step that filters may test.

    Attributes:
        label: `kind:name`.
        calls: The tool calls in a model's answer, as JSON, or None.
        text: The whole text of the step, or None if that is too long to keep.
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
    """Return the text of a run's error; if it has none (KeyboardInterrupt), its name."""
    return str(error.get("text") or "") or error_line(error) if isinstance(error, dict) else ""


def summarise(facts: RecordingFacts, *, path: str, written: int = 0) -> Summary:
    """Return a recording's summary: typed and bounded fields that every store can keep.

    Raises:
        CorruptRecording: A field cannot be kept; the text names it.
    """
    recording = facts.recording
    header = recording.header
    started = _text(header, "started", _SHORT)
    moment = storable.moment(started) if started else written / 1e9
    if moment is None:
        raise CorruptRecording(f"its start is no date: {storable.storable(started, _SHORT)!r}")
    calls = [step.model_call for step in facts]
    models = [step.get("model") for step, call in zip(facts, calls, strict=True) if call is not None]
    usages = [call.usage for call in calls if call is not None and call.usage is not None]
    costs = [cost for step in facts if (cost := number(step.get("cost"))) is not None]
    sealed = recording.logs[0].sealed
    duration = number(recording.duration)
    words = overview(recording.logs[0], [call for call in calls if call is not None])
    if duration is None:
        raise CorruptRecording("its duration is no number")
    return Summary(
        id=recording.id,
        path=path,
        written=written,
        moment=moment,
        name=_text(header, "name", LONGEST),
        status=_text(sealed, "status", _SHORT) if sealed is not None else "unsealed",
        started=started,
        entry=_text(header, "entry", LONGEST),
        duration=duration,
        steps=len(facts.steps),
        failed=sum(step.get("ended") == "error" for step in facts),
        models=tuple(dict.fromkeys(_word(model) for model in models if model))[:_MOST_MODELS],
        input_tokens=integer(sum(integer(usage.input) or 0 for usage in usages)) or 0,
        output_tokens=integer(sum(integer(usage.output) or 0 for usage in usages)) or 0,
        cost=number(round(sum(costs), 9)) if costs else None,
        tags=tuple(dict.fromkeys((*_tags(header), *recording.labels.words))),
        problem=storable.storable(_problem((sealed or {}).get("error")), _WORD),
        script=words.script,
        prompt=words.prompt,
        outcome=words.outcome,
        note=recording.labels.note,
    )


def broken(id: str, *, path: str, written: int, why: str) -> Summary:
    """Return the summary of a recording that cannot be summarised.

    Args:
        id: Its id.
        path: Its path.
        written: The time it was last written, in nanoseconds since 1970.
        why: The reason, which is brought to one line of a few hundred letters.
    """
    text = storable.storable(" ".join(why.split()), 400) or "it cannot be read"
    return Summary(id=id, path=path, written=written, moment=written / 1e9, broken=text)


def _text(fields: Mapping[str, Any], name: str, most: int) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if problem := storable.why_not(value, most):
        raise CorruptRecording(f"its {name} {problem}")
    return str(value)


def _tags(header: Mapping[str, Any]) -> tuple[str, ...]:
    tags = header.get("tags")
    if tags is None:
        return ()
    if not isinstance(tags, list):
        raise CorruptRecording(f"its tags are {storable.kind(tags)}, not a list of texts")
    if len(tags) > MOST_TAGS:
        raise CorruptRecording(f"it has {len(tags):,} tags; {MOST_TAGS} are allowed")
    for place, tag in enumerate(tags, 1):
        if problem := storable.why_not(tag, LONGEST_TAG):
            raise CorruptRecording(f"its tag {place} {problem}")
    return tuple(tags)


def _word(value: Any, most: int = _NAME) -> str:
    return storable.storable(value if isinstance(value, str) else str(value), most)


def summarise_step(facts: StepFacts) -> StepSummary:
    """Return the step's fields for the index."""
    asked, text = facts.get("calls"), facts.text
    calls = compact(asked) if asked else None
    model, error = facts.get("model"), facts.get("error")
    return StepSummary(
        number=facts.step.number,
        kind=_word(facts.call.kind),
        label=_word(facts.call.label),
        ended=_word(facts.get("ended")),
        scope=_word(facts.call.scope, _WORD),
        duration=number(facts.call.duration),
        model=_word(model) if model is not None else None,
        calls=storable.storable(calls, _TEXT) if calls is not None and len(calls) <= _TEXT else None,
        input_tokens=integer(facts.get("input_tokens")),
        output_tokens=integer(facts.get("output_tokens")),
        cost=number(facts.get("cost")),
        error=_word(error, _WORD) if error is not None else None,
        text=text if len(text) <= _TEXT else None,
        args=_json(outline_args(facts.args, facts.parsed)),
        output=_json(outline(facts.output)),
    )


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
