"""A step: as a line of a table, and whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from reenact.analysis.views import browsed, step_pictures
from reenact.analysis.views.base import Ended, Json, View
from reenact.analysis.views.declared_state import StateChangeView, ValueView, state_at
from reenact.analysis.views.listing import TokensView
from reenact.analysis.views.messages import ModelCallView, PromptChangeView, model_call, prompt_change
from reenact.analysis.views.step_pictures import PictureView
from reenact.analysis.views.text import one_line, without_tokens
from reenact.core import messages as reading
from reenact.core.messages.shell import ShellCommand, command_of, commands_of
from reenact.core.messages.spelling import spelled
from reenact.core.model.plain import compact
from reenact.core.query.facts import RecordingFacts, StepFacts

IMPORTED = "ImportedError: "
"""The end of the name before the text of an imported error."""

SUMMARY = 200
"""Characters of a step in a line."""


class RowView(View):
    """A step as a line of a table.

    `began` is in seconds since the recording began, `duration` null while no answer has come. `within` is the step that
    it is inside of, `depth` the number of steps around it. `anomalies` are the rules that found something, null until
    the recording was examined.
    """

    step: int
    kind: str
    name: str
    model_name: str | None
    status: Ended
    began: float
    duration: float | None
    depth: int
    within: int | None
    scope: str
    process: str
    error: str | None
    summary: str
    tokens: TokensView | None
    cost: float | None
    chunks: int
    edited: bool
    policy: str
    anomalies: tuple[str, ...] | None


class RowsView(View):
    """A page of steps; `total` is the number of matches."""

    items: tuple[RowView, ...]
    total: int


class StepNumbersView(View):
    """The steps that match a filter."""

    steps: tuple[int, ...]


class StepView(RowView):
    """One step whole.

    `changed` is null for a step that is no model call, and for the first model call of its scope. `state` is that of
    the moment when the step was asked, `state_changes` its differences from the step before. `events` are the step's
    lines as they are stored. `pictures` are those that are new in its question, then those in its answer.
    """

    address: str
    args: dict[str, Json]
    output: Json
    model: ModelCallView | None
    changed: PromptChangeView | None
    nested: tuple[RowView, ...]
    state: dict[str, ValueView]
    state_changes: tuple[StateChangeView, ...]
    events: tuple[str, ...]
    blobs: tuple[str, ...]
    pictures: tuple[PictureView, ...]


class CommandView(View):
    """A command that a tool has run; `exit` is null where the transcript does not tell it."""

    command: str
    exit: int | None


class ShownStepView(View):
    """A step as `show --json` writes it.

    `began` is in seconds since its process began. `args` and `output` are absent from the model calls of a whole
    recording, `model` from other steps, `chunks` where nothing was streamed, and `policy` where no fork's policy
    answered. `commands` are those that a shell of the agent has run since the model call before, or in the step.
    """

    step: int
    kind: str
    name: str
    status: Ended
    address: str
    scope: str
    process: str
    within: int | None
    began: float
    duration: float | None
    error: str | None
    args: dict[str, Json] | None = None
    output: Json = None
    model: ModelCallView | None = None
    chunks: int = 0
    policy: str = ""
    commands: tuple[CommandView, ...] = ()


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
    done = browsed.sentences(step.output) if step.call.kind in browsed.KINDS else ""
    if done:
        return _cut(f"{step.error} {done}" if step.error else done)
    came = step.error or (_short(step.output) if step.output is not None else "")
    given = ", ".join(f"{name}={_short(value)}" for name, value in step.args.items())
    return _cut(f"{given} → {came}" if came and given else came or given)


def _short(value: Any) -> str:
    return value[:SUMMARY] if isinstance(value, str) else compact(value)[:SUMMARY]


def _cut(text: str) -> str:
    return one_line(without_tokens(text[: 4 * SUMMARY]), SUMMARY)


def tokens_view(step: StepFacts) -> TokensView | None:
    """Return the tokens of a model call; None for other steps, and where they are not known."""
    usage = step.model_call.usage if step.model_call is not None else None
    return TokensView(input=usage.input, output=usage.output) if usage is not None else None


def row(step: StepFacts, depth: int) -> RowView:
    """Return a step inside `depth` others as a line of a table, without anomalies."""
    return RowView(**_fields_of_row(step, depth), anomalies=None)


def _fields_of_row(step: StepFacts, depth: int) -> dict[str, Any]:
    call, model = step.call, step.model_call
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
        "tokens": tokens_view(step),
        "cost": reading.cost(model) if model is not None else None,
        "chunks": len(call.pieces),
        "edited": call.edited,
        "policy": call.policy,
    }


def commands_in(step: StepFacts) -> dict[str, ShellCommand]:
    """Return the commands of a shell tool, or of a model call's new results, by call id."""
    if step.turn is not None:
        return {message.id: one for message, one in commands_of(step.turn.call, step.turn.new)}
    if step.call.kind != "tool":
        return {}
    output = step.error.partition(IMPORTED)[2] if IMPORTED in step.error else step.error or step.output
    one = command_of(step.call.name, step.args, output, failed=bool(step.error))
    return {} if one is None else {"": one}


def whole_step(
    facts: RecordingFacts,
    about: RowView,
    nested: Iterable[RowView],
    lines: Sequence[bytes],
    blobs: Sequence[str],
) -> StepView:
    """Return a step whole.

    Args:
        facts: The recording.
        about: The step's row.
        nested: The rows of the steps directly inside of it.
        lines: Its events as they are stored.
        blobs: The hashes of its blobs.
    """
    step = facts.steps[about.step - 1]
    state = state_at(facts.recording, about.step)
    return StepView(
        **about.plain(),
        address=step.call.address,
        args=step.args,
        output=step.output,
        model=model_call(step.turn) if step.turn is not None else None,
        changed=prompt_change(facts, step),
        nested=tuple(nested),
        state=state.state,
        state_changes=state.changes,
        events=tuple(line.decode("utf-8", "replace") for line in lines),
        blobs=tuple(blobs),
        pictures=step_pictures.views(facts, step),
    )


def shown_step(step: StepFacts, *, brief: bool = False) -> ShownStepView:
    """Return a step for `show --json`; brief: without the arguments and output of a model call."""
    call, turn = step.call, step.turn
    more: dict[str, Any] = {}
    if turn is None or not brief:
        more |= {"args": step.args, "output": step.output}
    if turn is not None:
        more["model"] = model_call(turn)
    if call.pieces:
        more["chunks"] = len(call.pieces)
    if call.policy:
        more["policy"] = call.policy
    if ran := commands_in(step):
        more["commands"] = [CommandView(command=one.command, exit=one.exit) for one in ran.values()]
    return ShownStepView(
        step=step.step.number,
        kind=call.kind,
        name=call.name,
        status=call.status,
        address=call.address,
        scope=call.scope,
        process=step.step.log.process,
        within=step.recording.within(step),
        began=call.began,
        duration=call.duration,
        error=step.error or None,
        **more,
    )
