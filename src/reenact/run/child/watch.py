"""End a program whose replay has diverged: promptly, with one line, and no traceback."""

from __future__ import annotations

import os
import sys
import threading
from time import sleep
from types import TracebackType
from typing import Any

from reenact.core.boundary import entered
from reenact.core.replay.replayer import Replayer
from reenact.errors import DivergenceError, Halt
from reenact.run import processes as family
from reenact.run.exit import flush_output

_PROMPT = 3.0
"""Seconds that a program has to end by itself once its replay has diverged."""


class DivergenceWatch:
    """Ends a program whose replay has diverged: promptly, with one line, and no traceback."""

    def __init__(self, replayer: Replayer | None) -> None:
        self._replayer = replayer

    def install(self) -> None:
        """Watch for a divergence of the replay."""
        if self._replayer is not None:
            self._replayer.state.on_halt = self.halted

    def halted(self) -> None:
        """Handle the divergence: end the program."""
        self._excepthook, self._thread_hook = sys.excepthook, threading.excepthook
        # Only now, as the program may have set hooks of its own.
        sys.excepthook, threading.excepthook = self._uncaught, self._in_thread
        with entered(None):
            guard = threading.Thread(target=self._end, name="reenact-end", daemon=True)
            guard.reenact_own = True  # type: ignore[attr-defined]
            guard.start()

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not of_halt(error):
            self._excepthook(kind, error, trace)

    def _in_thread(self, arguments: Any) -> None:
        if not of_halt(arguments.exc_value):
            self._thread_hook(arguments)

    def _end(self) -> None:
        sleep(_PROMPT)
        family.end(1)
        flush_output()
        os._exit(1)


def of_halt(error: BaseException | None) -> bool:
    """Return True if an error is a divergence, or was caused by one."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, (Halt, DivergenceError)):
            return True
        if isinstance(error, BaseExceptionGroup) and any(of_halt(inner) for inner in error.exceptions):
            return True
        error = error.__cause__ or error.__context__
    return False
