"""Signals to processes that are not of the run: effects, which a replay does not repeat."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from reenact.adapters.scopes import listening
from reenact.core import system
from reenact.core.boundary import perform
from reenact.core.model.event import Effect

_DEEP = 64


def sends(function: Callable[..., None], number: int, signal: int, *, group: bool) -> bool:
    """Send a signal to a process outside of the run, as an effect. Return False for others.

    Args:
        function: Sends it.
        number: The number of the process, or of the group.
        signal: The signal; 0 only asks whether the process is there.
        group: It is that of a group.
    """
    target = abs(number)
    scope = listening()
    if not system.LINUX or scope is None or signal == 0 or target < 2:
        return False
    if target == system.own_group() and (group or number < 0):
        return False
    above = {os.getpid()} if scope.run.root.path == "main" else {os.getpid(), os.getppid()}
    if target in above or _descends(target, above):
        return False
    name = "killpg" if group else "kill"
    effect = Effect(
        "process", f"{name} {signal}", {"process": number, "signal": signal}, leaf=True, writes=True
    )
    perform(effect, lambda: function(number, signal))
    return True


def _descends(number: int, above: set[int]) -> bool:
    """Return True if a process was started by one of these, or by one that it has started."""
    for _ in range(_DEEP):
        parent = _parent(number)
        if parent in above:
            return True
        if parent < 2:
            return False
        number = parent
    return False


def _parent(number: int) -> int:
    """Return the number of a process's parent; 0 if it is not known."""
    with suppress(OSError, ValueError, IndexError):
        # The second field is the program's name in brackets, which may hold spaces.
        return int(
            Path(f"/proc/{number}/stat")
            .read_text(encoding="utf-8", errors="replace")
            .rpartition(")")[2]
            .split()[1]
        )
    return 0
