"""`show`: a recording as a conversation, or one step whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from reenact.analysis.views.recording import stored_recording
from reenact.analysis.views.state import stored_state
from reenact.analysis.views.steps import shown_step
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.filter import Filter
from reenact.core.query.recording import Recording
from reenact.core.query.state import State
from reenact.core.store.local import home
from reenact.core.trust import Book, Standing
from reenact.core.trust.consent import standing_of
from reenact.core.trust.proofs import Proof, Proofs
from reenact.errors import UsageError
from reenact.verbs import interface
from reenact.verbs.interface import Cli, Context, Ref

_RANGE = re.compile(r"(\d+)(?:(-)(\d+)?)?")


class Options(interface.Options):
    """Show a recording as a conversation, or one step in full.

    Of each model call, only the messages since the previous one are shown. Calls inside a tool are indented.
    """

    common: ClassVar = (interface.HOME, interface.TEAM, interface.JSON)

    ref: Ref
    step: Annotated[
        str,
        Field(description="One step in full (7), or several (3-9, 12-)."),
        Cli(argument=True, metavar="[STEP]"),
    ] = ""
    filter: Annotated[
        str, Field(description="Only steps that match: tool:cancel_order and error …"), Cli(metavar="FILTER")
    ] = ""
    full: Annotated[bool, Field(description="Show long texts in full."), Cli(names=("--full", "-f"))] = False
    raw: Annotated[bool, Field(description="Print the stored events, one JSON object per line.")] = False
    state: Annotated[bool, Field(description="Show the tracked state before STEP, or at the end.")] = False
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
        standing: Its origin.
        proof: Its proof, if it has one.
        within: The numbers of the steps of the option `step`.
        chosen: Those of them that match the filter.
        state: The tracked state, if that is what is to be shown.
    """

    options: Options
    facts: RecordingFacts
    standing: Standing
    proof: Proof | None
    within: Sequence[int]
    chosen: Sequence[int]
    state: State | None

    @property
    def whole(self) -> bool:
        """All steps are shown."""
        return not self.options.step and not self.options.filter

    def tree(self) -> Any:
        """Return the state, a step or the recording as a view; None for lines and pictures."""
        if self.state is not None:
            return stored_state(self.facts.recording, self.state)
        if self.options.raw or self.options.pictures is not None:
            return None
        if self.options.step.isdigit():
            return shown_step(self.facts.steps[self.chosen[0] - 1])
        return stored_recording(self.facts, self.chosen, self.standing, self.proof)


def run(options: Options, context: Context) -> Result:
    """Read the recording.

    Raises RecordingError, FilterError, or UsageError for a step that it does not have.
    """
    step = options.step
    if options.filter and step.isdigit():
        raise UsageError(f"step {step} is one step: --filter chooses among several (3-9, or all)")
    wanted = Filter(options.filter)
    with context.opened() as (store, _):
        facts = RecordingFacts(store.load(options.ref))
    chosen: Sequence[int]
    within = chosen = _chosen(step, facts.recording)
    if options.state and step and not step.isdigit():
        raise UsageError(f"--state is that of one step (7), or without one that of the end; not of {step}")
    state = facts.recording.state(int(step) if step else None) if options.state else None
    if options.filter:
        chosen = [number for number in facts.where(wanted) if number in within]
    standing = standing_of(facts.recording, home(context.home))
    proof = Proofs(Book(home(context.home))).of(facts.recording.id, facts.recording.path)
    return Result(options, facts, standing, proof, within, chosen, state)


def _chosen(step: str, recording: Recording) -> range:
    last = len(recording.steps)
    if not step:
        return range(1, last + 1)
    match = _RANGE.fullmatch(step)
    if match is None:
        raise UsageError(f"'{step}' is no step: give a number (7), or a range (3-9, 12-)")
    first = int(match[1])
    until = last if match[2] and not match[3] else int(match[3] or first)
    if not 1 <= first <= last or until < first:
        there = f"its steps go from 1 to {last}" if last else "it has no steps"
        raise UsageError(f"recording {recording.id} has no step {step}: {there}")
    return range(first, min(until, last) + 1)
