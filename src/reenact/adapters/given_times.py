"""The times that the program gives to asyncio and anyio: sleeps, time limits and timers.

They are found where a loop sets a timer, and where a task starts that only sleeps or waits.
"""

from __future__ import annotations

import asyncio
import os
from asyncio import base_events, tasks, timeouts
from collections.abc import Callable
from functools import partial
from sys import _getframe
from types import CodeType, FrameType, ModuleType
from typing import Any

from reenact.adapters.hooks import Replace
from reenact.adapters.imports import when_imported
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers
from reenact.core.boundary import Scope

_LATER = base_events.BaseEventLoop.call_later.__code__
_STARTERS = {tasks.__file__, timeouts.__file__, base_events.__file__, asyncio.taskgroups.__file__}
"""The files of asyncio whose code waits, or starts tasks, for its caller."""

_ANYIO = f"{os.sep}anyio{os.sep}"
"""Part of the paths of anyio's files: all of its code waits for its caller."""

MEMBERS: dict[CodeType | None, str] = {
    asyncio.sleep.__code__: "delay",
    asyncio.wait_for.__code__: "timeout",
}
"""The coroutines with a time as an argument, and that argument's name."""

_NAMES = {"sleep", "wait_for"}


def install(replace: Replace) -> None:
    """Patch `asyncio.timeout`, and `fail_after` and `move_on_after` of anyio."""
    replace(timeouts, "timeout", _limit)
    asyncio.timeout = timeouts.timeout
    when_imported("anyio", partial(_anyio_loaded, replace))


def _anyio_loaded(replace: Replace, anyio: ModuleType) -> None:
    for name in ("fail_after", "move_on_after"):
        if hasattr(anyio, name):
            replace(anyio, name, _limit)


def _limit(original: Callable[..., Any], delay: float | None, *args: Any, **more: Any) -> Any:
    """`asyncio.timeout`, or a time limit of anyio."""
    scope = listening()
    if scope is not None and delay is not None and callers.program(_giver(_getframe(2))):
        scope.run.times.add(scope.path, delay, loop=True)
    return original(delay, *args, **more)


def of_timer(scope: Scope, caller: FrameType | None, order: int | None) -> None:
    """Note the time of a timer that this code sets: a sleep, a time limit, or `call_later`."""
    sleeper = caller.f_back if caller is not None else None
    if sleeper is not None and sleeper.f_code is asyncio.sleep.__code__ and callers.program(sleeper.f_back):
        more = scope.run.further(order)
        scope.run.times.sleep(scope.path, further=more)
        if more:
            return
    if caller is None or caller.f_code is not _LATER or caller.f_back is None:
        return
    if callers.program(_giver(caller.f_back)):
        scope.run.times.add(scope.path, caller.f_locals["delay"], loop=True)


def of_task(scope: Scope, coro: Any) -> None:
    """Note the time of a task that is one sleep, or one wait with a time limit."""
    # The name is checked first, since `cr_code` raises an audit event.
    named = getattr(coro, "__name__", None) in _NAMES
    member = MEMBERS.get(getattr(coro, "cr_code", None)) if named else None
    if member is not None and callers.program(_giver(_getframe(2))):
        scope.run.times.add(scope.path, coro.cr_frame.f_locals[member], loop=True)


def of_clock(caller: FrameType) -> None:
    """Note that the program reads the clock of a loop."""
    if callers.program(caller) and (scope := listening()) is not None:
        scope.run.times.loop_clock = True


def _giver(frame: FrameType | None) -> FrameType | None:
    """Return the frame that gives a time, without those of libraries that wait for it."""
    while frame is not None and _carries(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _carries(file: str) -> bool:
    return file in _STARTERS or _ANYIO in file or file.startswith(callers.OURS)
