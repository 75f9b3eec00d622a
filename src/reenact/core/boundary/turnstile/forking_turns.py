"""The turnstile of a fork: a replay's until it is opened, a recording's from there on."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from threading import get_ident
from typing import TYPE_CHECKING

from reenact.core.boundary.running_loop import real_call_at, this_loop
from reenact.core.boundary.turnstile.protocol import PATIENCE
from reenact.core.boundary.turnstile.pump import _Entry, _wait
from reenact.core.boundary.turnstile.recording_turns import RecordingTurnstile
from reenact.core.boundary.turnstile.replaying_turns import _LOOK, ReplayingTurnstile

if TYPE_CHECKING:
    import asyncio

_SOON = 0.001


class ForkingTurnstile(ReplayingTurnstile):
    """Lets outcomes pass in their recorded order, and after `open` as they come.

    Outcomes that wait at that moment pass in their recorded order, one at a time, so that the fork replays
    faithfully.
    Waiting timers keep their remaining time: their loops' clocks continue from the replayed time.

    Args:
        total: The number of places in the recorded order.
    """

    def __init__(self, total: int) -> None:
        super().__init__(total)
        self._reached: int | None = None
        self._after = RecordingTurnstile(shared=(self._lock, self._cond, self._pumps))

    @property
    def uncertain(self) -> int:
        """The number of places after the opening whose order among threads is uncertain."""
        return self._after.uncertain

    def open(self) -> None:
        """Let outcomes pass as they come from here on."""
        with self._cond:
            if not self._open:
                running = {*(self._alive - self._blocked - self._waiting.keys()), get_ident()}
                self._after.take_over(running, threaded=len(self._alive) > 1 or self._coming > 0)
                self._open = True
        self._moved()

    @contextmanager
    def reaching(self, place: int) -> Iterator[None]:
        """Wait until all before a place has passed; in the body, hold back all after it."""
        with self._cond:
            self._reached = place
            alone = len(self._alive) <= 1 and not self._coming
            comes = not alone and self._places.next < place and not self.over(place)
        try:
            if comes:
                self._reach(place)
            yield
        finally:
            with self._cond:
                self._reached = None
            self._moved()

    def _reach(self, place: int) -> None:
        self.blocks()
        try:
            with self._cond:
                while self._places.next < place and not self.over(place):
                    if not self._paused and self.quiet_for() > PATIENCE:
                        break
                    _wait(self._cond, _LOOK)
        finally:
            self.unblocks()

    def _others_run(self) -> bool:
        # All that comes before the step has passed: the next to go on is the step's own thread.
        reached = self._reached is not None and self._places.next >= self._reached
        return reached or super()._others_run()

    def _lowest(self, order: int) -> bool:
        return (self._reached is None or order < self._reached) and super()._lowest(order)

    # -- passing ---------------------------------------------------------------------------------------------

    def pass_sync(self, order: int | None, write: Callable[[], None] | None) -> None:
        if not self._open:
            super().settle()
        if self.interrupt is not None and order is not None and not self._open:
            self.interrupt(order)
        with self._cond:
            if order is not None and not self._open:
                self._await_turn(order)
            if not self._open:
                super().pass_sync(None, write)
                self._mark(order)
                return
        self._after.pass_sync(None, write)

    def queue(self, loop: asyncio.AbstractEventLoop, entry: _Entry) -> None:
        self._after.queue(loop, entry) if self._open else super().queue(loop, entry)

    def _released(self, order: int) -> bool:
        # Outcomes that waited for their turn keep their order.
        return self._open and order <= min(self._waiting.values(), default=order)

    def passes_at_once(self, order: int | None) -> bool:
        return self._after.passes_at_once(order) if self._open else super().passes_at_once(order)

    def may_release(self, entry: _Entry) -> bool:
        if not self._open or self._paused:
            return super().may_release(entry)
        loop = this_loop()
        pump = self._pumps[loop]
        if entry.when is not None and entry.when > loop.time() + _SOON:
            # Set in the replay, on its virtual clock: from here on it runs on real time.
            heapq.heappop(pump.queue)
            real_call_at(loop)(entry.when, lambda: pump.push(0, entry), context=Context())
            loop.call_soon(pump.wake, context=Context())
            return False
        return self._after.may_release(entry)

    # -- threads ---------------------------------------------------------------------------------------------

    def _idle(self) -> None:
        if not self._open:
            super()._idle()
            return
        self._after.settle()
        if self._hanging.waits and not self._after.threaded:
            self._look_for_stuck(self._pumps[this_loop()])

    def _alone(self, me: int) -> bool:
        if not self._open:
            return super()._alone(me)
        # A wait for a cancellation is in vain only if nothing at all can happen any more.
        loop = this_loop()
        selector = getattr(loop, "_selector", None)
        sockets = len(selector.get_map() or ()) - 1 if selector is not None else 0
        return not self._outstanding and not getattr(loop, "_scheduled", ()) and sockets <= 0

    def settle(self) -> None:
        self._after.settle() if self._open else super().settle()

    def thread_started(self) -> None:
        self._after.thread_started() if self._open else super().thread_started()

    def thread_begins(self) -> None:
        self._after.thread_begins() if self._open else super().thread_begins()

    def thread_ends(self) -> None:
        self._after.thread_ends() if self._open else super().thread_ends()

    def blocks(self, still: Callable[[], bool] | None = None) -> None:
        self._after.blocks(still) if self._open else super().blocks(still)

    def unblocks(self) -> None:
        self._after.unblocks() if self._open else super().unblocks()

    def woken(self, thread: int) -> None:
        self._after.woken(thread) if self._open else super().woken(thread)

    def rests(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._open:
            super().rests(loop)
