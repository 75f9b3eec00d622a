"""Run pdb in the frame of a stopped program, on any terminal, outside of the recording."""

from __future__ import annotations

import os
import pdb  # noqa: T100 - to open it is what this module is for
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from types import FrameType
from typing import Any

from reenact.core import system
from reenact.core.boundary import entered
from reenact.core.boundary.turnstile.replaying_turns import ReplayingTurnstile


class PdbShell(pdb.Pdb):
    """pdb with a terminal of its own. Its input and evaluations are no part of the run.

    Args:
        turnstile: The replay's turnstile, paused while the prompt waits.
        terminal: The path of a terminal; by default the program's own standard streams are used.
    """

    def __init__(self, turnstile: ReplayingTurnstile | None = None, terminal: str = "") -> None:
        self._turnstile = turnstile
        self._stream = _opened(terminal) if terminal else None
        super().__init__(stdin=self._stream, stdout=self._stream, nosigint=True)
        self.prompt = "(pdb) "
        if self._stream is not None:
            self.use_rawinput = False

    def open_at(self, frame: FrameType) -> bool:
        """Open the prompt in that frame.

        Return True if the program is to run on under pdb (`next`, `step`, a breakpoint of pdb's own), False if the user
        has left it.
        """
        self.reset()
        above: FrameType | None = frame
        while above is not None:
            above.f_trace = self.trace_dispatch
            self.botframe = above
            above = above.f_back
        self.interaction(frame, None)
        if self.quitting or (self._left() and not self.breaks):
            self.close(frame)
            return False
        sys.settrace(self.trace_dispatch)
        return True

    def close(self, frame: FrameType | None) -> None:
        """Stop tracing the program."""
        sys.settrace(None)
        if self._stream is not None:
            self._stream.close()
        while frame is not None:
            frame.f_trace = None
            frame = frame.f_back

    def _left(self) -> bool:
        # The state of bdb after `continue`.
        return self.stopframe is self.botframe and self.stoplineno == -1

    def interaction(self, *given: Any) -> None:
        """Show the place and run the prompt: its text and evaluations are no part of the run."""
        with entered(None):
            super().interaction(*given)

    def message(self, msg: object) -> None:
        """Print a line that is no output of the program."""
        with entered(None):
            super().message(msg)  # type: ignore[arg-type]

    def cmdloop(self, intro: str | None = None) -> None:
        """Run the prompt: time is paused."""
        with _paused(self._turnstile):
            super().cmdloop(intro)


def _opened(terminal: str) -> TextIOWrapper:
    with entered(None):
        # Not as the controlling terminal: its end would end this process.
        handle = os.open(terminal, os.O_RDWR | system.NOCTTY)
        # For reading and writing. Unbuffered, since a terminal has no position.
        return TextIOWrapper(os.fdopen(handle, "r+b", buffering=0), encoding="utf-8", write_through=True)


@contextmanager
def _paused(turnstile: ReplayingTurnstile | None) -> Iterator[None]:
    if turnstile is None:
        yield
        return
    with turnstile.paused():
        yield
