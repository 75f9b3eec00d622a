"""The state of a debugged program for the console, as texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pydantic import BaseModel
from rich.text import Text

from reenact.analysis.views.difference import recorded_and_actual
from reenact.analysis.views.text import cut, one_line, visible
from reenact.analysis.views.values import literal_or_text, pretty
from reenact.analysis.views.verdict import as_options, lines, word
from reenact.core.model.event import Tree
from reenact.core.model.plain import plain
from reenact.core.query.facts import RecordingFacts
from reenact.errors import Mismatch
from reenact.run.debugger import debugger_views
from reenact.run.debugger.machine import Machine, MachineState, Phase
from reenact.run.debugger.orders import START, ProgramPlace

_LONGEST = 20_000
"""Most characters of one value that are shown."""

_MOST = 60
"""Most differences that are shown."""


class At(BaseModel):
    """The question of a step, before its answer; `extra` counts questions beyond the recording."""

    step: int
    extra: int


class Point(BaseModel):
    """A breakpoint, and the recorded steps that it matches."""

    text: str
    steps: list[int]


class Named(BaseModel):
    """A value with its name, as text."""

    name: str
    text: str


class Part(BaseModel):
    """A piece of a text; `differs`: the other text does not have it."""

    text: str
    differs: bool = False


class Differing(BaseModel):
    """A difference between a recorded and an actual value."""

    path: str
    recorded: list[Part]
    actual: list[Part]


class Left(BaseModel):
    """The place where the program no longer matches its recording."""

    kind: str
    step: int | None
    address: str
    detail: str
    hint: str
    differing: list[Differing]


class Judged(BaseModel):
    """The result of a replay."""

    word: str
    faithful: bool
    lines: list[str]


class Asked(BaseModel):
    """The question that the program asks now; `label` is empty if there is none."""

    label: str
    address: str
    args: list[Named]
    stack: list[str]


class Tracked(BaseModel):
    """One tracked name: its value, true `now` if it is the program's own, and its differences."""

    name: str
    text: str
    now: bool
    note: str
    otherwise: list[Differing]


class Standing(BaseModel):
    """The state of the program for a page. `version` rises with every change.

    `inside`: true if steps were recorded inside of the step where it is stopped. `differing`: the ignored differences
    of its question there. `changed`: the changes in the tracked state since the last stop.
    """

    version: int
    recording: str
    name: str
    steps: int
    note: str
    phase: Phase
    at: At
    why: str
    status: str
    inside: bool
    passed: list[int]
    breakpoints: list[Point]
    stops: list[int]
    edits: list[int]
    opened: list[int]
    asked: Asked
    differing: list[Differing]
    changed: list[Differing]
    left: Left | None
    exit: int | None
    verdict: Judged | None
    written: int
    own_prompt: bool


def standing(machine: Machine, facts: RecordingFacts, before: Mapping[str, Tree]) -> Standing:
    """Return the state of the program.

    `before` is the tracked state at the previous stop. The session sets version, note and output.
    """
    state, recording = machine.state, facts.recording
    here = state.at.step
    stands = state.phase in (Phase.STOPPED, Phase.DEPARTED)
    differing: Iterable[Mismatch] = ()
    if stands and here and not state.at.extra and state.divergence is None:
        differing = debugger_views.compared(facts.steps[here - 1].step, state.actual)
    now = state.actual.state
    return Standing(
        version=0,
        recording=recording.id,
        name=visible(recording.agent),
        steps=len(facts.steps),
        note="",
        phase=state.phase,
        at=At(step=here, extra=state.at.extra),
        why=one_line(state.why),
        status=status(state),
        inside=bool(here) and any(facts.within(step) == here for step in facts.steps[here:]),
        passed=sorted({place.step for place in state.passed if not place.extra}),
        breakpoints=[
            Point(text=visible(point.text), steps=sorted(machine.matching(point)))
            for point in state.breakpoints
        ],
        stops=sorted(machine.stops()),
        edits=sorted(state.edits),
        opened=sorted(state.opened),
        asked=_question(state),
        differing=_differing(differing),
        changed=_differing(debugger_views.changed(before, now) if before and now else ()),
        left=_divergence(state),
        exit=state.exit,
        verdict=_judged(state),
        written=0,
        own_prompt=state.phase is Phase.STOPPED and state.why.startswith("breakpoint()"),
    )


def status(state: MachineState) -> str:
    """Describe the position of the program in one line."""
    if state.phase is Phase.RUNNING:
        return "running"
    if state.phase is Phase.READING:
        return f"reading {state.at}"
    if state.phase is Phase.DEPARTED:
        return one_line(str(state.divergence))
    if state.phase is Phase.STOPPED:
        if state.at.extra and not state.actual.label:
            return f"stopped after step {state.at.step}, between questions"
        return f"stopped before {state.at}" if state.at != START else "stopped at its beginning"
    return one_line(state.why)


def tracked(facts: RecordingFacts, state: MachineState, number: int) -> list[Tracked]:
    """Return the tracked state at a step, as texts.

    The values are the live ones if the program is stopped there, else the recorded ones.
    """
    recorded = facts.recording.state(number)
    now = state.actual.state if state.at == ProgramPlace(number) else {}
    found = []
    for name in dict.fromkeys((*now, *recorded)):
        taken = recorded.of(name) if name in recorded else None
        tree = plain(now[name] if name in now else recorded.tree(name))
        otherwise: Iterable[Mismatch] = ()
        if name in now and taken is not None and taken.exact:
            otherwise = debugger_views.changed({name: plain(recorded.tree(name))}, {name: tree})
        note = "as it is now" if name in now else "as recorded"
        if name not in now and taken is not None and not taken.exact:
            when = f"as of step {taken.step}" if taken.step is not None else "as of the end"
            note = f"recorded {when}; it may have changed since"
        found.append(
            Tracked(
                name=one_line(name),
                text=_text(pretty(tree)),
                now=name in now,
                note=note,
                otherwise=_differing(otherwise),
            )
        )
    return found


def _question(state: MachineState) -> Asked:
    actual = state.actual
    return Asked(
        label=one_line(actual.label),
        address=one_line(actual.address),
        args=[
            Named(
                name=one_line(name),
                text=_text(literal_or_text(value) if isinstance(value, str) else pretty(plain(value))),
            )
            for name, value in actual.args.items()
        ],
        stack=[one_line(frame) for frame in actual.stack],
    )


def _divergence(state: MachineState) -> Left | None:
    found = state.divergence
    if found is None:
        return None
    return Left(
        kind=found.kind.value, step=found.step, address=one_line(found.address), detail=one_line(found.detail),
        hint=one_line(as_options(found.hint)), differing=_differing(found.mismatches),
    )  # fmt: skip


def _judged(state: MachineState) -> Judged | None:
    verdict = state.verdict
    if verdict is None:
        return None
    told = [visible(line) for line in lines(verdict)]
    return Judged(word=word(verdict), faithful=verdict.faithful, lines=told)


def _differing(found: Iterable[Mismatch]) -> list[Differing]:
    shown = []
    for mismatch in list(found)[:_MOST]:
        old, new = recorded_and_actual(mismatch)
        shown.append(
            Differing(path=one_line(mismatch.path), recorded=list(_parts(old)), actual=list(_parts(new)))
        )
    return shown


def _parts(text: Text) -> Iterator[Part]:
    done = 0
    for span in text.spans:
        if span.start > done:
            yield Part(text=visible(text.plain[done : span.start]))
        yield Part(text=visible(text.plain[span.start : span.end]), differs=True)
        done = span.end
    if done < len(text.plain):
        yield Part(text=visible(text.plain[done:]))


def _text(text: str) -> str:
    return visible(cut(text, _LONGEST))
