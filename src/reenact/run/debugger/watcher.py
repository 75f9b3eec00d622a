"""Follow a replay from question to question, and find the places where it is to stop."""

from __future__ import annotations

import os
import sys
import threading
from abc import abstractmethod
from pathlib import Path
from types import FrameType

from reenact.adapters.stdlib import callers
from reenact.core.boundary import Run, tracked
from reenact.core.model import codec
from reenact.core.model.event import Outcome
from reenact.core.model.log import CallRecord
from reenact.core.model.plain import plain
from reenact.core.query.filter import Filter
from reenact.core.replay.question import Question
from reenact.core.replay.replayer import Replayer
from reenact.errors import Divergence
from reenact.run.debugger.breakpoint import Unknown
from reenact.run.debugger.orders import START, Actual, ProgramPlace, Until

_STACK = 40


class Watcher:
    """Follows a replay, and stops the program at certain places.

    Args:
        replayer: The replay's handler; `attach` makes it call this watcher.
        steps: The step number of each of its calls.
    """

    def __init__(self, replayer: Replayer, steps: dict[int, int]) -> None:
        self.replayer = replayer
        self.until = Until()
        self.places: list[ProgramPlace] = []
        """All questions so far, the last one being asked now."""
        self._steps = steps
        self._filters: dict[str, Filter] = {}
        self._state: dict[str, bytes] = {}
        self._run: Run | None = None
        # One thread at a time: the others wait while the first is stopped.
        self._lock = threading.RLock()

    def attach(self) -> None:
        """Begin to follow the replay."""
        self.replayer.state.watch = self

    @abstractmethod
    def stopped(self, place: ProgramPlace, why: str, question: Question, call: CallRecord | None) -> None:
        """Called when the program stops at a place; it goes on when this returns."""

    @abstractmethod
    def left_recording(self, place: ProgramPlace, divergence: Divergence, question: Question | None) -> None:
        """Called when the program leaves its recording; it goes on when this returns."""

    def arrived(self, place: ProgramPlace) -> None:
        """Called when the program has come to a question, whether it stops there or not."""

    def actual(self, question: Question | None, frame: FrameType | None) -> Actual:
        """Return a question as an interface shows it, with the tracked state at that moment."""
        stack = tuple(f"{shortened(f)}:{f.f_lineno} in {f.f_code.co_name}" for f in frames(frame))
        found = tracked.live(self._run) if self._run is not None else {}
        state = {name: plain(self.replayer.terms.clean(tree)) for name, tree in found.items()}
        if question is None:
            return Actual(stack=stack, state=state)
        args = {name: plain(tree) for name, tree in question.trees.items()}
        return Actual(question.label, question.address, args, stack, state)

    # -- calls of the replayer -------------------------------------------------------------------------------

    def asked(self, question: Question, call: CallRecord | None) -> None:
        """Take a question that is about to be answered."""
        with self._lock:
            self._run = question.scope.run
            place = self._next(call)
            self.places.append(place)
            self.arrived(place)
            why = self._why(place, question, call)
            if why is not None:
                self.stopped(place, why, question, call)
                if self.until.states:
                    # The user may have changed the watched names just now: they count from here on.
                    self._state = self._marks(question.scope.run)

    def departed(self, divergence: Divergence, question: Question | None) -> None:
        """Take the departure of the program from its recording."""
        with self._lock:
            self.left_recording(self._next(None), divergence, question)

    def left(self, call: int | None, outcome: Outcome) -> None:
        """Note that a call that ran for real has returned: the next question shows its result."""

    # -- within ----------------------------------------------------------------------------------------------

    def _next(self, call: CallRecord | None) -> ProgramPlace:
        if call is not None:
            return ProgramPlace(self._steps[call.number])
        last = self.places[-1] if self.places else START
        return ProgramPlace(last.step, last.extra + 1)

    def _why(self, place: ProgramPlace, question: Question, call: CallRecord | None) -> str | None:
        """Return the reason to stop here (often empty), or None."""
        until = self.until
        if until.states and (changed := self._changed(question.scope.run)):
            return f"state {', '.join(changed)} has changed"
        if until.next or place == until.place or (call is not None and place.step in until.steps):
            return ""
        if until.beyond is not None and not self._inside(question.scope.call, until.beyond):
            return ""
        if call is None:
            unknown = Unknown(question)
            for text in until.filters:
                if text not in self._filters:
                    self._filters[text] = Filter(text)
                if self._filters[text].matches(unknown):
                    return f"breakpoint {text}, at a question that is not recorded"
        return None

    def _changed(self, run: Run) -> list[str]:
        """Return the watched parts of the state that have changed since the last question."""
        before, self._state = self._state, self._marks(run)
        now = self._state
        watched = now if "*" in self.until.states else self.until.states
        return [name for name in watched if name in before and before[name] != now.get(name)]

    def _marks(self, run: Run) -> dict[str, bytes]:
        return {name: codec.dumps(tree) for name, tree in tracked.live(run).items()}

    def _inside(self, call: int | None, step: int) -> bool:
        """Return True if a call, or one that encloses it, is that step."""
        calls = self.replayer.cursor.log.calls
        while call is not None:
            if self._steps.get(call) == step:
                return True
            call = calls[call].within if call in calls else None
        return False


def frames(frame: FrameType | None) -> list[FrameType]:
    """Return the program's own frames, innermost last; those of libraries if it has none."""
    found: list[FrameType] = []
    others: list[FrameType] = []
    while frame is not None:
        if callers.kind_of(frame) == callers.OWN and not frame.f_code.co_filename.startswith(callers.OURS):
            found.append(frame)
        elif not frame.f_code.co_filename.startswith((callers.OURS, "<frozen ")):
            others.append(frame)
        frame = frame.f_back
    return (found or others)[:_STACK][::-1]


def here() -> FrameType:
    """Return the caller's frame."""
    return sys._getframe(1)


def shortened(frame: FrameType) -> str:
    """Return a frame's file as the shortest path from here."""
    path = frame.f_code.co_filename
    short = os.path.relpath(path) if path.startswith(f"{Path.cwd()}{os.sep}") else path
    return min(short, path, key=len)
