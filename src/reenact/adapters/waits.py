"""The waits of threads that may have a time limit: for futures, queues, threads and more."""

from __future__ import annotations

import concurrent.futures
import threading
from _thread import allocate_lock
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from sys import _getframe
from types import FrameType
from typing import Any

from reenact.adapters.deadlines import Deadline, TooLate, deadline, not_ours, pause
from reenact.adapters.locks import OrderedLock, out_of_pool
from reenact.adapters.standstill import waiting
from reenact.adapters.stdlib import callers, early
from reenact.core.boundary import entered
from reenact.core.boundary.turnstile import real_time

_DONE = "threads:done"
"""The source of the places of the futures that were done."""

_wait, _as_completed = concurrent.futures.wait, concurrent.futures.as_completed
_alive = threading.Thread.is_alive

Replace = Callable[[Any, str, Callable[..., Any]], None]

_BARRIER, _TIMER = threading.Barrier._wait.__code__, threading.Timer.run.__code__  # type: ignore[attr-defined]
"""Code of `threading` that waits with a time limit on behalf of its caller."""


def install(replace: Replace) -> None:
    """Patch the waits that have a time limit.

    Args:
        replace: Puts `wrapper(original, *args)` in the place of an owner's attribute.
    """
    replace(Future, "result", partial(_of_future, "result"))
    replace(Future, "exception", partial(_of_future, "exception"))
    replace(threading.Event, "wait", _event)
    replace(threading.Semaphore, "acquire", _acquire)
    replace(threading.Condition, "wait", _notified)
    replace(threading.Condition, "wait_for", _wait_for)
    replace(threading.Thread, "join", _join)
    replace(threading.Thread, "is_alive", partial(_asked, "is_alive", lambda alive: not alive))
    replace(Future, "done", partial(_asked, "done", bool))
    replace(threading.Event, "is_set", partial(_asked, "is_set", bool))
    early.replace(concurrent.futures, "wait", _wait_for_all)
    early.replace(concurrent.futures, "as_completed", _in_order_of_ends)


def started(thread: threading.Thread, caller: FrameType) -> None:
    """Keep of a thread whether the program's own code has started it.

    Then the waits of its target count.
    """
    thread._reenact_counts = callers.program(caller)  # type: ignore[attr-defined]


def _counts(caller: FrameType) -> bool:
    """Return True if a wait is the program's own, also one within a barrier or a timer."""
    if caller.f_code is _TIMER:
        return getattr(caller.f_locals["self"], "_reenact_counts", False)
    if caller.f_code is _BARRIER and caller.f_back is not None:
        return callers.program(caller.f_back.f_back)
    return callers.program(out_of_pool(caller))


# -- futures -----------------------------------------------------------------------------------------------


def _of_future(what: str, original: Callable[..., Any], future: Any, timeout: float | None = None) -> Any:
    """`Future.result` and `Future.exception`."""
    limited = deadline(what, timeout, _getframe(2), not_ours, given=True)
    if limited is None:
        return original(future, timeout)

    def attempt(seconds: float) -> Any:
        try:
            return original(future, seconds)
        except TimeoutError as error:
            if error is future._exception:
                # The job itself raised it.
                raise
            raise TooLate from None

    try:
        return limited.answer(attempt)
    except TooLate:
        future._reenact_late = True
        raise concurrent.futures.TimeoutError from None


def _wait_for_all(
    fs: Iterable[Any], timeout: float | None = None, return_when: str = concurrent.futures.ALL_COMPLETED
) -> Any:
    """`concurrent.futures.wait`."""
    limited = deadline("futures", timeout, _getframe(1), not_ours, given=True)
    if limited is None:
        return _wait(fs, timeout, return_when)
    given = list(fs)
    handler, scope = limited.scope.run.handler, limited.scope
    if limited.recorded() is None:
        found = _wait(given, timeout, return_when)
        places = _text(place for place, future in enumerate(given) if future in found.done)
        limited.over(met=True, write=lambda: handler.draw(scope, _DONE, lambda: places))
        ended = found.done
    else:
        places = handler.draw(scope, _DONE, str)
        ended = {given[place] for place in _places(places, len(given))}
        limited.until(partial(_all_ended, ended))
    left = set(given) - ended
    for future in left:
        future._reenact_late = True
    return concurrent.futures._base.DoneAndNotDoneFutures(ended, left)


def _in_order_of_ends(fs: Iterable[Any], timeout: float | None = None) -> Iterator[Any]:
    """`concurrent.futures.as_completed`."""
    limited = deadline("as_completed", timeout, _getframe(1), not_ours, given=True)
    return _as_completed(fs, timeout) if limited is None else _ends(limited, list(dict.fromkeys(fs)))


def _ends(limited: Deadline, given: list[Any]) -> Iterator[Any]:
    scope, handler = limited.scope, limited.scope.run.handler
    places = {future: place for place, future in enumerate(given)}
    left = dict.fromkeys(given)
    live: Iterator[Any] | None = None
    while left:
        step = Deadline(scope, f"{limited.name}.{len(given) - len(left)}", limited.limit)
        met = None if live is not None else step.recorded()
        future: Any = None
        if met is None:
            live = live or _as_completed(list(left), limited.limit)
            try:
                future = next(live)
            except TimeoutError:
                step.over(met=False)
            else:
                place = str(places[future])
                step.over(met=True, write=partial(handler.draw, scope, _DONE, partial(str, place)))
        elif met:
            future = given[next(_places(handler.draw(scope, _DONE, str), len(given)), 0)]
            step.until(partial(_all_ended, {future}))
        if future is None:
            for each in left:
                each._reenact_late = True
            raise concurrent.futures.TimeoutError(f"{len(left)} (of {len(given)}) futures unfinished")
        left.pop(future, None)
        yield future


def _all_ended(futures: Iterable[Any], seconds: float) -> None:
    if _wait(futures, seconds).not_done:
        raise TooLate


def _text(places: Iterable[int]) -> str:
    return ",".join(map(str, places))


def _places(text: Any, count: int) -> Iterator[int]:
    """Read `_text` of a recording; ignore what is no place."""
    for word in text.split(",") if isinstance(text, str) else ():
        if word.isascii() and word.isdigit() and len(word) < 10 and int(word) < count:
            yield int(word)


# -- events, semaphores and threads ------------------------------------------------------------------------


def _true(attempt: Callable[[float], Any]) -> Callable[[float], Any]:
    """Return `attempt` such that it raises `TooLate` for a false result."""

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


def _asked(what: str, reached: Callable[[Any], bool], original: Callable[..., bool], thing: Any) -> bool:
    """Ask if something that a wait was late for has come by now."""
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
        until = real_time() + seconds
        while not reached(original(thing)):
            if real_time() > until:
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
        if isinstance(condition._lock, OrderedLock):
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
    """Let others have a condition's lock while the body runs."""
    state = condition._release_save()
    try:
        yield
    finally:
        condition._acquire_restore(state)
