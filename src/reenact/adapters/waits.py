"""The waits of threads that may have a time limit: for queues, threads and more."""

from __future__ import annotations

import threading
from _thread import allocate_lock
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from sys import _getframe
from types import FrameType
from typing import Any

from reenact.adapters.deadlines import Deadline, TooLate, deadline, pause
from reenact.adapters.hooks import Replace
from reenact.adapters.locks import OrderedLock, out_of_pool
from reenact.adapters.standstill import waiting
from reenact.adapters.stdlib import callers
from reenact.core.boundary import entered
from reenact.core.system import monotonic

_alive = threading.Thread.is_alive


_BARRIER, _TIMER = threading.Barrier._wait.__code__, threading.Timer.run.__code__  # type: ignore[attr-defined]
"""Code of `threading` that waits with a time limit on behalf of its caller."""


def install(replace: Replace) -> None:
    """Patch the waits that have a time limit."""
    replace(threading.Event, "wait", _event)
    replace(threading.Semaphore, "acquire", _acquire)
    replace(threading.Condition, "wait", _notified)
    replace(threading.Condition, "wait_for", _wait_for)
    replace(threading.Thread, "join", _join)
    replace(threading.Thread, "is_alive", partial(asked, "is_alive", lambda alive: not alive))
    replace(threading.Event, "is_set", partial(asked, "is_set", bool))


def started(thread: threading.Thread, caller: FrameType) -> None:
    """Note if the program's own code starts a thread: then the waits of its target count."""
    thread._reenact_counts = callers.program(caller)  # type: ignore[attr-defined]


def _counts(caller: FrameType) -> bool:
    """Return True if a wait is the program's own, also one within a barrier or a timer."""
    if caller.f_code is _TIMER:
        return getattr(caller.f_locals["self"], "_reenact_counts", False)
    if caller.f_code is _BARRIER and caller.f_back is not None:
        return callers.program(caller.f_back.f_back)
    return callers.program(out_of_pool(caller))


# -- events, semaphores and threads ------------------------------------------------------------------------


def _true(attempt: Callable[[float], Any]) -> Callable[[float], Any]:
    """Return a function that calls `attempt`, and raises `TooLate` for a false result."""

    def checked(seconds: float) -> Any:
        value = attempt(seconds)
        if not value:
            raise TooLate
        return value

    return checked


def _event(original: Callable[..., Any], event: Any, timeout: float | None = None) -> Any:
    """`Event.wait`."""
    limited = deadline("event", timeout, _getframe(2), _counts, given=True)
    if limited is None:
        return original(event, timeout)
    try:
        return limited.answer(_true(partial(original, event)))
    except TooLate:
        event._reenact_late = True
        return False


def _acquire(
    original: Callable[..., Any], semaphore: Any, blocking: bool = True, timeout: float | None = None
) -> Any:
    """`Semaphore.acquire`."""
    limited = deadline("acquire", timeout, _getframe(2), given=True) if blocking else None
    if limited is None:
        return original(semaphore, blocking, timeout)
    return _or_false(limited, partial(original, semaphore, True))


def _join(original: Callable[..., Any], thread: Any, timeout: float | None = None) -> None:
    """`Thread.join`."""
    limited = deadline("join", timeout, _getframe(2), given=True)
    if limited is None or not thread._started.is_set() or thread is threading.current_thread():
        original(thread, timeout)
        return

    def attempt(seconds: float) -> None:
        original(thread, seconds)
        if _alive(thread):
            raise TooLate

    try:
        limited.answer(attempt)
    except TooLate:
        thread._reenact_late = True


def asked(what: str, reached: Callable[[Any], bool], original: Callable[..., bool], thing: Any) -> bool:
    """Ask if an event is set, or a thread or future has ended; recorded after a late wait."""
    value = original(thing)
    if not getattr(thing, "_reenact_late", False):
        return value
    limited = deadline(what, 0.0, _getframe(2), _counts)
    met = None if limited is None else limited.recorded()
    if limited is None or met is None:
        if limited is not None:
            limited.over(met=reached(value))
        return value
    if not met:
        return not reached(True)

    def attempt(seconds: float) -> bool:
        until = monotonic() + seconds
        while not reached(original(thing)):
            if monotonic() > until:
                raise TooLate
            pause()
        return original(thing)

    return bool(limited.until(attempt))


# -- conditions --------------------------------------------------------------------------------------------


def _notified(original: Callable[..., Any], condition: Any, timeout: float | None = None) -> Any:
    """`Condition.wait`."""
    limited = None if timeout is None else deadline("wait", timeout, _getframe(2), _counts, given=True)
    if limited is None or not condition._is_owned():
        return original(condition, timeout)
    if limited.due() is None:
        with waiting(limited.scope.run, ends=True):
            met = bool(original(condition, timeout))
        limited.over(met)
        return met
    waiter = allocate_lock()
    waiter.acquire()
    condition._waiters.append(waiter)
    # Others need the lock to notify: it is free while this thread waits for its turn.
    with _released(condition):
        met = bool(limited.recorded())
        if met:
            limited.until(_true(partial(waiter.acquire, True)))
    with suppress(ValueError):
        condition._waiters.remove(waiter)
    return met


def _wait_for(
    original: Callable[..., Any], condition: Any, predicate: Callable[[], Any], timeout: float | None = None
) -> Any:
    """`Condition.wait_for`."""
    limited = deadline("wait_for", timeout, _getframe(2), _counts, given=True)
    if limited is None or not condition._is_owned():
        return original(condition, predicate, timeout)
    if limited.due() is None:
        met = _or_false(limited, partial(original, condition, predicate))
        # Not `isinstance`, which is true for plain locks, too: the condition may be older than the recording.
        if issubclass(type(condition._lock), OrderedLock):
            condition._lock.taken()
        return met

    def within() -> Any:
        with entered(limited.scope):
            return predicate()

    with _released(condition):
        met = limited.recorded()
    return limited.until(_true(partial(original, condition, within))) if met else False


def _or_false(limited: Deadline, attempt: Callable[[float], Any]) -> Any:
    try:
        return limited.answer(_true(attempt))
    except TooLate:
        return False


@contextmanager
def _released(condition: Any) -> Iterator[None]:
    """Release a condition's lock while the body runs."""
    state = condition._release_save()
    try:
        yield
    finally:
        condition._acquire_restore(state)
