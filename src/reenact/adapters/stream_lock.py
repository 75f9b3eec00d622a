"""The lock of a standard stream, so that the program's threads write in the recorded order."""

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

    The thread whose turn it is cannot come if it waits for a lock of a library that the waiting thread holds. So a wait
    ends when no thread works.

    Args:
        name: The name of the stream.
    """

    __slots__ = ()

    def __new__(cls, name: str) -> Any:
        """Return a lock for that stream of the process."""
        return cls._named(name)

    def _waited(self, scope: Scope) -> bool:
        # A thread in `acquire` gets the lock as soon as it is free, and then waits for the interpreter. The writer runs
        # on: it would find the lock taken before the next part of its line, and each line would be torn.
        pause = _FIRST_PAUSE
        while not self._real.acquire(False):
            _sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return False

    def _may_come(self, scope: Scope) -> bool:
        return super()._may_come(scope) and scope.run.turnstile.quiet_for() < PATIENCE

    def at_fork(self) -> None:
        """Free the lock in a forked process: a thread that had it does not exist there."""
        self._at_fork_reinit()
