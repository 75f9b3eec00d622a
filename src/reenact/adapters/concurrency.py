"""asyncio, threads and executors: who is who, and what wakes whom.

Each task, thread and job gets its scope when its parent starts it. Timers and finished jobs wake a loop from outside
as outcomes do, so they pass the turnstile like these; in a replay timers fire on the virtual clock.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import logging
import sys
import threading
from asyncio import base_events
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.thread import _WorkItem
from contextlib import nullcontext
from contextvars import Context, ContextVar
from types import FrameType
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary, WeakSet

from reenact.adapters import (
    callbacks,
    given_times,
    initializers,
    locks,
    ordered,
    process_locks,
    process_messages,
    process_pools,
    process_waits,
    races,
    readiness,
    sleepers,
    standstill,
    unreceived,
    waits,
)
from reenact.adapters.hooks import patch
from reenact.adapters.scopes import context_of, inner_of, listening, name_of, transparent
from reenact.adapters.stdlib import callers, clock, signals
from reenact.core.boundary import Scope, entered
from reenact.core.boundary.scope import _scope, current
from reenact.core.boundary.turnstile import real_time
from reenact.errors import Halt

T = TypeVar("T")

_awaited: ContextVar[list[bool] | None] = ContextVar("reenact_awaited", default=None)
_clocks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The loops with a clock that a replay has moved on, each with its turnstile."""

_finished = threading.local()
"""The turnstile of the job that this thread has just done."""

_BEGIN = "begin"
_NEVER = "cancelled before it began"


def install() -> None:
    """Patch the event loop, threads and executors, once."""
    loop = base_events.BaseEventLoop
    if getattr(loop.create_task, "_reenact", False):
        return
    # These two run for every task and every turn of a loop: no call more than there must be.
    patch(loop, "create_task", _create_task, library="asyncio")
    patch(loop, "time", _time, library="asyncio")
    _replace(loop, "call_at", _call_at)
    _replace(loop, "call_soon_threadsafe", _call_from_thread)
    _replace(loop, "run_in_executor", _run_in_executor)
    _replace(loop, "run_forever", _run_forever)
    _replace(concurrent.futures.Future, "__init__", ordered.future)
    _replace(concurrent.futures.Future, "__hash__", ordered.hash_of)
    _replace(concurrent.futures.Future, "add_done_callback", callbacks.added)
    _replace(threading.Thread, "start", _start)
    _replace(loop, "shutdown_default_executor", _shut_down)
    _replace(threading.Thread, "join", sleepers.join)
    _replace(threading.Condition, "wait", sleepers.wait)
    _replace(threading.Condition, "notify", sleepers.notify)
    waits.install(_replace)
    given_times.install(_replace)
    readiness.install(_replace)
    locks.install()
    clock.polled = standstill.slept
    process_pools.install(_replace)
    process_messages.install(_replace)
    process_waits.install(_replace)
    process_locks.install(_replace)
    unreceived.install(_replace)
    _replace(ThreadPoolExecutor, "__init__", _made)
    _replace(ThreadPoolExecutor, "submit", _submit)
    _replace(ThreadPoolExecutor, "shutdown", _shut_pool)
    _replace(_WorkItem, "run", _work)
    _replace(asyncio, "as_completed", ordered.as_completed)
    _replace(asyncio, "wait", ordered.wait)
    asyncio.tasks.as_completed, asyncio.tasks.wait = asyncio.as_completed, asyncio.wait
    logging.getLogger("asyncio").addFilter(_no_halt)


def _no_halt(record: logging.LogRecord) -> bool:
    """Filter the log of tasks that a diverged replay leaves behind: it has been reported once."""
    error = record.exc_info[1] if record.exc_info else None
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return not isinstance(error, Halt)


def _replace(owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
    """Put `wrapper(original, *args)` in the place of an attribute."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def patched(*args: Any, **kwargs: Any) -> Any:
        return wrapper(original, *args, **kwargs)

    patched._reenact = True  # type: ignore[attr-defined]
    setattr(owner, name, patched)


# -- scopes --------------------------------------------------------------------------------------------------


def _create_task(original: Callable[..., Any]) -> Callable[..., Any]:
    def create_task(loop: Any, coro: Any, **options: Any) -> Any:
        scope = current()
        if scope is None or scope.hidden:
            return original(loop, coro, **options)
        given_times.of_task(scope, coro)
        if transparent(scope.run.rules):
            return original(loop, coro, **options)
        child = scope.child(name_of(coro))
        context = options.get("context")
        if context is not None and sys._getframe(1).f_globals.get("__name__") == "asyncio.runners":
            # The main task of `asyncio.run` goes on where its caller stands.
            return original(loop, coro, **options)
        if context is not None:
            # The caller shares this context with others: only the task itself may see its scope.
            return original(loop, _within(child, coro), **options)
        token = _scope.set(child)
        try:
            return original(loop, coro, **options)
        finally:
            _scope.reset(token)

    return create_task


async def _within(scope: Scope, coro: Awaitable[T]) -> T:
    token = _scope.set(scope)
    try:
        return await coro
    finally:
        _scope.reset(token)


def _start(original: Callable[..., None], thread: threading.Thread) -> None:
    scope = current()
    if scope is None or getattr(thread, "reenact_own", False):
        return original(thread)
    if scope.hidden:
        # The inside of a live call: nothing of it is recorded, but it must be known as such.
        thread.run = functools.partial(_run_within, scope, thread.run)  # type: ignore[method-assign]
        return original(thread)
    waits.started(thread, sys._getframe(2))
    child = scope.child("thread:" + name_of(getattr(thread, "_target", None) or type(thread).run))
    turnstile = scope.run.turnstile
    _watch(scope)
    thread._reenact_within = True  # type: ignore[attr-defined]
    run = thread.run

    def run_within() -> None:
        _scope.set(child)
        locks.working(child)
        turnstile.thread_begins()
        try:
            _begun(child)
            run()
        except Halt:
            # It is remembered, and surfaces at the edge of the replay: here it could only be printed.
            pass
        finally:
            child.run.working.discard(child.path)
            sleepers.ended(thread)
            turnstile.thread_ends()

    thread.run = run_within  # type: ignore[method-assign]
    child.run.working.add(child.path)
    turnstile.thread_started()
    token = _scope.set(None)
    try:
        # Waiting until the thread is up is no waiting of the program's.
        return original(thread)
    finally:
        _scope.reset(token)


def _watch(scope: Scope) -> None:
    """Name the races of a run that is recorded, from its first thread on."""
    if scope.run.turnstile.raced is None and not scope.run.replaying:
        scope.run.turnstile.raced = races.RaceWatch(scope.run)


def _submit(
    original: Callable[..., Any], pool: Any, fn: Callable[..., T], /, *args: Any, **kwargs: Any
) -> Any:
    scope = current()
    if scope is None:
        return original(pool, fn, *args, **kwargs)
    if scope.hidden:
        return original(pool, functools.partial(_run_within, scope, fn, *args, **kwargs))
    _watch(scope)
    child = scope.child("thread:" + name_of(inner_of(fn, args)))
    if scope.run.replaying and scope.run.handler.due(child, _NEVER) is not None:
        # Recorded, it was cancelled before a worker took it up.
        with ordered.naming(child):
            future: Any = concurrent.futures.Future()
        future.add_done_callback(_told)
        _places(pool).never.add(future)
        return future
    places = _places(pool)
    child.run.working.add(child.path)
    job = functools.partial(_job, child, places, _awaited.get(), fn, *args, **kwargs)
    places.taken(scope)
    # The pool takes up jobs as they are handed in, so threads hand them in in the recorded order.
    with places.order:
        token = _scope.set(None)
        try:
            # The first submission starts a pool's threads, which serve all tasks: they have no scope.
            with ordered.naming(child):
                initializers.starting(pool, scope)
                future = original(pool, job)
        finally:
            _scope.reset(token)
    if scope.run.replaying and scope.run.handler.due(child, _BEGIN) is not None:
        # Recorded, a worker had started it before it could be cancelled.
        future.cancel = lambda: False
    future.add_done_callback(functools.partial(_cancelled, child, places))
    return future


def _cancelled(scope: Scope, places: _Places, future: Any) -> None:
    if future.cancelled():
        scope.run.working.discard(scope.path)
        places.cancelled()
        scope.run.handler.fire(scope, _NEVER)


def _told(future: Any) -> None:
    """Tell those who wait for a job that no worker will take up, as the worker would."""
    if future.cancelled():
        future.set_running_or_notify_cancel()


def _begun(scope: Scope) -> None:
    """Start a thread or job in its turn: its view of the others' work depends on that."""
    run = scope.run
    run.turnstile.pass_sync(run.handler.due(scope, _BEGIN), lambda: run.handler.fire(scope, _BEGIN))


class _Places:
    """The number of busy workers of a pool: a job without a free worker does not start yet.

    Args:
        workers: The number of workers.
        order: The lock for handing in jobs.
    """

    def __init__(self, workers: int, order: Any) -> None:
        self.order = order
        self._workers = workers
        self._free = workers
        self._queued = 0
        self._lock = threading.Lock()
        self.never: WeakSet[Any] = WeakSet()
        """The futures of jobs that a replay does not hand in: they were cancelled before they began."""

    @property
    def idle(self) -> bool:
        """True if there is nothing to do."""
        return self._free == self._workers and not self._queued

    def taken(self, scope: Scope) -> None:
        """A job is handed in."""
        with self._lock:
            starts = self._free > 0
            self._free -= starts
            self._queued += not starts
        if starts:
            scope.run.turnstile.thread_started()

    def cancelled(self) -> None:
        """A job that was cancelled while it was queued leaves the queue."""
        with self._lock:
            self._queued -= self._queued > 0

    def left(self, scope: Scope) -> None:
        """A job has ended; its worker takes up the next one, if there is one."""
        with self._lock:
            starts = self._queued > 0
            self._queued -= starts
            self._free += not starts
        if starts:
            scope.run.turnstile.thread_started()


_pools: WeakKeyDictionary[Any, _Places] = WeakKeyDictionary()


def _places(pool: Any) -> _Places:
    known = _pools.get(pool)
    if known is None:
        known = _pools[pool] = _Places(pool._max_workers, nullcontext())
    return known


def _made(original: Callable[..., None], pool: Any, *args: Any, **options: Any) -> None:
    initializers.made(original, pool, [*args], options)
    order = locks.OrderedLock.of_pool(sys._getframe(2))
    if order is not None:
        _pools[pool] = _Places(pool._max_workers, order)


def _job(
    scope: Scope, places: _Places, awaited: list[bool] | None, fn: Any, *args: Any, **kwargs: Any
) -> Any:
    turnstile = scope.run.turnstile
    turnstile.thread_begins()
    token = _scope.set(scope)
    locks.working(scope)
    try:
        _begun(scope)
        if isinstance(fn, functools.partial) and context_of(fn.func) is not None:
            fn, args, kwargs = fn.func, (*fn.args, *args), {**fn.keywords, **kwargs}
        context = context_of(fn)
        if context is not None:
            return context.run(_run_within, scope, *args, **kwargs)
        return fn(*args, **kwargs)
    finally:
        scope.run.working.discard(scope.path)
        locks.working(None)
        _scope.reset(token)
        if awaited is not None:
            awaited.append(True)
            turnstile.job_done()
        places.left(scope)
        _finished.turnstile = turnstile


def _work(original: Callable[..., None], item: Any, *args: Any) -> None:
    """Run a job; its end includes the callbacks of its future, which run in its thread."""
    try:
        original(item, *args)
    finally:
        turnstile = getattr(_finished, "turnstile", None)
        if turnstile is not None:
            _finished.turnstile = None
            turnstile.thread_ends()


def _shut_pool(original: Callable[..., None], pool: Any, *args: Any, **options: Any) -> None:
    places = _pools.get(pool)
    if places is not None and options.get("cancel_futures"):
        for future in list(places.never):
            future.cancel()
    if places is None or not places.idle or initializers.of(pool) is not None:
        original(pool, *args, **options)
        return
    # Its threads end at once: to wait for them is no rest, in which others might come first.
    with entered(None):
        original(pool, *args, **options)


def _run_within(scope: Scope, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    token = _scope.set(scope)
    try:
        return fn(*args, **kwargs)
    finally:
        _scope.reset(token)


# -- waking --------------------------------------------------------------------------------------------------


def _call_at(
    original: Callable[..., Any],
    loop: Any,
    when: float,
    callback: Any,
    *args: Any,
    context: Context | None = None,
) -> Any:
    scope = listening()
    if scope is None:
        return original(loop, when, callback, *args, context=context)
    run = scope.run
    caller = sys._getframe(1).f_back
    given_times.of_timer(scope, caller)
    sleeper = caller.f_back if caller is not None else None
    if sleeper is not None and sleeper.f_code is asyncio.sleep.__code__ and callers.program(sleeper.f_back):
        scope.slept()
    name = f"timer#{scope.count('timer')}"
    order = run.handler.due(scope, name)
    # Like a plain timer, it calls in the context of the code that set it.
    due = asyncio.TimerHandle(when, callback, args, loop, context)

    def release() -> None:
        run.handler.fire(scope, name)
        if order is not None or not standstill.polls_in_vain(scope, loop):
            due._run()

    if run.replaying:
        _clocks[loop] = run.turnstile
        run.turnstile.push(loop, order, release, due.cancelled, when)
        return due

    def fire() -> None:
        run.turnstile.push(loop, None, release, handle.cancelled, when)

    handle = original(loop, when, fire, context=Context())
    return handle


def _call_from_thread(
    original: Callable[..., Any], loop: Any, callback: Any, *args: Any, context: Context | None = None
) -> Any:
    """`loop.call_soon_threadsafe` of another thread: it wakes the loop in its turn."""
    scope = listening()
    own = getattr(loop, "_thread_id", None) == threading.get_ident()
    if scope is None or own or not _wakes(sys._getframe(2)):
        return original(loop, callback, *args, context=context)
    run = scope.run
    name = f"wake#{scope.count('wake')}"
    order = run.handler.due(scope, name)
    due = asyncio.Handle(callback, args, loop, context)

    def release() -> None:
        run.handler.fire(scope, name)
        run.turnstile.job_passed()
        due._run()

    def given_up() -> bool:
        if due.cancelled() and not told:
            told.append(True)
            run.turnstile.job_passed()
        return due.cancelled()

    told: list[bool] = []
    when = None if run.replaying and order is None else 0.0
    original(loop, lambda: run.turnstile.push(loop, order, release, given_up, when), context=Context())
    run.turnstile.job_done()
    return due


def _wakes(caller: FrameType) -> bool:
    """Return True if the program itself wakes a loop, by a callback or a coroutine."""
    if caller.f_code is asyncio.run_coroutine_threadsafe.__code__ and caller.f_back is not None:
        caller = caller.f_back
    return callers.program(caller)


def _run_in_executor(original: Callable[..., Any], loop: Any, executor: Any, func: Any, *args: Any) -> Any:
    scope = listening()
    if scope is None:
        return original(loop, executor, func, *args)
    run = scope.run
    name = f"job#{scope.count('job')}"
    awaited: list[bool] = []
    token = _awaited.set(awaited)
    try:
        inner = original(loop, executor, func, *args)
    finally:
        _awaited.reset(token)
    outer = loop.create_future()

    def done(_: Any) -> None:
        run.turnstile.push(loop, run.handler.due(scope, name), release, outer.done, 0.0)

    def release() -> None:
        run.handler.fire(scope, name)
        if awaited:
            run.turnstile.job_passed()
        if inner.cancelled():
            outer.cancel()
        elif inner.exception() is not None:
            outer.set_exception(inner.exception())
        else:
            outer.set_result(inner.result())

    inner.add_done_callback(done, context=Context())
    run.turnstile.rests(loop)
    outer.add_done_callback(lambda _: inner.cancel() if outer.cancelled() else None, context=Context())
    return outer


def _time(original: Callable[..., float]) -> Callable[..., float]:
    def time(loop: Any) -> float:
        # The loop asks thousands of times: at once from the real clock.
        caller = sys._getframe(1)
        if callers.kind_of(caller) == callers.OWN:
            given_times.of_clock(caller)
        turnstile = _clocks.get(loop) if _clocks else None
        return real_time() if turnstile is None else real_time() + cast("float", turnstile.skew)

    return time


def _run_forever(original: Callable[..., None], loop: Any) -> None:
    scope = current()
    if scope is not None and not scope.hidden:
        signals.loop_begins(loop)
        standstill.of_loop(scope, loop)
    try:
        original(loop)
    finally:
        if scope is not None:
            # The loop may have been at rest when it ended; the program goes on behind it.
            scope.run.turnstile.unblocks()
        signals.loop_ends(loop)


async def _shut_down(original: Callable[..., Awaitable[None]], *args: Any, **kwargs: Any) -> None:
    # No part of the program. In a replay its time-out (since Python 3.12) would fall on the virtual clock, at once.
    with entered(None):
        await original(*args, **kwargs)
