"""Track the threads that wait for each other, for the turnstile.

Where the program's own code waits without a time limit (a condition, an event, a queue, a barrier, another thread, a
lock that is held), the end of the wait passes the turnstile in its turn, and its line in the recording is `woken#0`. So
of the threads that one call wakes, only one runs at a time, and a replay changes unguarded objects in the recorded
order.
"""

from __future__ import annotations

import threading
from _thread import allocate_lock, get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from sys import _getframe
from types import FrameType
from typing import Any
from weakref import WeakSet

from reenact.adapters import standstill
from reenact.adapters.deadlines import is_target, unordered
from reenact.adapters.stdlib import callers
from reenact.core.boundary import Scope, Turnstile, current
from reenact.core.boundary.turnstile import LAST

_sleepers: dict[int, list[tuple[Scope, int, bool]]] = {}
_sleeping = allocate_lock()
"""Guards the list of the threads that wait for each thread or condition, in order."""

_job = threading.local()
"""`waits` is True in a thread that runs a wait as a job (`submit(event.wait)`)."""

_ended: WeakSet[threading.Thread] = WeakSet()
"""The threads of runs that have ended, or are about to."""


def resume(scope: Scope, name: str = "") -> None:
    """Go on after a wait, in this thread's turn."""
    run, name = scope.run, name or f"woken#{scope.count('woken')}"
    due = run.handler.due(scope, name)
    if due is None and run.replaying and run.turnstile.expected is not None and run.turnstile.interrupt:
        # A wait whose end is not recorded: a signal ended it.
        run.turnstile.interrupt(LAST)
    run.turnstile.pass_sync(due, lambda: run.handler.fire(scope, name))


def join(original: Callable[..., Any], thread: threading.Thread, timeout: float | None = None) -> None:
    """`Thread.join`."""
    scope = current()
    if scope is None:
        original(thread, timeout)
        return
    # The threads of a pool belong to no run: they are joined in any order.
    turn = timeout is None and getattr(thread, "_reenact_within", False) and _takes_turns(scope)
    sleeper = _begins(scope, thread, turn=turn)
    ended = False
    try:
        scope.run.turnstile.blocks(lambda: thread not in _ended)
        if timeout is None and standstill.watched(scope):
            standstill.until(scope, lambda seconds: original(thread, seconds) or not thread.is_alive())
        else:
            original(thread, timeout)
        ended = True
    finally:
        _ends(scope, thread, sleeper, turn=turn and ended)


def wait(original: Callable[..., Any], condition: threading.Condition, timeout: float | None = None) -> Any:
    """`Condition.wait`."""
    scope = current()
    if scope is None:
        return original(condition, timeout)
    if timeout is None and condition._is_owned():  # type: ignore[attr-defined]
        turn = _takes_turns(scope)
        if turn or standstill.watched(scope):
            return _until_notified(condition, scope, turn=turn)
    sleeper = _begins(scope, condition, turn=False)
    try:
        scope.run.turnstile.blocks()
        return original(condition, timeout)
    finally:
        _ends(scope, condition, sleeper, turn=False)


def _until_notified(condition: Any, scope: Scope, *, turn: bool) -> bool:
    """Wait to be notified, then for this thread's turn if it has one; then take the lock.

    Other threads may need the lock before this thread's turn.
    """
    waiter = allocate_lock()
    waiter.acquire()
    condition._waiters.append(waiter)
    sleeper = _begins(scope, condition, turn=turn)
    state = condition._release_save()
    woken = False
    try:
        # The thread rests only once the lock is free: others take it as soon as this thread rests.
        scope.run.turnstile.blocks(lambda: sleeper in _sleepers.get(id(condition), ()))
        if standstill.watched(scope):
            standstill.until(scope, lambda seconds: waiter.acquire(timeout=seconds))
        else:
            waiter.acquire()
        woken = True
    finally:
        try:
            _ends(scope, condition, sleeper, turn=turn and woken)
        finally:
            condition._acquire_restore(state)
            if not woken:
                with suppress(ValueError):
                    condition._waiters.remove(waiter)
    return True


def _takes_turns(scope: Scope) -> bool:
    """Return True if the program's own code waits, without a time limit."""
    if scope.hidden or unordered():
        return False
    frame: FrameType | None = _getframe(2)
    while frame is not None and _carries(frame.f_code.co_filename) and not is_target(frame):
        frame = frame.f_back
    return callers.program(frame) or is_target(frame) or getattr(_job, "waits", False)


def is_wait(fn: Any) -> bool:
    """Return True for a function that waits itself (`Event.wait`, `Queue.get`)."""
    code = getattr(getattr(fn, "__func__", fn), "__code__", None)
    return code is not None and _carries(code.co_filename)


@contextmanager
def waiting_job() -> Iterator[None]:
    """Count this thread's waits as the program's: its job is itself a wait."""
    _job.waits = True
    try:
        yield
    finally:
        _job.waits = False


_carrying: dict[str, bool] = {}


def _carries(file: str) -> bool:
    """Return True for the code of waits, which waits on behalf of its caller."""
    known = _carrying.get(file)
    if known is None:
        carriers = ("threading.py", "queue.py", "concurrent/futures/_base.py", "concurrent/futures/thread.py")
        known = file.startswith(callers.OURS) or (
            file.startswith(callers.STANDARD) and file.replace("\\", "/").endswith(carriers)
        )
        _carrying[file] = known
    return known


def _begins(scope: Scope, owner: Any, *, turn: bool) -> tuple[Scope, int, bool]:
    sleeper = (scope, threading.get_ident(), turn)
    with _sleeping:
        _sleepers.setdefault(id(owner), []).append(sleeper)
    return sleeper


def _ends(scope: Scope, owner: Any, sleeper: tuple[Scope, int, bool], *, turn: bool) -> None:
    with _sleeping:
        others = _sleepers.get(id(owner), [])
        if sleeper in others:
            others.remove(sleeper)
        if not others:
            _sleepers.pop(id(owner), None)
    if turn:
        resume(scope)
    else:
        scope.run.turnstile.unblocks()


def notify(original: Callable[..., Any], condition: threading.Condition, n: int = 1) -> None:
    """`Condition.notify`."""
    if _sleepers:
        _wake(condition, n)
    original(condition, n)


def _wake(owner: Any, count: int) -> None:
    """Mark the threads that wait for `owner` as running, before they really run."""
    with _sleeping:
        sleepers = _sleepers.get(id(owner), [])
        woken, sleepers[:count] = sleepers[:count], []
    for scope, thread, turn in woken:
        # In a recording, a thread that has a turn does not run before it.
        if scope.run.replaying or not turn:
            scope.run.turnstile.woken(thread)


def ended(thread: threading.Thread) -> None:
    """Mark the threads that join that thread as running."""
    _ended.add(thread)
    _wake(thread, len(_sleepers))


class WorkEnd:
    """The end of work that threads wait for: they run from then on, without a recorded line.

    Args:
        over: Returns True if nothing is left to do.
    """

    def __init__(self, over: Callable[[], bool]) -> None:
        self._over = over
        self._lock = allocate_lock()
        self._waiting: list[tuple[Any, Turnstile, int]] = []

    def wait(self, scope: Scope) -> None:
        """Wait for the end of the work. Raises `Halt` if nothing can end it in a replay."""
        turnstile, waiter = scope.run.turnstile, allocate_lock()
        waiter.acquire()
        with self._lock:
            self._waiting.append((waiter, turnstile, get_ident()))
        self.look()
        turnstile.blocks(waiter.locked)
        try:
            if standstill.watched(scope):
                standstill.until(scope, lambda seconds: waiter.acquire(timeout=seconds))
            else:
                waiter.acquire()
        finally:
            turnstile.unblocks()

    def look(self) -> None:
        """Wake the waiting threads if the work is over."""
        with self._lock:
            waiting = self._waiting if self._over() else []
            self._waiting = [] if waiting else self._waiting
        for waiter, turnstile, thread in waiting:
            turnstile.woken(thread)
            waiter.release()
