"""Breakpoints from code: `reenact.replay(id, breakpoints=[...], on_break=fn)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any

from reenact.core.boundary import entered, tracked
from reenact.core.model import codec
from reenact.core.model.log import CallRecord
from reenact.core.query.recorded_run import RecordedRun, Step
from reenact.core.replay.question import Question
from reenact.core.replay.replayer import Replayer
from reenact.core.replay.watch import Edit
from reenact.errors import Divergence, UsageError
from reenact.run.debugger.breakpoint import Breakpoint, Matching, breakpoint_of
from reenact.run.debugger.orders import ProgramPlace, Until
from reenact.run.debugger.watcher import Watcher, frames, here


class Breakpoints:
    """The breakpoints of a replay: given before, or changed while it stops."""

    def __init__(self, recording: RecordedRun, written: Iterable[str | int] = ()) -> None:
        self._matching = Matching(recording)
        self._points: list[Breakpoint] = [breakpoint_of(text) for text in written]

    def add(self, written: str | int) -> None:
        """Add a breakpoint. Raises FilterError or UsageError.

        It is a step's number, `error`, `divergence`, or a filter.
        """
        self._points.append(breakpoint_of(written))

    def remove(self, written: str | int) -> None:
        """Remove a breakpoint. Raises UsageError if there is none."""
        point = breakpoint_of(written)
        if point not in self._points:
            raise UsageError(f"there is no breakpoint {written}")
        self._points.remove(point)

    def __iter__(self) -> Any:
        return iter(point.text for point in self._points)

    def __len__(self) -> int:
        return len(self._points)

    @property
    def until(self) -> Until:
        """Return the next stops of the program."""
        return Until(
            steps=self._matching.steps(self._points),
            filters=tuple(point.text for point in self._points if point.filter is not None),
            states=tuple(point.state for point in self._points if point.state is not None),
        )

    @property
    def on_divergence(self) -> bool:
        """True if one of them stops at a divergence."""
        return any(point.on_divergence for point in self._points)

    def why(self, step: int) -> str:
        """Return the text of the breakpoint that stops at a step."""
        point = self._matching.at(step, self._points)
        return "" if point is None else point.text


class Stop:
    """A program stopped at a breakpoint, with a question that waits for its answer.

    Attributes:
        step: The recorded step's number; of a question that the recording does not have, the one before it.
        recorded: The recorded step, or None if the recording has none.
        why: The breakpoint, as it was written.
        divergence: The divergence, if it is the reason for the stop.
        breakpoints: The breakpoints; changes hold from here on.
        frame: The program's own innermost frame.
    """

    def __init__(
        self,
        replayer: Replayer,
        question: Question | None,
        *,
        step: int,
        recorded: Step | None,
        why: str,
        breakpoints: Breakpoints,
        frame: FrameType,
        divergence: Divergence | None = None,
    ) -> None:
        self._replayer = replayer
        self._question = question
        self.step = step
        self.recorded = recorded
        self.why = why
        self.breakpoints = breakpoints
        self.frame = frame
        self.divergence = divergence

    @property
    def label(self) -> str:
        """`kind:name` of the question."""
        return self._question.label if self._question is not None else ""

    @property
    def state(self) -> Mapping[str, Any]:
        """The tracked state at this moment, by name, with unrecorded changes."""
        found = tracked.live(self._question.scope.run) if self._question is not None else {}
        return {name: codec.rebuild(tree) for name, tree in found.items()}

    @property
    def args(self) -> Mapping[str, Any]:
        """The arguments as the program passes them now, secrets replaced."""
        if self._question is None:
            return {}
        return {name: codec.rebuild(tree) for name, tree in self._question.trees.items()}

    def answer(self, value: Any) -> None:
        """Give the program this value instead of the recorded answer."""
        self._replayer.edits[self._call().number] = Edit(self._replayer.terms.tree(value))

    def fail(self, error: BaseException) -> None:
        """Let the call raise this error instead of its recorded answer."""
        self._replayer.edits[self._call().number] = Edit(error=codec.encode_error(error, codec.Encoder()))

    def open(self) -> None:
        """Run this call for real; its recorded inner calls are still answered from the recording."""
        self._replayer.opened.add(self._call().number)

    def pdb(self) -> None:
        """Open pdb in the program's own frame."""
        from reenact.run.debugger.shell import PdbShell  # noqa: PLC0415 - pdb, which few replays need

        PdbShell(self._replayer.turnstile).open_at(self.frame)

    def _call(self) -> CallRecord:
        if self.recorded is None or self.divergence is not None:
            raise UsageError(f"{self.label or 'this question'} has no recorded answer to be changed")
        return self.recorded.call

    def __repr__(self) -> str:
        return f"<Stop at step {self.step}, {self.label or 'the end'}: {self.why}>"


class Breaks(Watcher):
    """Calls a function at every breakpoint, in the program's own thread."""

    def __init__(
        self,
        replayer: Replayer,
        recording: RecordedRun,
        breakpoints: Breakpoints,
        on_break: Callable[[Stop], object],
    ) -> None:
        log = replayer.cursor.log
        super().__init__(replayer, recording.numbers(log))
        self._recording = recording
        self._breakpoints = breakpoints
        self._on_break = on_break
        self.until = breakpoints.until

    def stopped(self, place: ProgramPlace, why: str, question: Question, call: CallRecord | None) -> None:
        recorded = self._recording.step(place.step) if call is not None else None
        self._hand(place, question, recorded, why or self._breakpoints.why(place.step), None)

    def left_recording(self, place: ProgramPlace, divergence: Divergence, question: Question | None) -> None:
        if self._breakpoints.on_divergence:
            step = divergence.step
            known = step is not None and step <= len(self._recording.steps)
            recorded = self._recording.step(step) if known and step is not None else None
            self._hand(place, question, recorded, "divergence", divergence)

    def _hand(
        self,
        place: ProgramPlace,
        question: Question | None,
        recorded: Step | None,
        why: str,
        divergence: Divergence | None,
    ) -> None:
        stop = Stop(
            self.replayer,
            question,
            step=recorded.number if recorded is not None else place.step,
            recorded=recorded,
            why=why,
            breakpoints=self._breakpoints,
            frame=(frames(here()) or [here()])[-1],
            divergence=divergence,
        )
        with entered(None):
            self._on_break(stop)
        self.until = self._breakpoints.until
