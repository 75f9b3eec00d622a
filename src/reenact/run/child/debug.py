"""The program's side of the debugger: it reports its position, and carries out orders."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

from reenact.core import system
from reenact.core.boundary import entered
from reenact.core.model.divergence import Verdict
from reenact.core.model.log import CallRecord
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.question import Question
from reenact.core.replay.replayer import Replayer
from reenact.errors import Divergence
from reenact.run.child.copies import Copies
from reenact.run.child.debugger_link import DebuggerLink
from reenact.run.debugger import debugger_protocol
from reenact.run.debugger.orders import START, ProgramPlace
from reenact.run.debugger.shell import PdbShell
from reenact.run.debugger.watcher import Watcher, frames, here
from reenact.run.exit import flush_output

_exit = os._exit
# The system's `_exit`: Reenact's would report the end of the program.


class Debuggee(Watcher):
    """One process of the program under the debugger.

    Args:
        line: The connection to the debugger, which has let the program begin.
        begun: The message that did so.
        replayer: The replay's handler.
        recording: The replayed recording.
        moved: Called when this process has become a copy of the one it was, with the old id.
    """

    def __init__(
        self,
        line: DebuggerLink,
        begun: dict[str, Any],
        replayer: Replayer,
        recording: RecordedRun,
        moved: Any,
    ) -> None:
        log = replayer.cursor.log
        super().__init__(replayer, recording.numbers(log))
        self._calls = {step: number for number, step in self._steps.items()}
        self._line = line
        self._shell: PdbShell | None = None
        self._standing = False
        self._copies = Copies(line, replayer, total=len(recording.steps), moved=moved)
        self._obey(begun)

    def attach(self) -> None:
        super().attach()
        if threading.current_thread() is threading.main_thread():
            signal.signal(system.INTERRUPT, self._interrupted)
            self._line.watch()
        sys.breakpointhook = self._broken

    def ended(self, status: int | None, verdict: Verdict) -> None:
        """Report that the program has ended."""
        flush_output()
        self._line.send(debugger_protocol.ended(self.places, status, verdict))

    # -- calls of the watcher --------------------------------------------------------------------------------

    def arrived(self, place: ProgramPlace) -> None:
        if self._copies.due(place):
            flush_output()
            wake = self._copies.keep(place, self.places)
            if wake is not None:
                self._line.watch()
                self._obey(wake.message)

    def stopped(self, place: ProgramPlace, why: str, question: Question, call: CallRecord | None) -> None:
        self._stand(
            debugger_protocol.stopped(place, self.places[:-1], self.actual(question, here()), why), here()
        )

    def left_recording(self, place: ProgramPlace, divergence: Divergence, question: Question | None) -> None:
        self._stand(
            debugger_protocol.departed(place, self.places, self.actual(question, here()), divergence), here()
        )

    # -- within ----------------------------------------------------------------------------------------------

    def _stand(self, report: bytes, frame: FrameType) -> None:
        """Report the program's position, and wait for the order to go on."""
        flush_output()
        if self._shell is not None:
            # The user has stepped in pdb to the next question.
            self._leave_shell(frame)
        self._line.send(report)
        self._standing = True
        try:
            while True:
                message = self._line.hear()
                if message["say"] == "go":
                    self._obey(message)
                    return
                if message["say"] == "shell" and self._open_shell(message["terminal"], frame):
                    return
        finally:
            self._standing = False

    def _obey(self, message: dict[str, Any]) -> None:
        self.until = debugger_protocol.until_of(message["until"])
        edits = debugger_protocol.edits_of(message["edits"])
        self.replayer.edits = {self._calls[step]: edit for step, edit in edits.items() if step in self._calls}
        self.replayer.opened = {self._calls[step] for step in message["opened"] if step in self._calls}

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """Handle the user's interrupt: show the program's position, and wait."""
        if self._standing:
            return
        last = self.places[-1] if self.places else START
        place = ProgramPlace(last.step, last.extra + 1)
        with entered(None), self.replayer.turnstile.paused():
            report = debugger_protocol.stopped(place, self.places, self.actual(None, frame), "interrupted")
            self._stand(report, frame or here())

    def _broken(self, *args: Any, **kwargs: Any) -> None:
        """Handle the program's own `breakpoint()`."""
        frame = here().f_back or here()
        last = self.places[-1] if self.places else START
        where = (frames(frame) or [frame])[-1]
        why = f"breakpoint() in {where.f_code.co_name}"
        with entered(None), self.replayer.turnstile.paused():
            report = debugger_protocol.stopped(
                ProgramPlace(last.step, last.extra + 1), self.places, self.actual(None, frame), why
            )
            self._stand(report, frame)

    def _open_shell(self, terminal: str, frame: FrameType) -> bool:
        """Give the terminal to pdb. Return True if the program is to run on under it."""
        own = (frames(frame) or [frame])[-1]
        shell = self._shell or PdbShell(self.replayer.turnstile, terminal)
        if shell.open_at(own):
            self._shell = shell
            self.until = debugger_protocol.until_of(_NEXT)
            return True
        self._shell = None
        self._line.send(debugger_protocol.line("shell over"))
        return False

    def _leave_shell(self, frame: FrameType) -> None:
        assert self._shell is not None
        self._shell.close(frame)
        self._shell = None
        self._line.send(debugger_protocol.line("shell over"))


_NEXT = {"place": None, "next": True, "beyond": None, "steps": (), "filters": (), "states": ()}
