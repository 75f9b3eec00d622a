"""Jobs of thread pools: their scopes, and the order in which workers start them.

A job gets its scope when it is submitted. It begins in its turn, as a thread does.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from _thread import allocate_lock
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.thread import _WorkItem
from contextlib import nullcontext
from contextvars import ContextVar
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from reenact.adapters import initializers, locks, ordered, pool_workers, sleepers
from reenact.adapters.concurrency import BEGIN, begun, call_within, watch_races
from reenact.adapters.hooks import Replace
from reenact.adapters.scopes import context_of, inner_of, listening, name_of
from reenact.adapters.stdlib import callers
from reenact.core.boundary import Scope, Turnstile, entered
from reenact.core.boundary.current import current, current_scope

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class JobEnd:
    """The end of a job that an event loop awaits.

    The turnstile counts the ends that have not reached their loops yet.

    Args:
        turnstile: The run's.
        loop: The loop that awaits the job.
    """

    __slots__ = ("_lock", "_loop", "_received", "_reported", "_turnstile")

    def __init__(self, turnstile: Turnstile, loop: asyncio.AbstractEventLoop) -> None:
        self._turnstile = turnstile
        self._loop = loop
        self._lock = allocate_lock()
        self._reported = self._received = False

    def report(self) -> None:
        """Note that the job has ended, unless the loop is closed or no longer awaits it."""
        with self._lock:
            self._reported = not self._received and not self._loop.is_closed()
            if self._reported:
                self._turnstile.job_done()

    def receive(self) -> None:
        """Note that the loop has received the end, or no longer awaits it."""
        with self._lock:
            if self._reported and not self._received:
                self._turnstile.job_passed()
            self._received = True


awaited: ContextVar[JobEnd | None] = ContextVar("reenact_awaited", default=None)
"""The end of the job that is being submitted, if an event loop awaits it."""

_finished = threading.local()
"""The turnstile of the job that this thread has just done."""

_SUBMITTERS = ("asyncio.", "concurrent.futures")
"""Modules that submit jobs for their callers."""

NEVER = "cancelled before it began"
"""The name of the end of a job that was cancelled before a thread took it."""


def install(replace: Replace) -> None:
    """Patch thread pools."""
    replace(ThreadPoolExecutor, "__init__", _made)
    replace(ThreadPoolExecutor, "submit", _submit)
    replace(ThreadPoolExecutor, "shutdown", _shutdown)
    replace(_WorkItem, "run", _run_item)
    replace(Executor, "map", _map)


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
    if scope.run.replaying and scope.run.handler.due(child, NEVER) is not None:
        return _never_begun(pool, child)
    load = _load_of(pool)
    # A job that only waits (`submit(event.wait)`) has no frame of the program's: its wait is the program's, if the
    # program has submitted it.
    run = _wait if sleepers.is_wait(inner) and callers.program(_submitter(sys._getframe(2))) else _job
    job = functools.partial(run, child, load, awaited.get(), fn, *args, **kwargs)
    future = _enqueue(original, pool, job, scope, child)
    if scope.run.replaying and scope.run.handler.due(child, BEGIN) is not None:
        # In the recording, a worker had started it before it could be cancelled.
        future.cancel = lambda: False
    future.add_done_callback(functools.partial(_done, child, load))
    return future


def _never_begun(pool: Any, child: Scope) -> Any:
    """Return the future of a job that was cancelled in the recording before a worker started it."""
    with ordered.naming(child):
        future: Any = Future()
    never = pool_workers.NeverBegun(future)
    queue = pool_workers.queue_of(pool)
    if queue is not None:
        queue.keep(never)
    future.add_done_callback(functools.partial(_notify_waiters, never))
    _load_of(pool).never.append(never)
    return future


def _enqueue(original: Callable[..., Any], pool: Any, job: Any, scope: Scope, child: Scope) -> Any:
    """Put a job into the pool's queue, in the recorded order; return its future."""
    load = _load_of(pool)
    child.run.working.add(child.path)
    load.add(child)
    with load.order:
        # The first submission starts a pool's threads, which serve all tasks: they have no scope.
        token = current_scope.set(None)
        try:
            with ordered.naming(child):
                initializers.starting(pool, scope)
                return original(pool, job)
        except BaseException:
            # The pool is shut down, or broken.
            child.run.working.discard(child.path)
            load.remove(child)
            raise
        finally:
            current_scope.reset(token)


def _done(scope: Scope, load: _PoolLoad, future: Any) -> None:
    if future.cancelled():
        scope.run.working.discard(scope.path)
        load.remove(scope)
        scope.run.handler.fire(scope, NEVER)
    else:
        pool_workers.pass_cancelled()


def _notify_waiters(job: pool_workers.NeverBegun, _: Any) -> None:
    """Wake the threads that wait for a cancelled job, unless a worker is to do so."""
    if not job.kept:
        job.run()


class _PoolLoad:
    """The jobs of a pool and its free workers, counted for the turnstile.

    A job without a free worker does not start yet. `pool_workers.WorkerQueue` decides which worker gets which job; some
    pools have none: those made outside of a run, and classes with a queue of their own. Each job is named by its scope,
    and removed once: at its end, or when it is cancelled before it began.

    Args:
        workers: The number of workers.
        order: The lock for submitting jobs.
    """

    def __init__(self, workers: int, order: Any) -> None:
        self.order = order
        self._workers = workers
        self._free = workers
        self._queued: dict[Scope, None] = {}
        self._lock = threading.Lock()
        self.ended = sleepers.WorkEnd(lambda: self.idle)
        """The moment without any job, which comes before the last worker ends."""
        self.never: list[pool_workers.NeverBegun] = []
        """The jobs that a replay does not submit: they were cancelled before they began."""

    @property
    def idle(self) -> bool:
        """True if there is nothing to do."""
        return self._free == self._workers and not self._queued

    def add(self, job: Scope) -> None:
        """Count a submitted job."""
        job.run.threaded = True
        with self._lock:
            starts = self._free > 0
            self._free -= starts
            if not starts:
                self._queued[job] = None
        if starts:
            job.run.turnstile.thread_started()

    def remove(self, job: Scope) -> None:
        """Count a job that has ended, or will not begin; its worker starts the next one, if any."""
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


_pools: WeakKeyDictionary[Any, _PoolLoad] = WeakKeyDictionary()
if hasattr(os, "register_at_fork"):
    # A fork of the process has none of its workers.
    os.register_at_fork(after_in_child=_pools.clear)


def _load_of(pool: Any) -> _PoolLoad:
    load = _pools.get(pool)
    if load is None:
        load = _pools[pool] = _PoolLoad(pool._max_workers, nullcontext())
    return load


def _made(original: Callable[..., None], pool: Any, *args: Any, **options: Any) -> None:
    initializers.made(original, pool, [*args], options)
    if listening() is not None:
        pool_workers.made(pool, all_first=initializers.of(pool) is not None)
    order = locks.OrderedLock.of_pool(sys._getframe(2))
    if order is not None:
        _pools[pool] = _PoolLoad(pool._max_workers, order)


def _job(scope: Scope, load: _PoolLoad, end: JobEnd | None, fn: Any, *args: Any, **kwargs: Any) -> Any:
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
            end.report()
        load.remove(scope)
        _finished.turnstile = turnstile


def _wait(*args: Any, **kwargs: Any) -> Any:
    """Run a job that is a wait of the program's."""
    with sleepers.waiting_job():
        return _job(*args, **kwargs)


def _map(original: Callable[..., Any], pool: Any, fn: Any, /, *iterables: Any, **options: Any) -> Any:
    """Note the time limit that the program gives for all jobs."""
    limit, scope = options.get("timeout"), current()
    if (
        limit is not None
        and scope is not None
        and not scope.hidden
        and callers.program(_submitter(sys._getframe(1)))
    ):
        scope.run.times.limit(scope.path, {"map": limit})
    return original(pool, fn, *iterables, **options)


def _submitter(frame: FrameType | None) -> FrameType | None:
    """Return the frame that submits a job, without those of the standard library and of Reenact."""
    while frame is not None and (
        frame.f_globals.get("__name__", "").startswith(_SUBMITTERS)
        or frame.f_code.co_filename.startswith(callers.OURS)
    ):
        frame = frame.f_back
    return frame


def _run_item(original: Callable[..., None], item: Any, *args: Any) -> None:
    """Run a job; it ends after the callbacks of its future, which run in the same thread."""
    try:
        original(item, *args)
    finally:
        pool_workers.job_ended()
        turnstile = getattr(_finished, "turnstile", None)
        if turnstile is not None:
            _finished.turnstile = None
            turnstile.thread_ends()


def _shutdown(original: Callable[..., None], pool: Any, *args: Any, **options: Any) -> None:
    load = _pools.get(pool)
    if load is not None and options.get("cancel_futures"):
        for job in [job for job in load.never if not job.kept]:
            # The plain pool does not wake the threads that wait for a job cancelled by `shutdown`.
            job.kept = True
            job.future.cancel()
    scope = current()
    if load is None or initializers.of(pool) is not None:
        original(pool, *args, **options)
        return
    waits = args[0] if args else options.get("wait", True)
    if scope is not None and waits and not load.idle and threading.current_thread() not in pool._threads:
        original(pool, wait=False, cancel_futures=bool(options.get("cancel_futures")))
        load.ended.wait(scope)
    # The pool's threads end at once: this short wait lets no other thread go first.
    with entered(None):
        original(pool, *args, **options)
