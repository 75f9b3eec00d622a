"""The turnstile of a recording: outcomes pass as they come, one at a time."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterable
from threading import get_ident
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from reenact.core.boundary.running_loop import running_loop
from reenact.core.boundary.turnstile.protocol import GRACE
from reenact.core.boundary.turnstile.pump import Parts, _Base, _Entry, _wait
from reenact.core.boundary.turnstile.working import ThreadWork
from reenact.core.frames import current_frames
from reenact.core.system import monotonic

if TYPE_CHECKING:
    import asyncio

TOOLS: set[CodeType] = set()
"""The functions that call tools."""

_LOOKS = 5
_APART = GRACE / _LOOKS
"""Seconds between two looks at the threads that run."""
_SOON = _APART / 10
"""Seconds between the first two looks."""
_LONGEST = 1.0
_BUSY = 0.05
"""Seconds that a thread is waited for while it runs Python code.

Others could hardly run beside it.
"""


class RecordingTurnstile(_Base):
    """Lets outcomes pass as they come, one at a time, so that their recorded order is true.

    Args:
        beside: The lock, the condition and the pumps of the turnstile from which this one takes over.

    Attributes:
        threaded: Several threads run, or may come to.
    """

    def __init__(self, beside: Parts | None = None) -> None:
        super().__init__()
        if beside is not None:
            self._lock, self._cond, self._pumps = beside
        self._running: set[int] = set()
        self.threaded = False
        self._waiting: set[int] = set()
        self._turns = 0
        self._work = ThreadWork()
        self.uncertain = 0

    def take_over(self, running: set[int], *, threaded: bool) -> None:
        """Go on with the threads that run now."""
        self._running, self.threaded = running, threaded

    def settle(self) -> None:
        if self._running:
            with self._lock:
                self._running.discard(get_ident())
                left = self._running
                if self._waiting and not left:
                    # Only one can go on, and the others wait for it.
                    self._cond.notify()
                elif self._waiting and len(left) == 1 and left <= self._waiting:
                    self._cond.notify_all()

    _idle = settle

    def _others_run(self) -> bool:
        """Return True if another released thread has not settled. Call with the lock held."""
        return len(self._running) > 1 or (bool(self._running) and get_ident() not in self._running)

    def pass_sync(self, order: int | None, write: Callable[[], None] | None) -> None:
        if self.interrupt is not None:
            self.interrupt(order)
        with self._lock:
            if self._others_run():
                self._await_others()
            if write is not None:
                write()
            self._running.add(get_ident())
            self._turns += 1

    def queue(self, loop: asyncio.AbstractEventLoop, entry: _Entry) -> None:
        self._pump(loop).push(0, entry)

    def at_rest(self, thread: int) -> bool:
        """Return True if that thread waits for an outcome or for another thread."""
        return thread not in self._running

    def hang(self, stuck: Callable[[], BaseException]) -> Awaitable[None]:
        raise AssertionError("nothing is cancelled beforehand in a recording")

    def live_begins(self) -> None: ...

    def live_ends(self) -> None: ...

    def thread_started(self) -> None:
        self.threaded = True
        self._runs()

    def thread_begins(self) -> None: ...

    def unblocks(self) -> None:
        self._runs()

    def woken(self, thread: int) -> None:
        with self._lock:
            self._running.add(thread)

    def others_run(self) -> bool:
        return True

    def quiet_for(self) -> float:
        return 0.0

    def job_done(self) -> None: ...

    def job_passed(self) -> None: ...

    def rests(self, loop: asyncio.AbstractEventLoop) -> None: ...

    def _runs(self) -> None:
        """Report that this thread runs without a released outcome; the next outcome waits for it."""
        with self._lock:
            self._running.add(get_ident())
        loop = running_loop()
        if loop is not None:
            self._pump(loop).wake()

    def thread_ends(self) -> None:
        self.settle()

    def blocks(self, still: Callable[[], bool] | None = None) -> None:
        self.settle()

    def may_release(self, entry: _Entry) -> bool:
        with self._lock:
            if self._running and self._others_run():
                self._await_others()
            self._running.add(get_ident())
        return True

    def passes_at_once(self, order: int | None) -> bool:
        # With threads about, the others must see that this one runs, and when it has come to rest.
        return not self.threaded

    def _await_others(self) -> None:
        # A thread that has no processor, on a busy machine, is waited for longer: its grace is time that it has.
        began, looks, turns = monotonic(), 0, self._turns
        looked, until = began, began + _LONGEST
        places: dict[int, object] = {}
        apart, stands = _SOON, False
        self._waiting.add(get_ident())
        while self._others_run() and looks < _LOOKS and (now := monotonic()) < until:
            if turns != self._turns:
                # Another one went first: each has its own time.
                turns, began, looks, looked = self._turns, now, 0, now
            if now - looked >= apart or not places:
                before, places = places, _places(self._running)
                stands = before == places and _within_tools(places)
                if stands and self._work.waits(_natives(places)):
                    # As for any answer from outside, others go first.
                    break
                busy = bool(before) and before != places and now < began + _BUSY
                looks += not (busy or self._work.starved(_natives(self._running), GRACE, began))
                looked, apart = now, _SOON if not before else _APART
            _wait(self._cond, apart)
        self._waiting.discard(get_ident())
        if self._others_run() and not stands:
            self.uncertain += 1
            if self.raced is not None:
                self.raced(set(self._running))
        self._running.clear()


def _places(threads: Iterable[int]) -> dict[int, object]:
    """Return the place in the code where each of these threads is."""
    frames = current_frames()
    found = {thread: frames.get(thread) for thread in threads if thread != get_ident()}
    return {thread: frame and (frame.f_code, frame.f_lasti) for thread, frame in found.items()}


def _within_tools(threads: Iterable[int]) -> bool:
    """Return True if each of these threads runs a tool."""
    frames = current_frames()
    return all(_is_within_tool(frames.get(thread)) for thread in threads if thread != get_ident())


def _is_within_tool(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code not in TOOLS:
        frame = frame.f_back
    return frame is not None


def _natives(threads: Iterable[int]) -> list[int]:
    """Return the system's numbers of running threads."""
    numbers = {thread.ident: thread.native_id for thread in threading.enumerate()}
    return [number for number in map(numbers.get, threads) if number is not None]
