"""The pump of one event loop, and the base class of all turnstiles."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Awaitable, Callable, Collection
from collections.abc import Set as AbstractSet
from contextlib import suppress
from contextvars import Context
from typing import TYPE_CHECKING, Any, TypeAlias

from reenact.core.boundary.running_loop import real_call_at, running_loop, this_loop

if TYPE_CHECKING:
    import asyncio

_SPINS = 32

# The real ones, whatever is patched later: the turnstile itself runs on real time.
_wait = threading.Condition.wait
_notify = threading.Condition.notify


class _Pump:
    """Releases the queued wake-ups of one event loop, one at a time, while the loop is quiet."""

    def __init__(self, loop: asyncio.AbstractEventLoop, may_release: Callable[[_Entry], bool]) -> None:
        self.loop = loop
        self.may_release = may_release
        self.queue: list[tuple[float, int, _Entry]] = []
        self.idle: Callable[[], None] = lambda: None
        self.rest: Callable[[], None] = lambda: None
        self._active = False
        self._ready: Any = getattr(loop, "_ready", None)
        self._handle: Any = None
        self._spins = 0
        self._count = itertools.count()
        # Released code must not inherit the scope of the code that queued first.
        self._context = Context()

    @property
    def quiet(self) -> bool:
        """True if nothing is queued here and the loop has only the current callback to run."""
        return not (self.queue or self._active or self._ready or self._ready is None)

    def push(self, priority: float, entry: _Entry) -> None:
        heapq.heappush(self.queue, (priority, next(self._count), entry))
        self.wake()

    def wake_at(self, when: float) -> None:
        """Wake at a time of the loop's clock, for conditions that depend on time alone."""
        real_call_at(self.loop)(when, self.wake, context=Context())

    def waiting(self) -> list[tuple[float, int, _Entry]]:
        """Return the queued entries that have not been given up. Any thread may ask."""
        return [item for item in list(self.queue) if not item[2].given_up()]

    def move_up(self, over: Callable[[_Entry], bool]) -> None:
        """Move timers that are over to the front: what waits before them may wait for them."""
        elapsed = [item for item in self.queue if item[0] > 0 and over(item[2])]
        if elapsed:
            self.queue[:] = [(-1.0, item[1], item[2]) if item in elapsed else item for item in self.queue]
            heapq.heapify(self.queue)

    def wake(self) -> None:
        if not self._active:
            self._active = True
            self._handle = self.loop.call_soon(self._run, context=self._context)

    def wake_from_thread(self) -> None:
        with suppress(RuntimeError):
            # It may be closed by now: then no task waits in it.
            self.loop.call_soon_threadsafe(self.wake, context=Context())

    def _run(self) -> None:
        if self._ready and self._spins < _SPINS:
            self._spins += 1
            # The loop keeps no state of a handle that has run: it can be used again.
            self._ready.append(self._handle)
            return
        self._spins = 0
        self.idle()
        while self.queue and self.queue[0][2].given_up():
            heapq.heappop(self.queue)
        if not self.queue or not self.may_release(self.queue[0][2]):
            self._active = False
            if not self.queue and not getattr(self.loop, "_stopping", False):
                # A loop that stops hands its thread back to the program, which goes on.
                self.rest()
            return
        entry = heapq.heappop(self.queue)[2]
        try:
            entry.release()
        finally:
            # An error of one wake-up must not stop the others.
            if self._ready is None:
                self._handle = self.loop.call_soon(self._run, context=self._context)
            else:
                self._ready.append(self._handle)


class _Entry:
    """One queued wake-up."""

    __slots__ = ("given_up", "order", "release", "when")

    def __init__(
        self,
        order: int | None,
        release: Callable[[], None],
        given_up: Callable[[], bool],
        when: float | None = None,
    ) -> None:
        self.order = order
        self.release = release
        self.given_up = given_up
        self.when = when


Parts: TypeAlias = "tuple[threading.RLock, threading.Condition, dict[asyncio.AbstractEventLoop, _Pump]]"
"""The lock of a turnstile, its condition, and the pump of each loop."""


class _Base:
    """The base class of the turnstiles: it holds the pump of each loop."""

    def __init__(self) -> None:
        # Taken for every outcome: the lock's own `with` is C, that of the condition is not.
        self._lock = threading.RLock()
        self._cond = threading.Condition(self._lock)
        # Any thread iterates over it: `list()` copies a plain dict in one step.
        self._pumps: dict[asyncio.AbstractEventLoop, _Pump] = {}
        self._latest: _Pump | None = None
        self.raced: Callable[[set[int]], None] | None = None
        self.interrupt: Callable[[int | None], None] | None = None
        self.on_settle: Callable[[], None] = lambda: None
        self.expected: int | None = None

    @property
    def position(self) -> int:
        return 0

    def stands(self, endless: AbstractSet[int]) -> bool:
        return False

    def strangers(self, threads: AbstractSet[int]) -> AbstractSet[int]:
        return threads

    def _pump(self, loop: asyncio.AbstractEventLoop) -> _Pump:
        last = self._latest
        if last is not None and last.loop is loop:
            return last
        pump = self._latest = self._pumps.get(loop) or self._new_pump(loop)
        return pump

    def _new_pump(self, loop: asyncio.AbstractEventLoop) -> _Pump:
        for old, pump in list(self._pumps.items()):
            if old.is_closed() and not pump.queue:
                self._pumps.pop(old, None)
        pump = self._pumps[loop] = _Pump(loop, self.may_release)
        pump.idle, pump.rest = self._idle, self.blocks
        return pump

    def _wake_pumps(self, waits: Collection[object]) -> None:
        """Wake the pumps that have a wake-up queued; all of them if there are other `waits`."""
        # Called for every outcome and wait, so the usual cases come first.
        last = self._latest
        if last is None and not self._pumps:
            return
        me = running_loop()
        if last is not None and last.loop is me and len(self._pumps) == 1:
            # Usually there is one loop, which is running here.
            if last.queue or waits:
                last.wake()
            return
        for loop, pump in list(self._pumps.items()):
            if pump.queue or waits:
                (pump.wake if loop is me else pump.wake_from_thread)()

    def may_release(self, entry: _Entry) -> bool:
        raise NotImplementedError

    def passes_at_once(self, order: int | None) -> bool:
        raise NotImplementedError

    def _idle(self) -> None:
        raise NotImplementedError

    def blocks(self, still: Callable[[], bool] | None = None) -> None:
        raise NotImplementedError

    def passes_now(self, order: int | None, loop: asyncio.AbstractEventLoop) -> bool:
        # It would be the next to pass anyway: save the loop a turn.
        return self._pump(loop).quiet and self.passes_at_once(order)

    async def pass_async(self, order: int | None, write: Callable[[], None] | None) -> None:
        loop = this_loop()
        if not self.passes_now(order, loop):
            await self.await_turn(order, loop, write)
        elif write is not None:
            write()

    def await_turn(
        self, order: int | None, loop: asyncio.AbstractEventLoop, write: Callable[[], None] | None
    ) -> Awaitable[None]:
        turn = loop.create_future()

        def release() -> None:
            if write is not None:
                write()
            turn.set_result(None)

        self.queue(loop, _Entry(order, release, turn.done))
        return turn

    def push(
        self,
        loop: asyncio.AbstractEventLoop,
        order: int | None,
        release: Callable[[], None],
        given_up: Callable[[], bool],
        when: float | None = None,
    ) -> None:
        self.queue(loop, _Entry(order, release, given_up, when))

    def queue(self, loop: asyncio.AbstractEventLoop, entry: _Entry) -> None:
        """Queue a wake-up, as `push` does."""
        raise NotImplementedError
