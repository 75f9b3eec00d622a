"""The turnstile of a resumption: a replay's until all that was recorded has passed."""

from __future__ import annotations

from collections.abc import Callable

from reenact.core.boundary.running_loop import running_loop
from reenact.core.boundary.turnstile.forking_turns import ForkingTurnstile
from reenact.core.boundary.turnstile.pump import _Entry, _Pump, _wait
from reenact.core.boundary.turnstile.replaying_turns import _LOOK


class ResumingTurnstile(ForkingTurnstile):
    """Lets outcomes pass in their recorded order, and opens after the last one.

    Args:
        total: The number of places in the recorded order.
    """

    def __init__(self, total: int) -> None:
        super().__init__(total)
        self.on_end: Callable[[], None] = lambda: None
        """Called when all recorded outcomes have passed."""

    def _mark(self, order: int | None) -> None:
        if order is not None and order >= self._places.total:
            # It passed because nothing is left that could bring a recorded outcome.
            order = self._places.total - 1
        super()._mark(order)
        if self._places.next >= self._places.total and not self._open:
            self.on_end()

    def reach_end(self) -> None:
        """Wait until all recorded outcomes have passed, or nothing is left that could bring one."""
        loop = running_loop()
        pump = None if loop is None else self._pumps.get(loop)
        self.blocks()
        try:
            with self._cond:
                while not (
                    self._open or self.over_all() or self.over(self._places.total) or self._held(pump)
                ):
                    _wait(self._cond, _LOOK)
        finally:
            self.unblocks()

    def may_release(self, entry: _Entry) -> bool:
        if not self._open and entry.order is None and entry.when and self.over(self._places.total):
            # No recorded outcome can come: from here on timers run on real time.
            self._mark(self._places.total)
        return super().may_release(entry)

    def over_all(self) -> bool:
        """Return True if all recorded outcomes have passed."""
        return self._places.next >= self._places.total

    def _held(self, pump: _Pump | None) -> bool:
        """Return True if a recorded outcome has to pass in this thread's own loop, which waits here."""
        if pump is None:
            return False
        return self._jobs > 0 or any(
            0 <= place < self._places.total and not entry.given_up() for place, _, entry in pump.queue
        )
