"""The debugger as a state machine: commands and reports in; a new state and orders out.

It has the whole recording, so it plans every stop in advance, also backwards: to go back, the program runs again to an
earlier place. With the same edits, the state at a place does not depend on the way to it; tests/run/debugger checks
this with random walks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import Enum

from reenact.core.dataclass import dataclass
from reenact.core.model.divergence import Verdict
from reenact.core.query.recorded_run import RecordedRun, Step
from reenact.core.replay.watch import Edit
from reenact.errors import Divergence, UsageError
from reenact.run.debugger.breakpoint import Breakpoint, Matching, breakpoint_of
from reenact.run.debugger.orders import (
    NOTHING,
    START,
    Actual,
    Again,
    Departed,
    Ended,
    Go,
    Interrupt,
    Order,
    ProgramPlace,
    Report,
    Shell,
    Stopped,
    Until,
)


class Phase(Enum):
    """The phases of the program."""

    READING = "reading"
    """No program runs: the recording is only read."""
    RUNNING = "running"
    STOPPED = "stopped"
    """It waits with a question for its answer."""
    DEPARTED = "departed"
    """It waits where it leaves its recording."""
    ENDED = "ended"
    DIED = "died"
    """The program ended without a report: killed, or by a signal."""


@dataclass(frozen=True, slots=True)
class MachineState:
    """The whole state of the machine, for every interface.

    Attributes:
        phase: The program's phase.
        at: The current place (ENDED, DIED: the last one).
        passed: The places before that in this execution.
        why: The reason of the stop, for the user.
        actual: The current question as the program asks it now.
        breakpoints: The stops of `go`.
        edits: Answers in place of the recorded ones, by step.
        opened: The steps that run for real, to look inside.
        divergence: The divergence, once there is one.
        exit: The program's exit status, once it has ended.
        verdict: The replay's verdict, once it has ended.
    """

    phase: Phase
    at: ProgramPlace = START
    passed: tuple[ProgramPlace, ...] = ()
    why: str = ""
    actual: Actual = NOTHING
    breakpoints: tuple[Breakpoint, ...] = ()
    edits: Mapping[int, Edit] = field(default_factory=dict)
    opened: frozenset[int] = frozenset()
    divergence: Divergence | None = None
    exit: int | None = None
    verdict: Verdict | None = None


_GONE = (Phase.ENDED, Phase.DIED)


class Machine:
    """One debugging session over a recording.

    Args:
        recording: The debugged recording.
        reading: There is no program: walk the recorded steps only.

    Every command returns the orders to carry out, and raises UsageError (or FilterError) if it is not possible: the
    state is then as before.
    """

    def __init__(self, recording: RecordedRun, *, reading: bool = False) -> None:
        self.recording = recording
        self.state = MachineState(Phase.READING if reading else Phase.ENDED, why="not started")
        self._matching = Matching(recording)
        self._numbers = {(id(step.log), step.call.number): step.number for step in recording}
        if reading:
            self._read(1 if recording.steps else 0)

    # -- commands --------------------------------------------------------------------------------------------

    def start(self) -> list[Order]:
        """Run the program (again) to its first question."""
        if self.state.phase is Phase.READING:
            self._read(1)
            return []
        return self._again(Until(next=True), before=START)

    def step(self) -> list[Order]:
        """Run to the next question, also inside an opened call."""
        return self._forward(Until(next=True), self.state.at.step + 1)

    def over(self) -> list[Order]:
        """Run to the next question that is not inside this one."""
        here = self.state.at.step
        return self._forward(Until(beyond=here), self._after(here))

    def out(self) -> list[Order]:
        """Run to the next question outside of the call that contains this one."""
        within = self._parent(self.state.at.step)
        if within is None:
            raise UsageError("this step is not inside another; `over` and `step` go on")
        return self._forward(Until(beyond=within), self._after(within))

    def into(self) -> list[Order]:
        """Run this step's call for real, and stop at the first question inside it."""
        here = self.state.at.step
        if not self._inner(here):
            raise UsageError(f"nothing was recorded inside step {here}; `step` goes on")
        if self.state.phase is not Phase.READING:
            self._standing("step into it")
            self._set(opened=self.state.opened | {here})
        return self._forward(Until(next=True), here + 1)

    def go(self) -> list[Order]:
        """Run to the next breakpoint, the place where the program leaves its recording, or its end."""
        steps = self._matching.steps(self.state.breakpoints)
        ahead = min((n for n in steps if n > self.state.at.step), default=None)
        if self.state.phase is Phase.READING and ahead is None:
            self._read(len(self.recording.steps))
            self._set(why="the recording's last step; no breakpoint on the way")
            return []
        return self._forward(self._to_breakpoints(), ahead or 0)

    def run_to(self, step: int) -> list[Order]:
        """Run on, or back, to a step. Calls that contain it are opened on the way."""
        self._known(step)
        if self.state.phase is Phase.READING:
            self._read(step)
            return []
        self._not_running()
        ancestors = self._ancestors(step)
        fresh = ancestors - self.state.opened
        self._set(opened=self.state.opened | ancestors)
        target = ProgramPlace(step)
        if target == self.state.at and self.state.phase is Phase.STOPPED and not fresh:
            return []
        behind = [place.step for place in self.state.passed]
        if self.state.phase is not Phase.STOPPED or step in behind or fresh & {*behind}:
            return self._again(Until(place=target), before=ProgramPlace(min({step, *fresh})))
        return self._run(Until(place=target))

    def back(self) -> list[Order]:
        """Go back to the question before this one."""
        if self.state.phase is Phase.READING:
            if self.state.at.step <= 1:
                raise UsageError("this is the first step")
            self._read(self.state.at.step - 1)
            return []
        self._not_running()
        earlier = self._earlier()
        if not earlier:
            raise UsageError("this is the program's first step")
        return self._again(Until(place=earlier[-1]), before=earlier[-1])

    def reverse(self) -> list[Order]:
        """Go back to the last breakpoint before this place, or to the first question."""
        steps = self._matching.steps(self.state.breakpoints)
        if self.state.phase is Phase.READING:
            behind = [n for n in steps if n < self.state.at.step]
            self._read(max(behind, default=1))
            return []
        self._not_running()
        earlier = self._earlier()
        if not earlier:
            raise UsageError("this is the program's first step")
        hit = next((place for place in reversed(earlier) if not place.extra and place.step in steps), None)
        target = hit or earlier[0]
        return self._again(Until(place=target), before=target)

    def break_at(self, text: str | int) -> list[Order]:
        """Add a breakpoint."""
        point = breakpoint_of(text)
        if point.step is not None:
            self._known(point.step)
        if point not in self.state.breakpoints:
            self._set(breakpoints=(*self.state.breakpoints, point))
        return []

    def clear(self, text: str | int | None = None) -> list[Order]:
        """Remove a breakpoint, or all of them."""
        kept = tuple(
            point for point in self.state.breakpoints if text is not None and point.text != str(text).strip()
        )
        if text is not None and len(kept) == len(self.state.breakpoints):
            known = ", ".join(point.text for point in self.state.breakpoints) or "none"
            raise UsageError(f"there is no breakpoint {text}; there are: {known}")
        self._set(breakpoints=kept)
        return []

    def edit(self, step: int, edit: Edit | None) -> list[Order]:
        """Give that step another answer, or (None) its own again. Go back there if it has passed."""
        self.editable(step)
        edits = {number: known for number, known in self.state.edits.items() if number != step}
        if edit is not None:
            edits[step] = edit
        self._set(edits=edits)
        past = any(place.step == step and not place.extra for place in self._earlier())
        return self._again(Until(place=ProgramPlace(step)), before=ProgramPlace(step)) if past else []

    def editable(self, step: int) -> None:
        """Raise UsageError if the answer of that step cannot be edited now: before an editor opens."""
        self._known(step)
        if self.state.phase is Phase.READING:
            raise UsageError(
                "there is no program here that an edited answer could reach; say which one to run"
            )
        self._not_running()

    def interrupt(self) -> list[Order]:
        """Stop the program at its present place."""
        return [Interrupt()] if self.state.phase is Phase.RUNNING else []

    def shell(self) -> list[Order]:
        """Open pdb in the program's own frame."""
        self._standing("open pdb in it")
        return [Shell()]

    # -- reports ---------------------------------------------------------------------------------------------

    def hear(self, report: Report) -> None:
        """Apply a report of the driver about the program."""
        if isinstance(report, Stopped):
            point = (
                self._matching.at(report.place.step, self.state.breakpoints)
                if not report.place.extra
                else None
            )
            why = report.why or (f"breakpoint {point.text}" if point is not None else "")
            self._set(
                phase=Phase.STOPPED, at=report.place, passed=report.passed, actual=report.actual, why=why
            )
        elif isinstance(report, Departed):
            self._set(
                phase=Phase.DEPARTED,
                at=report.place,
                passed=report.passed,
                actual=report.actual,
                divergence=report.divergence,
                why="the program no longer matches its recording",
            )
        elif isinstance(report, Ended):
            last = report.passed[-1] if report.passed else START
            why = "the program has ended" + (f" with exit status {report.exit}" if report.exit else "")
            self._set(
                phase=Phase.ENDED,
                at=last,
                passed=report.passed,
                actual=NOTHING,
                exit=report.exit,
                verdict=report.verdict,
                why=why,
            )
        else:
            passed = (*self.state.passed, self.state.at) if self.state.at.step else self.state.passed
            self._set(phase=Phase.DIED, passed=passed, actual=NOTHING, why=report.text)

    # -- questions of the interfaces -------------------------------------------------------------------------

    def current(self) -> Step | None:
        """Return the recorded step at the current place, or None before the first."""
        return self.recording.step(self.state.at.step) if self.state.at.step else None

    def stops(self) -> frozenset[int]:
        """The steps at which a breakpoint stops."""
        return self._matching.steps(self.state.breakpoints)

    def matching(self, point: Breakpoint) -> frozenset[int]:
        """Return the recorded steps that match a breakpoint."""
        return self._matching.steps((point,))

    # -- within ----------------------------------------------------------------------------------------------

    def _set(self, **changes: object) -> None:
        self.state = replace(self.state, **changes)  # type: ignore[arg-type]

    def _read(self, step: int) -> None:
        point = self._matching.at(step, self.state.breakpoints)
        passed = tuple(ProgramPlace(number) for number in range(1, step))
        self._set(
            at=ProgramPlace(step), passed=passed, why=f"breakpoint {point.text}" if point is not None else ""
        )

    def _forward(self, until: Until, read: int) -> list[Order]:
        """Run on. Without a program, go to step `read`."""
        if self.state.phase is Phase.READING:
            if not self.state.at.step < read <= len(self.recording.steps):
                raise UsageError("this is the recording's last step")
            self._read(read)
            return []
        if self.state.phase in _GONE:
            raise UsageError("the program is over; `back` and `reverse` go back, `start` runs it again")
        self._not_running()
        return self._run(until)

    def _run(self, until: Until) -> list[Order]:
        self._set(phase=Phase.RUNNING, why="")
        return [Go(until, self._edits(), self.state.opened)]

    def _again(self, until: Until, *, before: ProgramPlace) -> list[Order]:
        self._set(
            phase=Phase.RUNNING, why="", passed=(), at=START, divergence=None, exit=None, verdict=None,
            actual=NOTHING,
        )  # fmt: skip
        return [Again(until, before, self._edits(), self.state.opened)]

    def _edits(self) -> dict[int, Edit]:
        return dict(self.state.edits)

    def _to_breakpoints(self) -> Until:
        points = self.state.breakpoints
        return Until(
            steps=self._matching.steps(points),
            filters=tuple(point.text for point in points if point.filter is not None),
            states=tuple(point.state for point in points if point.state is not None),
        )

    def _earlier(self) -> Sequence[ProgramPlace]:
        """Return the places before this one; after the program's end, the last question, too."""
        return self.state.passed

    def _not_running(self) -> None:
        if self.state.phase is Phase.RUNNING:
            raise UsageError("the program is running; `interrupt` stops it")

    def _standing(self, what: str) -> None:
        if self.state.phase not in (Phase.STOPPED, Phase.DEPARTED):
            raise UsageError(f"the program must stand at a step to {what}; it is {self.state.phase.value}")

    def _known(self, step: int) -> None:
        process = self.recording.step(step).log.process
        if self.state.phase is not Phase.READING and process != self.recording.logs[0].process:
            raise UsageError(
                f"step {step} was asked in {process}; the debugger holds the program's first process"
            )

    def _parent(self, step: int) -> int | None:
        if not step:
            return None
        found = self.recording.step(step)
        within = found.call.within
        return None if within is None else self._numbers.get((id(found.log), within))

    def _ancestors(self, step: int) -> frozenset[int]:
        found, parent = set(), self._parent(step)
        while parent is not None:
            found.add(parent)
            parent = self._parent(parent)
        return frozenset(found)

    def _inner(self, step: int) -> bool:
        return bool(step) and any(
            self._parent(n) == step for n in range(step + 1, len(self.recording.steps) + 1)
        )

    def _after(self, step: int) -> int:
        """Return the first later step outside of that one; one beyond the last if there is none."""
        total = len(self.recording.steps)
        return next((n for n in range(step + 1, total + 1) if step not in self._ancestors(n)), total + 1)
