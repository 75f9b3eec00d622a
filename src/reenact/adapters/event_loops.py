"""asyncio: the scopes of tasks, and the events that wake event loops.

Each task gets its scope when its parent starts it. Timers and finished jobs wake a loop from outside as outcomes do, so
they pass the turnstile in the same way. In a replay, timers fire on the virtual clock.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from asyncio import base_events
from collections.abc import Awaitable, Callable
from contextvars import Context
from sys import _getframe
from types import FrameType, ModuleType
from typing import Any, TypeVar, cast
from weakref import ref

from reenact.adapters import (
    given_times,
    ordered,
    passed_limits,
    readiness,
    standstill,
    thread_pools,
    unreceived,
    wait_for,
)
from reenact.adapters.concurrency import replace
from reenact.adapters.hooks import patch
from reenact.adapters.scopes import listening, name_of, transparent
from reenact.adapters.stdlib import callers, loop_processes, signals
from reenact.core import system
from reenact.core.boundary import Scope, entered
from reenact.core.boundary.current import current, current_scope
from reenact.errors import Halt

T = TypeVar("T")

_clocks: dict[int, tuple[ref[Any], Any]] = {}
"""The loops whose clock a replay moves on, by id, each with its turnstile."""


def install(_module: ModuleType) -> None:
    """Patch the event loop, once: asyncio has been imported."""
    loop = base_events.BaseEventLoop
    if getattr(loop.create_task, "_reenact", False):
        return
    # These two run for every task and every turn of a loop: `patch` adds one call less than `replace`.
    patch(loop, "create_task", _create_task, library="asyncio")
    patch(loop, "time", _time, library="asyncio")
    replace(loop, "call_at", _call_at)
    replace(loop, "call_soon_threadsafe", _call_from_thread)
    replace(loop, "run_in_executor", _run_in_executor)
    replace(loop, "run_forever", _run_forever)
    replace(loop, "shutdown_default_executor", _shut_down)
    given_times.install(replace)
    passed_limits.install(replace)
    unreceived.watch(asyncio.Queue)
    signals.install_in_loops(asyncio.SelectorEventLoop)
    loop_processes.install()
    replace(asyncio, "as_completed", ordered.as_completed)
    replace(asyncio, "wait", ordered.wait)
    asyncio.tasks.as_completed, asyncio.tasks.wait = asyncio.as_completed, asyncio.wait
    wait_for.install()
    logging.getLogger("asyncio").addFilter(_no_halt)


def _no_halt(record: logging.LogRecord) -> bool:
    """Filter the log of tasks that a diverged replay leaves running: it has been reported."""
    error = record.exc_info[1] if record.exc_info else None
    while error is not None and not isinstance(error, Halt):
        # An error that follows from the divergence tells nothing new.
        error = (
            error.exceptions[0]
            if isinstance(error, BaseExceptionGroup)
            else error.__cause__ or error.__context__
        )
    return error is None


# -- scopes --------------------------------------------------------------------------------------------------


def _create_task(original: Callable[..., Any]) -> Callable[..., Any]:
    def create_task(loop: Any, coro: Any, **options: Any) -> Any:
        scope = current_scope.get()
        if scope is None or scope.hidden:
            return original(loop, coro, **options)
        given_times.of_task(scope, coro)
        rules = scope.run.rules
        if transparent(rules):
            return original(loop, coro, **options)
        child = scope.child(name_of(coro, rules))
        context = options.get("context")
        if context is not None and _getframe(1).f_globals.get("__name__") == "asyncio.runners":
            # The main task of `asyncio.run` has its caller's scope.
            return original(loop, coro, **options)
        if context is not None:
            # The caller shares this context with other code: only the task itself may have the new scope.
            return original(loop, _within(child, coro), **options)
        token = current_scope.set(child)
        try:
            return original(loop, coro, **options)
        finally:
            current_scope.reset(token)

    return create_task


async def _within(scope: Scope, coro: Awaitable[T]) -> T:
    token = current_scope.set(scope)
    try:
        return await coro
    finally:
        current_scope.reset(token)


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
    caller = _getframe(1).f_back
    name = f"timer#{scope.count('timer')}"
    order = run.handler.due(scope, name)
    given_times.of_timer(scope, caller, order)
    # Like a plain timer, it calls in the context of the code that set it.
    due = asyncio.TimerHandle(when, callback, args, loop, context)

    def release() -> None:
        run.handler.fire(scope, name)
        if order is not None or not standstill.polls_in_vain(scope, loop):
            due._run()

    if run.replaying and order is None and run.killed and "#" not in scope.path:
        # It had not fired when the process was killed.
        return due
    if run.replaying:
        _clocks[id(loop)] = ref(loop), run.turnstile
        run.turnstile.push(loop, order, release, due.cancelled, when)
        return due

    def fire() -> None:
        run.turnstile.push(loop, None, release, handle.cancelled, when)

    handle = original(loop, when, fire, context=Context())
    return handle


def _call_from_thread(
    original: Callable[..., Any], loop: Any, callback: Any, *args: Any, context: Context | None = None
) -> Any:
    """`loop.call_soon_threadsafe` from another thread: it wakes the loop in its turn."""
    scope = listening()
    own = getattr(loop, "_thread_id", None) == threading.get_ident()
    if scope is None or own or not _wakes(_getframe(2)):
        return original(loop, callback, *args, context=context)
    run = scope.run
    name = f"wake#{scope.count('wake')}"
    order = run.handler.due(scope, name)
    due = asyncio.Handle(callback, args, loop, context)

    end = thread_pools.JobEnd(run.turnstile, loop)

    def release() -> None:
        run.handler.fire(scope, name)
        end.receive()
        due._run()

    def given_up() -> bool:
        if due.cancelled():
            end.receive()
        return due.cancelled()

    when = None if run.replaying and order is None else 0.0
    original(loop, lambda: run.turnstile.push(loop, order, release, given_up, when), context=Context())
    end.report()
    return due


def _wakes(caller: FrameType) -> bool:
    """Return True if the program itself wakes a loop, by a callback or a coroutine."""
    if caller.f_code is asyncio.run_coroutine_threadsafe.__code__ and caller.f_back is not None:
        caller = caller.f_back
    return callers.program(caller) or callers.carries(caller)


def _run_in_executor(original: Callable[..., Any], loop: Any, executor: Any, func: Any, *args: Any) -> Any:
    scope = listening()
    if scope is None:
        return original(loop, executor, func, *args)
    run = scope.run
    name = f"job#{scope.count('job')}"
    end = thread_pools.JobEnd(run.turnstile, loop)
    token = thread_pools.awaited.set(end)
    try:
        inner = original(loop, executor, func, *args)
    finally:
        thread_pools.awaited.reset(token)
    outer = loop.create_future()

    def done(_: Any) -> None:
        run.turnstile.push(loop, run.handler.due(scope, name), release, outer.done, 0.0)

    def release() -> None:
        run.handler.fire(scope, name)
        end.receive()
        if inner.cancelled():
            outer.cancel()
        elif inner.exception() is not None:
            outer.set_exception(inner.exception())
        else:
            outer.set_result(inner.result())

    def given_up(_: Any) -> None:
        if outer.cancelled():
            end.receive()
            inner.cancel()

    inner.add_done_callback(done, context=Context())
    run.turnstile.rests(loop)
    outer.add_done_callback(given_up, context=Context())
    return outer


_asyncios_own = vars(base_events)


def _time(original: Callable[..., float]) -> Callable[..., float]:
    def time(loop: Any) -> float:
        # Hot: a loop reads its clock thousands of times. `f_globals`, since `f_code` raises an audit event.
        caller = _getframe(1)
        if caller.f_globals is not _asyncios_own and callers.kind_of(caller) == callers.OWN:
            given_times.of_clock(caller)
        if not _clocks or (moved := _clocks.get(id(loop))) is None or moved[0]() is not loop:
            return system.monotonic()
        return system.monotonic() + cast("float", moved[1].skew)

    return time


def _run_forever(original: Callable[..., None], loop: Any) -> None:
    scope = current()
    if scope is not None and not scope.hidden:
        signals.loop_begins(loop)
        standstill.of_loop(scope, loop)
    readiness.leave_alone(getattr(loop, "_selector", None))
    try:
        if scope is not None and scope.run.threaded and not loop.is_closed():
            scope.run.turnstile.rests(loop)
        original(loop)
    finally:
        if scope is not None:
            # The loop may have been at rest when it ended; the program goes on after it.
            scope.run.turnstile.unblocks()
        signals.loop_ends(loop)


async def _shut_down(original: Callable[..., Awaitable[None]], *args: Any, **kwargs: Any) -> None:
    # Not part of the program. In a replay, its time limit (since Python 3.12) would end at once on the virtual clock.
    with entered(None):
        await original(*args, **kwargs)
