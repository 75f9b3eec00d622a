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
"""Seconds of processor time that a thread may take while it runs Python code.

Other threads hardly run meanwhile.
"""


class RecordingTurnstile(_Base):
    """Lets outcomes pass as they come, one at a time, so that their recorded order is true.

    Args:
        shared: The lock, the condition and the pumps of the turnstile from which this one takes over.

    Attributes:
        threaded: True if several threads run, or may come to run.
    """

    def __init__(self, shared: Parts | None = None) -> None:
        super().__init__()
        if shared is not None:
            self._lock, self._cond, self._pumps = shared
        self._running: set[int] = set()
        self.threaded = False
        self._waiting: set[int] = set()
        # Threads that wait for the lock, which another one may hold for a while.
        self._arriving: set[int] = set()
        self._turns = 0
        self._work = ThreadWork()
        self.uncertain = 0

    def take_over(self, running: set[int], *, threaded: bool) -> None:
        """Go on with the threads that run now."""
        self._running, self.threaded = running, threaded

    def settle(self) -> None:
        if get_ident() in self._running:
            self._arriving.add(get_ident())
            with self._lock:
                self._arrive()
                if self._waiting and not self._running:
                    # Only one can go on, and the others wait for it.
                    self._cond.notify()

    def _arrive(self) -> None:
        """Note that the running thread comes to rest. Call with the lock held."""
        self._running.discard(get_ident())
        self._arriving.discard(get_ident())

    _idle = settle

    def pass_sync(self, order: int | None, write: Callable[[], None] | None) -> None:
        if self.interrupt is not None:
            self.interrupt(order)
        self._arriving.add(get_ident())
        with self._lock:
            # A thread that waits for its turn is at rest, else two of them would wait for each other.
            self._arrive()
            if self._running:
                self._await_others()
            if write is not None:
                write()
            self._running.add(get_ident())
            self._turns += 1
        if self.threaded:
            self._rests_later()

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
        self._running.add(thread)

    def others_run(self) -> bool:
        return True

    def quiet_for(self) -> float:
        return 0.0

    def job_done(self) -> None: ...

    def job_passed(self) -> None: ...

    def rests(self, loop: asyncio.AbstractEventLoop) -> None:
        if get_ident() in self._running:
            self._pump(loop).wake()

    def _runs(self) -> None:
        """Report that this thread runs without a released outcome; the next outcome waits for it."""
        self._running.add(get_ident())
        self._rests_later()

    def _rests_later(self) -> None:
        """Let the running loop, if there is one, report when it has nothing left to run."""
        loop = running_loop()
        if loop is not None:
            self._pump(loop).wake()

    def thread_ends(self) -> None:
        self.settle()

    def blocks(self, still: Callable[[], bool] | None = None) -> None:
        self.settle()

    def may_release(self, entry: _Entry) -> bool:
        self._arriving.add(get_ident())
        with self._lock:
            self._arrive()
            if self._running:
                self._await_others()
            self._running.add(get_ident())
        return True

    def passes_at_once(self, order: int | None) -> bool:
        # With several threads, the others must see that this one runs, and when it has come to rest.
        return not self.threaded

    def _await_others(self) -> None:
        # On a busy machine a thread without a processor is waited for longer: only time with one counts.
        began, looks, turns = monotonic(), 0, self._turns
        looked, until = began, began + _LONGEST
        places: dict[int, object] = {}
        apart, stands = _SOON, False
        known: set[int] = set()
        self._waiting.add(get_ident())
        while (running := set(self._running)) and looks < _LOOKS and (now := monotonic()) < until:
            if turns != self._turns or not running <= known:
                # Another thread passed first, or began to run: each gets its own time.
                turns, known, began, looks, looked = self._turns, running, now, 0, now
            if now - looked >= apart or not places:
                before, places = places, _places(running)
                stands = before == places and _within_tools(places)
                if stands and self._work.waits(_natives(places)):
                    # Others go first, as with any answer from outside.
                    break
                moves = bool(before) and before != places
                busy = (moves and now < began + _BUSY) or bool(running & self._arriving)
                looks += not (busy or self._starved(places, _BUSY if moves else GRACE, began))
                looked, apart = now, _SOON if not before else _APART
            _wait(self._cond, apart)
        self._waiting.discard(get_ident())
        # Without threads that began to run after the last look.
        racing = self._running & places.keys()
        if racing and not stands:
            self.uncertain += 1
            if self.raced is not None:
                self.raced(racing)
        self._running -= racing

    def _starved(self, running: Iterable[int], limit: float, began: float) -> bool:
        """Return True if one of these threads, or one that may wake it, lacks a processor."""
        if self._work.starved(_natives(running), limit, began):
            return True
        numbers = {thread.native_id for thread in threading.enumerate() if thread.ident not in self._waiting}
        # A thread without a number has been started but has not run yet.
        return None in numbers or self._work.starved(filter(None, numbers), GRACE, began)


def _places(threads: Iterable[int]) -> dict[int, object]:
    """Return the place in the code where each of these threads is."""
    frames = current_frames()
    found = {thread: frames.get(thread) for thread in threads}
    return {thread: frame and (frame.f_code, frame.f_lasti) for thread, frame in found.items()}


def _within_tools(threads: Iterable[int]) -> bool:
    """Return True if each of these threads runs a tool."""
    frames = current_frames()
    return all(_is_within_tool(frames.get(thread)) for thread in threads)


def _is_within_tool(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code not in TOOLS:
        frame = frame.f_back
    return frame is not None


def _natives(threads: Iterable[int]) -> list[int]:
    """Return the system's numbers of running threads."""
    numbers = {thread.ident: thread.native_id for thread in threading.enumerate()}
    return [number for number in map(numbers.get, threads) if number is not None]
