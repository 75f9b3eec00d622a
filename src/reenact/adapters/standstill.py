"""Waits without a time limit that never end in a replay: the program stands still.

A tool that is answered without running does not set the event that another thread waits for. Such a wait is looked at
while it lasts. Where no thread of the process has worked for a while, nothing that is answered comes any more, and
nothing runs for real, nothing can end it: the waiting thread gets a departure that names it, its line and its wait.

Only on Linux, which tells whether a thread works. Elsewhere the wait goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures.thread import _worker
from typing import Any

from reenact.core import system
from reenact.core.boundary import Scope
from reenact.core.boundary.turnstile import real_time

_SLICE = 0.05
"""Seconds between two looks."""
_QUIET = 10.0
"""Seconds of looks without work after which the program stands still."""


def watched(scope: Scope | None) -> Scope | None:
    """Return the scope if its waits are looked at: in a replay that is not live."""
    if scope is None or not system.LINUX:
        return None
    run = scope.run
    return scope if run.replaying and not run.handler.gone_live else None


def wait(scope: Scope, attempt: Callable[[float], Any], what: str, place: str) -> None:
    """Repeat an attempt until it is true.

    Args:
        scope: The scope of the thread that waits.
        attempt: Waits for the given seconds; returns True if the wait has ended.
        what: The wait in words.
        place: The file and line of the program.

    Raises:
        Halt: The replay has departed, or nothing can end the wait.
    """
    handler, turnstile = scope.run.handler, scope.run.turnstile
    quiet, last = 0.0, real_time()
    while not attempt(_SLICE):
        if handler.poison is not None:
            raise handler.poison
        now = real_time()
        # A process that had no processor has seen nothing.
        looked = min(now - last, 2 * _SLICE)
        quiet = 0.0 if handler.gone_live or turnstile.works(*_threads()) else quiet + looked
        last = now
        if quiet > _QUIET:
            thread = threading.current_thread().name
            raise handler.stands_still(scope.path, f"{thread} waits in {what} at {place}")


def _threads() -> tuple[set[int], set[int]]:
    """Return the threads that may belong to a run, and the system's numbers of Reenact's own."""
    threads = threading.enumerate()
    own = {each for each in threads if getattr(each, "reenact_own", False)}
    # A thread of a pool does nothing until a job is handed to it.
    idle = {each for each in threads if getattr(each, "_target", None) is _worker}
    return (
        {each.ident for each in threads if each not in own | idle and each.ident is not None},
        {each.native_id for each in own if each.native_id is not None},
    )
