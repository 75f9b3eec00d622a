"""Measure for how long nothing has moved, for threads that wait for their turn."""

from __future__ import annotations

from collections.abc import Collection
from threading import get_ident, get_native_id

from reenact.core.boundary.turnstile.protocol import PATIENCE
from reenact.core.boundary.turnstile.working import Attention, ThreadWork
from reenact.core.system import monotonic

_LONGEST = 600.0


class Quiet:
    """Tells for how long the threads of a replay have been quiet.

    Call it with the turnstile's lock held.

    Args:
        look: The most seconds that count between two looks.
        settling: The seconds of quiet within which other threads are assumed to run.

    Attributes:
        since: The moment at which something last passed.
        strict: True if a working thread does not count as quiet, for up to ten minutes.
    """

    def __init__(self, look: float, settling: float) -> None:
        self.since = monotonic()
        self.strict = False
        self._settling = settling
        self._natives = {get_ident(): get_native_id()}
        self._work = ThreadWork()
        self._attention = Attention(look)
        self._worked = 0.0

    def thread_begins(self) -> None:
        """Note that the running thread begins."""
        self._natives[get_ident()] = get_native_id()

    def thread_ends(self) -> None:
        """Note that the running thread ends."""
        self._natives.pop(get_ident(), None)
        self._attention.forget()

    def settles(self, able: Collection[int]) -> bool:
        """Return True if some of the threads that can run may still be running."""
        if self._attention.since(self.since) < self._settling:
            return True
        return self.strict and self._work.starved(self._numbers(able), self._settling, self.since)

    def seconds(self, able: Collection[int]) -> float:
        """Return the seconds since something passed or one of these threads was seen at work."""
        now = monotonic()
        idle = self._attention.since(self.since)
        if not self.strict or not PATIENCE < idle < _LONGEST:
            return idle
        if self._work.seen(self._numbers(able)):
            self._worked = now
        return min(idle, now - self._worked)

    def _numbers(self, threads: Collection[int]) -> list[int]:
        """Return the system's numbers of those threads that are known here."""
        return [self._natives[thread] for thread in threads if thread in self._natives]
