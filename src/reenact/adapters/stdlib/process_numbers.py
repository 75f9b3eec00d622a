"""Signals to commands, and waits for them, by the numbers of their processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from reenact.adapters.hooks import wrap
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers, file_uses, other_processes
from reenact.adapters.stdlib.command import Acts
from reenact.core import system
from reenact.core.boundary import Run, current

_commands: dict[int, Acts] = {}


def install() -> None:
    """Hook what is done to a process by its number."""
    wrap(os, "kill", _kill)
    if hasattr(os, "killpg"):
        wrap(os, "killpg", _kill)
        wrap(os, "getpgid", _group)
    if sys.platform == "linux":
        wrap(os, "waitpid", _wait)


def add(number: int, acts: Acts) -> None:
    """A command has started, for real or in the recording, with that number."""
    _commands[number] = acts


def remove(number: int) -> None:
    """That command is over. Harmless when done."""
    _commands.pop(number, None)


def under_way(run: Run, *, answered: bool = False) -> set[str]:
    """Return the titles of a run's commands under way; `answered`: of those without a process."""
    return {
        acts.command.title
        for acts in list(_commands.values())
        if acts.belongs_to(run) and not (answered and acts.real)
    }


def _command(args: tuple[Any, ...]) -> Acts | None:
    """Return the command of this run with that number."""
    acts, scope = _commands.get(args[0]) if args else None, current()
    return acts if acts is not None and scope is not None and acts.belongs_to(scope.run) else None


def _kill(wrapped: Callable[..., None], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    acts = _command(args)
    if acts is None or listening() is None:
        group = wrapped.__name__ == "killpg"
        if kwargs or len(args) != 2:
            wrapped(*args, **kwargs)
        elif not other_processes.sends(wrapped, *args, group=group):
            if args[1] and abs(args[0]) not in (0, os.getpid(), system.own_group()):
                _signalled(abs(args[0]), int(args[1]), sys._getframe(2))
            wrapped(*args, **kwargs)
        return
    acts.perform("signal", lambda: wrapped(*args, **kwargs), signal=int(args[1]), by=wrapped.__name__)


def terminates(number: int, original: Callable[..., None], process: Any) -> None:
    """`terminate` and `kill` of a process of `multiprocessing`."""
    _signalled(process.pid or 0, number, sys._getframe(2))
    original(process)


def _signalled(pid: int, number: int, caller: FrameType | None) -> None:
    """Note a signal that this code sends to a process of the run; wait for its time.

    Libraries look whether a process still runs before they send one, which depends on the time: theirs are not noted.
    """
    while caller is not None and caller.f_code.co_filename.startswith(callers.OURS):
        caller = caller.f_back
    scope = listening()
    if scope is not None and callers.program(caller):
        scope.run.unreceived.signal(scope.path, number)
    if scope is not None and scope.run.family is not None:
        scope.run.family.before_signal(pid, number)


def _group(wrapped: Callable[..., int], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    acts = _command(args)
    if acts is None or acts.real:
        return wrapped(*args, **kwargs)
    return int(args[0])


def _wait(
    wrapped: Callable[..., tuple[int, int]], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[int, int]:
    acts = _command(args)
    if acts is None or listening() is None or kwargs or len(args) != 2:
        return wrapped(*args, **kwargs)
    number, options = args
    at_once = sys.platform != "win32" and options & os.WNOHANG
    if at_once and not acts.draw("done", lambda: system.has_ended(number)):
        return 0, 0

    def live() -> dict[str, Any]:
        status = wrapped(number, options)[1]
        file_uses.command_ended()
        return {"exit": os.waitstatus_to_exitcode(status), "status": status}

    status: int = acts.perform("exit", live)["status"]
    remove(number)
    return number, status
