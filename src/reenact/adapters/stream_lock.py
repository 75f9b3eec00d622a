"""The lock of a standard stream: the program's threads write in the recorded order."""

from __future__ import annotations

from time import sleep as _sleep
from typing import Any

from reenact.adapters.locks import OrderedRLock
from reenact.core.boundary import Scope
from reenact.core.boundary.turnstile import PATIENCE

_FIRST_PAUSE, _LONGEST_PAUSE = 0.00005, 0.005
"""Seconds between two tries to take the lock while another thread writes."""


class StreamLock(OrderedRLock):
    """A lock for writing to a standard stream.

    A thread that waits for a lock of a library, which the waiting one holds, cannot come. So a wait ends when no
    thread works.

    Args:
        name: The name of the stream.
    """

    __slots__ = ()

    def __new__(cls, name: str) -> Any:
        """Return one for that stream of the process."""
        return cls._named(name)

    def _waited(self, scope: Scope) -> bool:
        # One that waits for a lock gets it as soon as it is free, and then waits for the interpreter: the writer before
        # would find it taken at the next piece of its line, and each line would be torn.
        pause = _FIRST_PAUSE
        while not self._real.acquire(False):
            _sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return False

    def _may_come(self, scope: Scope) -> bool:
        return super()._may_come(scope) and scope.run.turnstile.quiet_for() < PATIENCE

    def at_fork(self) -> None:
        """This process is a fork: no other thread is left that may have the lock."""
        self._at_fork_reinit()
