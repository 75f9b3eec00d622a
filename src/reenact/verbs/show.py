"""`show`: a recording as a conversation, or one step whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from reenact.analysis.views.declared_state import ComparedStateView, compared_state, stored_state
from reenact.analysis.views.file_tree import FileDifferencesView, step_differences
from reenact.analysis.views.steps import StepNumbersView, shown_step
from reenact.analysis.views.whole_recording import stored_recording
from reenact.core.dataclass import dataclass
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.filter import Filter
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.query.state import State
from reenact.core.store.local import home
from reenact.core.trust import Book, Provenance
from reenact.core.trust.consent import standing_of
from reenact.core.trust.proofs import Proof, Proofs
from reenact.errors import UsageError
from reenact.verbs import interface, marks
from reenact.verbs.fields import Convert, Field
from reenact.verbs.interface import Context, VerbRoute
from reenact.verbs.marks import Cli, Ref, WireType

RANGE = re.compile(r"(\d+)(?:(-)(\d+)?)?")
"""A step, or a range of steps: 7, 3-9, 12-."""


class Options(interface.Options):
    """Show a recording as a conversation, or one step in full.

    Of each model call, only the messages since the previous one are shown. Calls inside a tool are indented.
    """

    common: ClassVar = (marks.HOME, marks.TEAM, marks.JSON)

    ref: Ref
    step: Annotated[
        str,
        Field(description="A step (7), which is shown in full, or several (3-9, 12-)."),
        Convert(str),
        Cli(argument=True, metavar="[STEP]"),
        WireType(of=int | None, default=None, ge=1, le=1 << 31),
    ] = ""
    filter: Annotated[
        str,
        Field(description="Only steps that match: tool:cancel_order and error …"),
        Cli(metavar="FILTER"),
        WireType(max_length=4000),
    ] = ""
    full: Annotated[
        bool, Field(description="Show long texts in full."), Cli(names=("--full", "-f")), marks.ANYONE
    ] = False
    raw: Annotated[
        bool, Field(description="Print the stored events, one JSON object per line."), marks.ANYONE
    ] = False
    state: Annotated[
        bool, Field(description="Show the tracked state before STEP, or at the end."), marks.ANYONE
    ] = False
    since: Annotated[
        int | None,
        Field(ge=1, description="With the state: also its differences from that before this step."),
        Cli(offered=False),
        WireType(le=1 << 31),
    ] = None
    files: Annotated[
        bool, Field(description="Show what STEP, or the whole run, changed in files."), marks.ANYONE
    ] = False
    pictures: Annotated[
        Path | None,
        Field(description="Write the pictures of the steps to this folder."),
        Cli(metavar="FOLDER"),
    ] = None


@dataclass(frozen=True)
class Result(interface.Result):
    """The steps to show.

    Attributes:
        options: The options of the command.
        facts: The recording.
        home: The folder with the keys of this machine.
        within: The numbers of the steps of the option `step`.
        chosen: Those of them that match the filter.
        state: The tracked state, if that is what is to be shown.
        before: The tracked state to compare it with.
        files: The changed files, if they are to be shown.
    """

    options: Options
    facts: RecordingFacts
    home: Path
    within: Sequence[int]
    chosen: Sequence[int]
    state: State | None
    before: State | None
    files: FileDifferencesView | None = None

    @property
    def standing(self) -> Provenance:
        """The recording's origin."""
        return standing_of(self.facts.recording, self.home)

    @property
    def proof(self) -> Proof | None:
        """The recording's proof, if it has one."""
        return Proofs(Book(self.home)).of(self.facts.recording.id, self.facts.recording.path)

    @property
    def whole(self) -> bool:
        """All steps are shown."""
        return not self.options.step and not self.options.filter

    def tree(self) -> Any:
        """Return the state, files, a step or the recording as a view; None for lines and pictures."""
        if self.state is not None:
            return stored_state(self.facts.recording, self.state)
        if self.files is not None:
            return self.files
        if self.options.raw or self.options.pictures is not None:
            return None
        if self.options.step.isdigit():
            return shown_step(self.facts.steps[self.chosen[0] - 1])
        return stored_recording(self.facts, self.chosen, self.standing, self.proof)


def run(options: Options, context: Context) -> Result:
    """Read the recording.

    Raises RecordingError, FilterError, or StepNotFound.
    """
    step = options.step
    if options.filter and step.isdigit():
        raise UsageError(f"step {step} is one step: --filter chooses among several (3-9, or all)")
    wanted = Filter(options.filter)
    (facts,) = context.facts(options.ref)
    chosen: Sequence[int]
    within = chosen = _chosen(step, facts.recording)
    if options.state and step and not step.isdigit():
        raise UsageError(f"--state is that of one step (7), or without one that of the end; not of {step}")
    if options.files and ((step and not step.isdigit()) or options.state):
        raise UsageError(
            "--files shows what one step (show ID 7 --files) or the whole run changed, without --state"
        )
    files = step_differences(facts.recording, int(step) if step else None) if options.files else None
    state = before = None
    if options.state:
        state = facts.recording.state(int(step) if step else None)
        before = facts.recording.state(options.since) if options.since else None
    if options.filter:
        chosen = [number for number in facts.where(wanted) if number in within]
    return Result(options, facts, home(context.home), within, chosen, state, before, files)


def state(result: Result) -> ComparedStateView:
    """Return the tracked values at a step or the end, and differences from another step."""
    assert result.state is not None
    return compared_state(result.state, result.before)


def search(result: Result) -> StepNumbersView:
    """The numbers of the steps that a filter means; a text is in quotes."""
    return StepNumbersView(steps=tuple(result.chosen))


def file_changes(result: Result) -> FileDifferencesView:
    """Return what a step, or the whole run, changed in files."""
    assert result.files is not None
    return result.files


ROUTES = (
    VerbRoute("/recordings/{id}/files/changes", file_changes, {"step": "step"}, {"files": True}),
    VerbRoute("/recordings/{id}/state", state, {"step": "step", "since": "since"}, {"state": True}),
    VerbRoute("/recordings/{id}/search", search, {"q": "filter"}),
)


def _chosen(step: str, recording: RecordedRun) -> range:
    last = len(recording.steps)
    if not step:
        return range(1, last + 1)
    match = RANGE.fullmatch(step)
    if match is None:
        raise UsageError(f"'{step}' is no step: give a number (7), or a range (3-9, 12-)")
    first = recording.step(int(match[1])).number
    until = last if match[2] and not match[3] else int(match[3] or first)
    if until < first:
        raise UsageError(f"'{step}' is no range of steps: {until} comes before {first}")
    return range(first, min(until, last) + 1)
