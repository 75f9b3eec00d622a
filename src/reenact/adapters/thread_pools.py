"""Jobs of thread pools: their scopes, and the order in which workers take them up.

A job gets its scope when it is handed in. It begins in its turn, as a thread does.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from _thread import allocate_lock
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.thread import _WorkItem
from contextlib import nullcontext
from contextvars import ContextVar
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from reenact.adapters import initializers, locks, ordered, pool_workers, sleepers
from reenact.adapters.concurrency import BEGIN, begun, call_within, watch_races
from reenact.adapters.scopes import context_of, inner_of, listening, name_of
from reenact.adapters.stdlib import callers
from reenact.core.boundary import Scope, Turnstile, entered
from reenact.core.boundary.current import current, current_scope

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class JobEnd:
    """The end of a job, from which its event loop is to hear.

    A replay counts the ends of which the loops have not heard yet.

    Args:
        turnstile: The run's.
        loop: The loop that is to hear it.
    """

    __slots__ = ("_given", "_heard", "_lock", "_loop", "_turnstile")

    def __init__(self, turnstile: Turnstile, loop: asyncio.AbstractEventLoop) -> None:
        self._turnstile = turnstile
        self._loop = loop
        self._lock = allocate_lock()
        self._given = self._heard = False

    def give(self) -> None:
        """It has ended. A loop that is closed, or waits for it no more, will not hear it."""
        with self._lock:
            self._given = not self._heard and not self._loop.is_closed()
            if self._given:
                self._turnstile.job_done()

    def hear(self) -> None:
        """The loop has heard it, or waits for it no more."""
        with self._lock:
            if self._given and not self._heard:
                self._turnstile.job_passed()
            self._heard = True


awaited: ContextVar[JobEnd | None] = ContextVar("reenact_awaited", default=None)
"""The list in which a job that an event loop awaits reports its end."""

_finished = threading.local()
"""The turnstile of the job that this thread has just done."""

_HAND_IN = ("asyncio.", "concurrent.futures")
"""Modules that hand in jobs for their callers."""

_NEVER = "cancelled before it began"


def install(replace: Callable[[Any, str, Callable[..., Any]], None]) -> None:
    """Patch thread pools.

    Args:
        replace: Puts `wrapper(original, *args)` in the place of an owner's attribute.
    """
    replace(ThreadPoolExecutor, "__init__", _made)
    replace(ThreadPoolExecutor, "submit", _submit)
    replace(ThreadPoolExecutor, "shutdown", _shut)
    replace(_WorkItem, "run", _work)


def _submit(
    original: Callable[..., Any], pool: Any, fn: Callable[..., T], /, *args: Any, **kwargs: Any
) -> Any:
    scope = current()
    if scope is None:
        return original(pool, fn, *args, **kwargs)
    if scope.hidden:
        return original(pool, functools.partial(call_within, scope, fn, *args, **kwargs))
    watch_races(scope)
    inner = inner_of(fn, args)
    child = scope.child("thread:" + name_of(inner, scope.run.rules))
    if scope.run.replaying and scope.run.handler.due(child, _NEVER) is not None:
        # Recorded, it was cancelled before a worker took it up.
        with ordered.naming(child):
            future: Any = Future()
        never = pool_workers.NeverBegun(future)
        jobs = pool_workers.queue_of(pool)
        if jobs is not None:
            jobs.keep(never)
        future.add_done_callback(functools.partial(_told, never))
        _places(pool).never.append(never)
        return future
    places = _places(pool)
    child.run.working.add(child.path)
    # Such a wait is the program's, though only libraries are seen below it.
    run = _wait if sleepers.is_wait(inner) and callers.program(_giver(sys._getframe(2))) else _job
    job = functools.partial(run, child, places, awaited.get(), fn, *args, **kwargs)
    places.taken(child)
    # The pool takes up jobs as they are handed in, so threads hand them in in the recorded order.
    with places.order:
        token = current_scope.set(None)
        try:
            # The first submission starts a pool's threads, which serve all tasks: they have no scope.
            with ordered.naming(child):
                initializers.starting(pool, scope)
                future = original(pool, job)
        except BaseException:
            # The pool is shut down, or broken.
            child.run.working.discard(child.path)
            places.left(child)
            raise
        finally:
            current_scope.reset(token)
    if scope.run.replaying and scope.run.handler.due(child, BEGIN) is not None:
        # Recorded, a worker had started it before it could be cancelled.
        future.cancel = lambda: False
    future.add_done_callback(functools.partial(_cancelled, child, places))
    return future


def _cancelled(scope: Scope, places: _Places, future: Any) -> None:
    if future.cancelled():
        scope.run.working.discard(scope.path)
        places.left(scope)
        scope.run.handler.fire(scope, _NEVER)
    else:
        pool_workers.pass_cancelled()


def _told(job: pool_workers.NeverBegun, _: Any) -> None:
    """Tell those who wait for a job that no worker will come by, as the worker would."""
    if not job.kept:
        job.run()


class _Places:
    """The jobs of a pool and its free workers: a job without a free worker does not start yet.

    Each job is named by its scope. It leaves once: by its end, or cancelled before it began.

    Args:
        workers: The number of workers.
        order: The lock for handing in jobs.
    """

    def __init__(self, workers: int, order: Any) -> None:
        self.order = order
        self._workers = workers
        self._free = workers
        self._queued: dict[Scope, None] = {}
        self._lock = threading.Lock()
        self.ended = sleepers.WorkEnd(lambda: self.idle)
        """Comes when there is nothing to do, before the last worker has ended."""
        self.never: list[pool_workers.NeverBegun] = []
        """The jobs that a replay does not hand in: they were cancelled before they began."""

    @property
    def idle(self) -> bool:
        """True if there is nothing to do."""
        return self._free == self._workers and not self._queued

    def taken(self, job: Scope) -> None:
        """A job is handed in."""
        job.run.threaded = True
        with self._lock:
            starts = self._free > 0
            self._free -= starts
            if not starts:
                self._queued[job] = None
        if starts:
            job.run.turnstile.thread_started()

    def left(self, job: Scope) -> None:
        """A job has ended, or will not begin; its worker takes up the next one, if there is one."""
        with self._lock:
            starts = False
            if job in self._queued:
                del self._queued[job]
            elif self._queued:
                del self._queued[next(iter(self._queued))]
                starts = True
            else:
                self._free += 1
        if starts:
            job.run.turnstile.thread_started()
        self.ended.look()


_pools: WeakKeyDictionary[Any, _Places] = WeakKeyDictionary()
if hasattr(os, "register_at_fork"):
    # A fork of the process has none of its workers.
    os.register_at_fork(after_in_child=_pools.clear)


def _places(pool: Any) -> _Places:
    known = _pools.get(pool)
    if known is None:
        known = _pools[pool] = _Places(pool._max_workers, nullcontext())
    return known


def _made(original: Callable[..., None], pool: Any, *args: Any, **options: Any) -> None:
    initializers.made(original, pool, [*args], options)
    if listening() is not None:
        pool_workers.made(pool, all_first=initializers.of(pool) is not None)
    order = locks.OrderedLock.of_pool(sys._getframe(2))
    if order is not None:
        _pools[pool] = _Places(pool._max_workers, order)


def _job(scope: Scope, places: _Places, end: JobEnd | None, fn: Any, *args: Any, **kwargs: Any) -> Any:
    turnstile = scope.run.turnstile
    turnstile.thread_begins()
    token = current_scope.set(scope)
    locks.working(scope)
    try:
        begun(scope)
        if isinstance(fn, functools.partial) and context_of(fn.func) is not None:
            fn, args, kwargs = fn.func, (*fn.args, *args), {**fn.keywords, **kwargs}
        context = context_of(fn)
        if context is not None:
            return context.run(call_within, scope, *args, **kwargs)
        return fn(*args, **kwargs)
    finally:
        scope.run.working.discard(scope.path)
        locks.working(None)
        current_scope.reset(token)
        if end is not None:
            end.give()
        places.left(scope)
        _finished.turnstile = turnstile


def _wait(*args: Any, **kwargs: Any) -> Any:
    """Run a job that is a wait of the program's."""
    with sleepers.waiting_job():
        return _job(*args, **kwargs)


def _giver(frame: FrameType | None) -> FrameType | None:
    """Return the frame that hands in a job, behind the standard library's."""
    while frame is not None and (
        frame.f_globals.get("__name__", "").startswith(_HAND_IN)
        or frame.f_code.co_filename.startswith(callers.OURS)
    ):
        frame = frame.f_back
    return frame


def _work(original: Callable[..., None], item: Any, *args: Any) -> None:
    """Run a job; its end includes the callbacks of its future, which run in its thread."""
    try:
        original(item, *args)
    finally:
        pool_workers.left()
        turnstile = getattr(_finished, "turnstile", None)
        if turnstile is not None:
            _finished.turnstile = None
            turnstile.thread_ends()


def _shut(original: Callable[..., None], pool: Any, *args: Any, **options: Any) -> None:
    places = _pools.get(pool)
    if places is not None and options.get("cancel_futures"):
        for job in [job for job in places.never if not job.kept]:
            # Nobody is told of a job that is cancelled in this way.
            job.kept = True
            job.future.cancel()
    scope = current()
    if places is None or initializers.of(pool) is not None:
        original(pool, *args, **options)
        return
    waits = args[0] if args else options.get("wait", True)
    if scope is not None and waits and not places.idle and threading.current_thread() not in pool._threads:
        original(pool, wait=False, cancel_futures=bool(options.get("cancel_futures")))
        places.ended.wait(scope)
    # Its threads end at once: to wait for them is no rest, in which others might come first.
    with entered(None):
        original(pool, *args, **options)
