"""Threads: their scopes, their waits for each other, and the locks that they take.

Each thread gets its scope when its parent starts it.
"""

from __future__ import annotations

import functools
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from reenact.adapters import (
    locks,
    queue_waits,
    readiness,
    reads,
    sleepers,
    standstill,
    unreceived,
    waits,
)
from reenact.adapters.scopes import name_of
from reenact.adapters.stdlib import clock
from reenact.core.boundary import Scope
from reenact.core.boundary.current import current, current_scope
from reenact.errors import Halt

T = TypeVar("T")

BEGIN = "begin"
"""The name of a recording's line for the begin of a thread or a job."""


def install() -> None:
    """Patch threads, once."""
    if getattr(threading.Thread.start, "_reenact", False):
        return
    replace(threading.Thread, "start", _start)
    replace(threading.Thread, "join", sleepers.join)
    replace(threading.Condition, "wait", sleepers.wait)
    replace(threading.Condition, "notify", sleepers.notify)
    waits.install(replace)
    queue_waits.install(replace)
    readiness.install()
    reads.install()
    locks.install()
    clock.polled = standstill.slept
    unreceived.watch(queue.Queue)
    threading._register_atexit(_main_thread_ends)  # type: ignore[attr-defined]


def _main_thread_ends() -> None:
    """Note that the main thread has ended, and waits for the program's other threads."""
    scope = current()
    if scope is not None and not scope.hidden:
        scope.run.turnstile.blocks()


def replace(owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
    """Replace an owner's attribute by `wrapper(original, *args)`."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def patched(*args: Any, **kwargs: Any) -> Any:
        return wrapper(original, *args, **kwargs)

    patched._reenact = True  # type: ignore[attr-defined]
    setattr(owner, name, patched)


def _start(original: Callable[..., None], thread: threading.Thread) -> None:
    scope = current()
    if scope is None or getattr(thread, "reenact_own", False):
        return original(thread)
    if scope.hidden:
        # The thread is part of a live call: its effects are hidden, too.
        thread.run = functools.partial(call_within, scope, thread.run)  # type: ignore[method-assign]
        return original(thread)
    waits.started(thread, sys._getframe(2))
    name = name_of(getattr(thread, "_target", None) or type(thread).run, scope.run.rules)
    child = scope.child(f"thread:{name}")
    turnstile = scope.run.turnstile
    watch_races(scope)
    thread._reenact_within = True  # type: ignore[attr-defined]
    run = thread.run

    def run_within() -> None:
        current_scope.set(child)
        locks.working(child)
        turnstile.thread_begins()
        try:
            begun(child)
            run()
        except Halt:
            # The handler keeps it, and `replay()` raises it at its end: here it could only be printed.
            pass
        finally:
            child.run.working.discard(child.path)
            sleepers.ended(thread)
            turnstile.thread_ends()

    thread.run = run_within  # type: ignore[method-assign]
    child.run.working.add(child.path)
    child.run.threaded = True
    turnstile.thread_started()
    token = current_scope.set(None)
    try:
        # `start` waits until the thread runs: that is not a wait of the program.
        return original(thread)
    finally:
        current_scope.reset(token)


def watch_races(scope: Scope) -> None:
    """Watch for races from the first thread of a run on, while it is recorded."""
    if scope.run.turnstile.raced is None and not scope.run.replaying:
        from reenact.adapters.races import RaceWatch

        scope.run.turnstile.raced = RaceWatch(scope.run)


def begun(scope: Scope) -> None:
    """Begin a thread or job in its turn, so that it finds the recorded state of the others."""
    run = scope.run
    run.turnstile.pass_sync(run.handler.due(scope, BEGIN), lambda: run.handler.fire(scope, BEGIN))


def call_within(scope: Scope, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    """Call a function in a scope."""
    token = current_scope.set(scope)
    try:
        return fn(*args, **kwargs)
    finally:
        current_scope.reset(token)
