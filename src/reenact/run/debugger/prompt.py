"""The program's own `breakpoint()` in a replay."""

from __future__ import annotations

import os
import sys
from typing import Any

from reenact.core.boundary import entered
from reenact.core.boundary.turnstile.replaying_turns import ReplayingTurnstile
from reenact.core.store.writer import warn


class Prompt:
    """The program's own `breakpoint()` in a replay: pdb, with time paused while it waits.

    Args:
        turnstile: The replay's.
        terminal: The path of a terminal; by default the program's own standard streams are used.
    """

    def __init__(self, turnstile: ReplayingTurnstile, terminal: str = "") -> None:
        self._turnstile = turnstile
        self._terminal = terminal
        self._before: Any = None

    def install(self) -> None:
        """Handle `breakpoint()`, unless the user has chosen a handler (`PYTHONBREAKPOINT`, an IDE)."""
        with entered(None):
            chosen = os.environ.get("PYTHONBREAKPOINT")
        if sys.breakpointhook is sys.__breakpointhook__ and not chosen:
            self._before, sys.breakpointhook = sys.breakpointhook, self._asked

    def restore(self) -> None:
        """Restore the former `breakpoint()`."""
        if self._before is not None:
            sys.breakpointhook, self._before = self._before, None

    def _asked(self, *_args: Any, **_keywords: Any) -> None:
        frame = sys._getframe(1)
        from reenact.run.debugger.shell import PdbShell  # noqa: PLC0415 - pdb, which few replays need

        try:
            shell = PdbShell(self._turnstile, self._terminal)
        except OSError:
            # There is no terminal, in a pipeline for example. Standard input cannot be used: it is recorded.
            where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            warn(f"{where}: breakpoint() has no terminal to talk on, and is passed over")
            return
        shell.open_at(frame)


def prompting(turnstile: ReplayingTurnstile, terminal: str = "") -> Prompt:
    """Handle the program's own `breakpoint()` from here on."""
    prompt = Prompt(turnstile, terminal)
    prompt.install()
    return prompt
