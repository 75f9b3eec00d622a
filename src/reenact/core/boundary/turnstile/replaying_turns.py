"""The turnstile of a replay: outcomes pass in their recorded order, on a virtual clock."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING, Any, cast

from reenact.core.boundary.running_loop import running_loop, this_loop
from reenact.core.boundary.turnstile.hanging import HangingWaits
from reenact.core.boundary.turnstile.passed_places import PassedPlaces
from reenact.core.boundary.turnstile.protocol import LAST, PATIENCE
from reenact.core.boundary.turnstile.pump import _Base, _Entry, _notify, _Pump, _wait
from reenact.core.boundary.turnstile.quiet import Quiet
from reenact.core.system import monotonic

if TYPE_CHECKING:
    import asyncio

_SETTLING, _LOOK = 0.2, 0.02


class ReplayingTurnstile(_Base):
    """Lets outcomes through in their recorded order, on a virtual clock.

    Args:
        total: The number of places in the recorded order.
    """

    def __init__(self, total: int) -> None:
        super().__init__()
        self._places = PassedPlaces(total)
        self._pace: Callable[[int], None] | None = None
        self._open = False
        self._paused = self._outstanding = 0
        self._waiting: dict[int, int] = {}
        self._blocked: set[int] = set()
        self._alive: set[int] = {get_ident()}
        self._quiet = Quiet(_LOOK, _SETTLING)
        self._balance = 0
        self._coming = self._jobs = 0
        self._stalled = False
        self._hanging = HangingWaits()
        self.skew = 0.0
        """Seconds by which the event loops' clocks have been moved on."""

    def set_strict(self) -> None:
        """Pass over no place while a thread works, for up to ten minutes."""
        self._quiet.strict = True

    @property
    def uncertain(self) -> int:
        return 0

    @property
    def position(self) -> int:
        return self._places.next

    def thread_started(self) -> None:
        with self._cond:
            self._comes(1)

    def thread_begins(self) -> None:
        with self._cond:
            self._comes(-1)
            self._alive.add(get_ident())
            self._quiet.thread_begins()

    def _comes(self, more: int) -> None:
        # A worker may take a job for which another worker was started that still runs its initializer.
        self._balance += more
        self._coming = max(self._balance, 0)

    def thread_ends(self) -> None:
        self.settle()
        with self._cond:
            self._alive.discard(get_ident())
            self._quiet.thread_ends()
            self._blocked.discard(get_ident())
        self._moved()

    def job_done(self) -> None:
        with self._cond:
            self._jobs += 1

    def blocks(self, still: Callable[[], bool] | None = None) -> None:
        self.settle()
        with self._cond:
            if still is None or still():
                self._blocked.add(get_ident())
        self._moved()

    def unblocks(self) -> None:
        self.woken(get_ident())

    def woken(self, thread: int) -> None:
        with self._cond:
            self._blocked.discard(thread)
            self._quiet.since = monotonic()

    def live_begins(self) -> None:
        self.settle()
        with self._cond:
            self._outstanding += 1
            if running_loop() is None:
                self._blocked.add(get_ident())

    def live_ends(self) -> None:
        with self._cond:
            self._outstanding -= 1
            self._blocked.discard(get_ident())

    def stall(self) -> None:
        """Pass over a place that does not come: calls or processes run, and none goes on."""
        with self._cond:
            self._stalled = self._outstanding > 0
        self._moved()

    def rests(self, loop: asyncio.AbstractEventLoop) -> None:
        self._pump(loop).wake()

    def set_pace(self, pace: Callable[[int], None]) -> None:
        """Call `pace` with each place before its release; it waits as long as the recording did."""
        self._pace = pace

    def open(self) -> None:
        """Release all waiters: the replay has diverged."""
        with self._cond:
            self._open = True
        self._moved()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Release nothing while the body runs, and let no time limit run out: for a debugger."""
        with self._cond:
            self._paused += 1
        try:
            yield
        finally:
            with self._cond:
                self._paused -= 1
                self._quiet.since = monotonic()
            self._moved()

    def settle(self) -> None:
        self.on_settle()

    # -- passing ---------------------------------------------------------------------------------------------

    def pass_sync(self, order: int | None, write: Callable[[], None] | None) -> None:
        self.settle()
        if self.interrupt is not None and order is not None:
            self.interrupt(order)
        with self._cond:
            if order is not None:
                self._await_turn(order)
            if write is not None:
                write()
            self._blocked.discard(get_ident())
            self._quiet.since = monotonic()
        if self._pace is not None and order is not None and order < LAST:
            self._pace(order)
        self._mark(order)

    def queue(self, loop: asyncio.AbstractEventLoop, entry: _Entry) -> None:
        self.settle()
        order, release, when = entry.order, entry.release, entry.when
        # A timer that the recording never saw fire comes after all that it did see; a live answer at once.
        unseen = LAST + when if when is not None else -1
        priority: float = unseen if order is None else order

        def released() -> None:
            if when is not None:
                self.skew += max(0.0, when - loop.time())
            if self._pace is not None and order is not None:
                self._pace(order)
            self._mark(order)
            release()

        with self._lock:
            self._blocked.discard(get_ident())
        self._pump(loop).push(priority, _Entry(order, released, entry.given_up, when))

    def hang(self, stuck: Callable[[], BaseException]) -> Awaitable[None]:
        return self._hanging.wait(stuck, self._pump(this_loop()).wake)

    def passes_at_once(self, order: int | None) -> bool:
        with self._lock:
            others = len(self._alive) > 1 or self._coming or self._jobs or self._outstanding
            held = self._hanging.waits or self._pace is not None or self._paused
            if order is None or order > self._places.next or others or held:
                return False
            self._take(order)
        self._wake_pumps(self._hanging.waits)
        return True

    def _await_turn(self, order: int) -> None:
        """Block this thread until `order` may pass. Call with the lock held."""
        me = get_ident()
        self._waiting[me] = order
        if not self._released(order):
            # One fewer thread can run: another's turn may have come.
            self._moved()
        try:
            while self._paused or not self._released(order):
                if self._paused:
                    _wait(self._cond, _LOOK)
                    continue
                if order <= self._places.next or (self._lowest(order) and self._alone(me)):
                    if not self._others_run():
                        return
                    _wait(self._cond, 0.002)
                    continue
                late = self._late()
                if late > PATIENCE and self._lowest(order):
                    return
                if late > 2 * PATIENCE and order == min(self._waiting.values()):
                    # What comes before waits in a loop whose thread is blocked, perhaps until this one is done.
                    return
                _wait(self._cond, _LOOK)
        finally:
            self._waiting.pop(me, None)

    def _late(self) -> float:
        """Return the seconds for which a place that does not come has been waited for."""
        if not self._outstanding:
            return self.quiet_for()
        return math.inf if self._stalled else 0.0

    def _released(self, order: int) -> bool:
        """Return True if all waiters were released."""
        return self._open

    def interrupts(self, order: int, thread: int) -> bool:
        """Let a signal through to a waiting thread, if it is its turn; that thread then runs."""
        with self._cond:
            due = order <= self._places.next or (self._lowest(order) and self._alone(thread))
            if thread not in self._blocked or self._paused or not due or self._others_run():
                return False
            self._blocked.discard(thread)
        self._mark(order)
        return True

    def rest(self) -> None:
        """Wait, within bounds, until no other thread runs; later questions then wait for an outcome."""
        until = monotonic() + _SETTLING
        with self._cond:
            while (self._coming or self._able(get_ident())) and (left := until - monotonic()) > 0:
                _wait(self._cond, min(left, 0.002))
                until = max(until, monotonic() + _SETTLING) if self._paused else until

    def others_run(self) -> bool:
        with self._cond:
            return self._paused > 0 or bool(self._waiting) or not self._alone(get_ident())

    def quiet_for(self) -> float:
        with self._cond:
            return self._quiet.seconds(self._able(get_ident()))

    def stands(self, endless: AbstractSet[int]) -> bool:
        with self._cond:
            coming = self._waiting or self._coming or self._jobs or self._outstanding
            if self._open or self._paused or coming or self.expected is not None:
                return False
            # Nothing stands where a loop has a wake-up to release, and its thread does not wait elsewhere.
            return not (self._alive - self._blocked - endless) and not any(
                getattr(loop, "_thread_id", None) not in endless and pump.waiting()
                for loop, pump in list(self._pumps.items())
            )

    def strangers(self, threads: AbstractSet[int]) -> AbstractSet[int]:
        with self._cond:
            return threads - self._alive

    def over(self, place: int) -> bool:
        """Return True if no thread runs or waits for an outcome before that place."""
        with self._cond:
            queued = [item for pump in list(self._pumps.values()) for item in pump.waiting()]
            first = min(
                (*self._waiting.values(), *(order for order, _, _ in queued if order >= 0)), default=place
            )
            # A finished job of which its loop has not heard may set off anything.
            unheard = self._jobs > sum(entry.when == 0 for _, _, entry in queued)
            busy = self._able(get_ident()) or self._coming or self._outstanding or unheard
            return not busy and first >= place

    def _lowest(self, order: int) -> bool:
        """Return True if nothing with a lower order waits, in a thread or in another thread's loop."""
        signal = self.expected
        if any(other < order for other in self._waiting.values()) or (signal is not None and signal < order):
            return False
        mine = running_loop()
        tops = [
            pump.queue[0][0]
            for loop, pump in list(self._pumps.items())
            # A loop whose own thread waits here, in a sync call, can let nothing through before that.
            if loop is not mine and pump.queue and getattr(loop, "_thread_id", None) not in self._waiting
        ]
        return all(order <= top for top in tops if top >= 0)

    def _alone(self, me: int) -> bool:
        """Return True if no other thread could still bring the due outcome. Call with the lock held."""
        return not self._able(me) and not self._coming and not self._jobs and not self._outstanding

    def may_release(self, entry: _Entry) -> bool:
        order = entry.order
        with self._lock:
            me = get_ident()
            if self._open and not self._paused:
                return True
            if self._paused:
                wait = True
            elif order is None:
                # A live answer passes at once; a timer without a record only when nothing else can happen.
                others = bool(self._waiting or self._able(me) or self._coming or self._outstanding)
                wait = entry.when is not None and (others or (entry.when > 0 and self._jobs > 0))
                wait = wait and not self._elapsed(entry)
            else:
                due = order <= self._places.next or (self._alone(me) and self._lowest(order))
                late = not due and self._late() > PATIENCE
                wait = not (due or late) or self._others_run()
            if not wait:
                self._blocked.discard(me)
                self._quiet.since = monotonic()
                return True
            self._blocked.add(me)
        pump = self._pumps[this_loop()]
        if self._outstanding:
            pump.move_up(self._elapsed)
        # All progress wakes the pump; the timer is for conditions that depend on time alone.
        pump.wake_at(monotonic() + self.skew + _LOOK)
        return False

    def _elapsed(self, entry: _Entry) -> bool:
        """Return True if a timer without a record is over while something runs for real."""
        timed = self._outstanding > 0 and entry.order is None and bool(entry.when)
        return timed and cast("float", entry.when) <= this_loop().time()

    def _others_run(self) -> bool:
        # Recorded outcomes took their time, and the program had come to rest before they came. Here they would come
        # at once: so no thread is released while another one still runs, within bounds.
        able = self._able(get_ident())
        if not self._coming and not able:
            return False
        return self._quiet.settles(able)

    def _able(self, me: int) -> set[int]:
        return self._alive - self._blocked - self._waiting.keys() - {me}

    def abandon(self, orders: Iterable[int]) -> None:
        """Pass over places that will not come: they lie inside an effect that is answered whole."""
        with self._cond:
            self._places.skip(orders)

    def _idle(self) -> None:
        pump = self._pumps[this_loop()]
        if self._hanging.waits and not pump.waiting():
            self._look_for_stuck(pump)

    def _look_for_stuck(self, pump: _Pump) -> None:
        """End a wait whose cancellation never comes: nothing is due, and nothing moves for a while."""
        if not self._hanging.some_left():
            return
        with self._cond:
            # A thread that waits for its turn gets it, and may cause the cancellation.
            alone = self._alone(get_ident()) and not self._waiting
        if alone and not getattr(pump.loop, "_ready", None) and monotonic() - self._quiet.since > 2 * _LOOK:
            self._hanging.fail_first()
        else:
            pump.wake_at(monotonic() + self.skew + _LOOK)

    def _mark(self, order: int | None) -> None:
        with self._lock:
            self._take(order)
        self._wake_pumps(self._hanging.waits)

    def _take(self, order: int | None) -> None:
        if order is not None:
            self._places.take(order)
        self._stalled = False
        self._quiet.since = monotonic()
        self._notify()

    def _notify(self) -> None:
        waiters: Any = self._cond._waiters  # type: ignore[attr-defined]  # noqa: SLF001 - a look costs less than a call
        if waiters:
            _notify(self._cond, len(waiters))

    def job_passed(self) -> None:
        with self._cond:
            self._jobs -= 1

    def _moved(self) -> None:
        with self._cond:
            self._notify()
        self._wake_pumps(self._hanging.waits)
