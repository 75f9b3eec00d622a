"""Find waits that nothing can end: the replayed program stands still.

A tool that is answered without running does not set the event that another thread waits for. So a replay checks each
wait without a time limit while it lasts. The program stands still if all threads of the run wait, no outcome is due,
nothing runs for real, and neither this process nor its children have worked for ten seconds. One waiting thread, or
task of an event loop, then gets a departure that names all waits with their lines.

Threads outside of the run may do anything: beside one of them, the program has to be quiet for a minute.

A program can also wait by sleeping again and again. It polls in vain if it sleeps three thousand times in a row, none
of them recorded, and nothing else happens. A loop that does not even sleep is not found: it works.
"""

from __future__ import annotations

import sys
import threading
from _thread import allocate_lock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary, ref

from reenact.adapters.process_activity import StandStill, has_children
from reenact.adapters.stdlib import callers
from reenact.core.boundary import Run, Scope
from reenact.core.boundary.running_loop import real_call_at, running_loop
from reenact.core.boundary.turnstile.working import ThreadWork
from reenact.core.frames import current_frames
from reenact.core.system import monotonic

_SLICE = 0.1
"""Seconds between two looks."""
_LOOK = 0.25
"""Seconds between two looks of an event loop."""
_WINDOWS = 6
"""The number of quiet looks in a row that count, beside threads outside of the run."""
_MOST = 3
"""The number of waits that a departure names."""

_POLLS = 3000
"""The number of sleeps in a row, none of them recorded, after which a program polls in vain."""

_LEFT = 40
"""The looks at a main task after a departure, after which the same wait is in vain."""

_watches: WeakKeyDictionary[Run, _RunWatch] = WeakKeyDictionary()
_watching = allocate_lock()
_loops: WeakKeyDictionary[Any, ref[Run]] = WeakKeyDictionary()
"""The watched event loops, each with its run. A loop may live longer than the run."""

_threads: dict[int, tuple[Run, bool]] = {}
"""The waiting threads: their run, and True if the wait ends by itself."""


def watched(scope: Scope) -> bool:
    """Return True if waits of this scope are checked: in a replay that is not live."""
    return scope.run.replaying and not scope.run.handler.gone_live


class _RunWatch:
    """The checks of one run, which its waiting threads and event loops share."""

    def __init__(self) -> None:
        self._looking = allocate_lock()
        self._looked = 0.0
        self._still: StandStill | None = None
        self._work = ThreadWork()
        self._quiet = 0
        self._polls = 0
        self._position = -1

    def found(self, run: Run, path: str) -> BaseException | None:
        """Check again, but not too often; return the departure that ends the wait, or None."""
        handler = run.handler
        if handler.poison is not None:
            return handler.poison
        if monotonic() - self._looked < _SLICE or not self._looking.acquire(blocking=False):
            return None
        try:
            self._looked = monotonic()
            return self._found(run, path)
        finally:
            self._looking.release()

    def _found(self, run: Run, path: str) -> BaseException | None:
        waiting = {thread: ends for thread, (other, ends) in list(_threads.items()) if other is run}
        standing = set(waiting)
        if run.handler.gone_live or any(waiting.values()) or not run.turnstile.stands(standing):
            self._still, self._quiet = None, 0
            return None
        self._still = self._still or StandStill(joined=False)
        looking = [each.native_id or 0 for each in threading.enumerate() if each.ident in standing]
        if not self._still.found(looking):
            return None
        strangers = _strangers(run)
        if self._work.seen(filter(None, (thread.native_id for thread in strangers))):
            self._quiet = 0
            return None
        self._quiet += 1
        if strangers and self._quiet < _WINDOWS:
            return None
        return run.handler.stands_still(path, ", ".join(_waits(standing)))

    def polled(self, scope: Scope, where: Callable[[], str]) -> BaseException | None:
        """Count a sleep that is not recorded.

        Return the departure if nothing but such sleeps happens.

        Args:
            scope: The scope of the code that sleeps.
            where: Returns the code in words.
        """
        turnstile = scope.run.turnstile
        with self._looking:
            if turnstile.position != self._position or turnstile.expected is not None:
                self._polls, self._position = 0, turnstile.position
            self._polls += 1
            polls = self._polls
        if polls % _POLLS or has_children():
            return None
        if polls < _POLLS * _WINDOWS and _strangers(scope.run):
            return None
        return scope.run.handler.stands_still(scope.path, f"{where()}, again and again")


def until(scope: Scope, attempt: Callable[[float], Any]) -> None:
    """Repeat an attempt until it is true.

    Args:
        scope: The scope of the thread that waits.
        attempt: Waits for the given seconds; returns True if the wait has ended.

    Raises:
        Halt: The replay has departed, or nothing can end the wait.
    """
    with waiting(scope.run):
        while not attempt(_SLICE):
            look(scope)


def look(scope: Scope) -> None:
    """Check a wait again. Raises the departure that ends it."""
    found = _watch_of(scope.run).found(scope.run, scope.path)
    if found is not None:
        raise found


def _watch_of(run: Run) -> _RunWatch:
    with _watching:
        return _watches.setdefault(run, _RunWatch())


def slept(scope: Scope, frame: FrameType) -> None:
    """Count a thread's sleep that is not recorded.

    Raises a departure if the thread polls in vain.

    Args:
        scope: The scope of the thread.
        frame: The code that sleeps.
    """
    name = threading.current_thread().name
    found = _watch_of(scope.run).polled(scope, lambda: f"{name} sleeps {_place(_stack(frame))}")
    if found is not None:
        raise found


@contextmanager
def waiting(run: Run, *, ends: bool = False) -> Iterator[None]:
    """Count the running thread as waiting while the body runs.

    Args:
        run: The thread's run.
        ends: The wait ends by itself.
    """
    me = threading.get_ident()
    before = _threads.get(me)
    _threads[me] = run, ends
    try:
        yield
    finally:
        if before is None:
            del _threads[me]
        else:
            _threads[me] = before


def _strangers(run: Run) -> list[threading.Thread]:
    """Return the threads that are neither the run's nor Reenact's, nor idle workers of pools."""
    frames = current_frames()
    # If the module is not imported, there is no pool.
    worker: Any = getattr(sys.modules.get("concurrent.futures.thread"), "_worker", None)
    idle = getattr(worker, "__code__", None)
    threads = {
        thread.ident: thread
        for thread in threading.enumerate()
        if thread.ident is not None
        and not getattr(thread, "reenact_own", False)
        and not (thread.ident in frames and frames[thread.ident].f_code is idle)
    }
    return [threads[number] for number in run.turnstile.strangers(threads.keys())]


# -- event loops -------------------------------------------------------------------------------------------


def of_loop(scope: Scope, loop: Any) -> None:
    """Check an event loop of a replay as long as it runs."""
    if watched(scope) and not _looked_at(loop, scope.run):
        _loops[loop] = ref(scope.run)
        _LoopWatch(scope, loop).again()


class _LoopWatch:
    """The checks of an event loop.

    Args:
        scope: The scope of the code that runs the loop.
        loop: The loop.
    """

    def __init__(self, scope: Scope, loop: Any) -> None:
        # A weak reference: a loop that is never closed must not keep its run alive.
        self._run = ref(scope.run)
        self._path = scope.path
        self._loop = loop
        self._last: Any = None
        self._looks = 0

    def again(self) -> None:
        """Check again after a while."""
        real_call_at(self._loop)(self._loop.time() + _LOOK, self._look, context=Context())

    def _look(self) -> None:
        run = self._run()
        if run is None or run.handler.gone_live or not _looked_at(self._loop, run):
            return
        departed = run.handler.poison is not None
        found, waiter = _watch_of(run).found(run, self._path), _waiter(self._loop)
        self._looks = self._looks + 1 if waiter is self._last else 0
        self._last = waiter
        # After a departure, the main task may clean up, and wait for several things in turn.
        if found is not None and waiter is not None and (not departed or self._looks > _LEFT):
            waiter.set_exception(found)
        self.again()


def _looked_at(loop: Any, run: Run) -> bool:
    known = _loops.get(loop)
    return known is not None and known() is run


def polls_in_vain(scope: Scope, loop: Any) -> bool:
    """Count a loop's timer that is not recorded.

    Return True if the loop polls in vain: its main task then gets the departure.
    """
    # A tool that runs for real may wait for long.
    if not watched(scope) or "#" in scope.path:
        return False
    found = _watch_of(scope.run).polled(scope, lambda: ", ".join(_waits(set())))
    waiter = _waiter(loop)
    if found is None or waiter is None:
        return False
    waiter.set_exception(found)
    return True


def _waiter(loop: Any) -> Any:
    """Return the future that the loop's main task waits for, or None."""
    waiter = _main(loop)
    while isinstance(waiter, sys.modules["asyncio"].Task):
        waiter = getattr(waiter, "_fut_waiter", None)
    return None if waiter is None or waiter.done() else waiter


def _main(loop: Any) -> Any:
    """Return the loop's main task, or None."""
    asyncio: Any = sys.modules["asyncio"]
    tasks: list[Any] = list(asyncio.all_tasks(loop))
    for task in tasks:
        if any(entry[0] is asyncio.base_events._run_until_complete_cb for entry in task._callbacks or ()):
            return task
    return min(tasks, key=lambda task: (len(task.get_name()), task.get_name()), default=None)


# -- words -------------------------------------------------------------------------------------------------


def _waits(threads: set[int]) -> list[str]:
    """Return the waits of these threads, and of the running event loop, in words."""
    main = threading.main_thread().ident
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    frames = current_frames()
    found = [
        f"{names.get(thread, 'a thread')} waits {_place(_stack(frames.get(thread)))}"
        for thread in sorted(threads, key=lambda thread: (thread != main, thread))
    ]
    loop = running_loop()
    if loop is not None and threading.get_ident() not in threads:
        task = _main(loop)
        if task is not None:
            found.insert(0, f"{task.get_name()} waits {_place(_awaited(task.get_coro()))}")
    more = [f"{len(found) - _MOST} more"] if len(found) > _MOST else []
    return [*found[:_MOST], *more]


def _stack(frame: FrameType | None) -> list[FrameType]:
    """Return a thread's frames, the innermost first."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def _awaited(coro: Any) -> list[FrameType]:
    """Return the frames of a coroutine and of those that it awaits, the innermost first."""
    frames: list[FrameType] = []
    while coro is not None:
        frame = getattr(coro, "cr_frame", None) or getattr(coro, "gi_frame", None)
        if frame is not None:
            frames.insert(0, frame)
        coro = getattr(coro, "cr_await", None) or getattr(coro, "gi_yieldfrom", None)
    return frames


def _place(frames: list[FrameType]) -> str:
    """Return the function that waits, as the program called it, and the program's file and line."""
    names: list[str] = []
    for frame in frames:
        place = callers.place_in(frame)
        if place is not None:
            return f"in {names[-1]}() at {place}" if names else f"at {place}"
        if not frame.f_code.co_filename.startswith(callers.OURS):
            names.append(frame.f_code.co_name)
    return f"in {names[0]}()" if names else "in a library"
