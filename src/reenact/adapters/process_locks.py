"""Locks between processes, which take them in a replay in the recorded order.

Each lock that the program makes, also that of a `Value` or an `Array`, has a count beside it in shared memory. A
recording has a line where a process or thread takes it after another one. In a replay, each one waits until the count
reaches its turn, so memory that the lock guards has the recorded contents.
"""

from __future__ import annotations

import multiprocessing.context
import multiprocessing.synchronize
import os
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from sys import _getframe
from types import FrameType
from typing import Any

from reenact.adapters.deadlines import Deadline, deadline, seconds_of
from reenact.adapters.hooks import Replace
from reenact.adapters.lock_names import name_of_lock
from reenact.adapters.locks import unit_of
from reenact.adapters.process_turns import await_lock
from reenact.adapters.readiness import resting
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers
from reenact.core.boundary import Scope, entered

_CARRIERS = {
    multiprocessing.context.__file__,
    str(Path(multiprocessing.synchronize.__file__).with_name("sharedctypes.py")),
    multiprocessing.synchronize.__file__,
}
_EVENT = multiprocessing.synchronize.Event.__init__.__code__
_MUTEXES = (multiprocessing.synchronize.Lock, multiprocessing.synchronize.RLock)


def install(replace: Replace) -> None:
    """Patch what processes share."""
    if os.name == "nt":
        return
    module = multiprocessing.synchronize
    for kind in _MUTEXES:
        replace(kind, "__init__", _made)
    replace(module.SemLock, "__getstate__", _state)
    replace(module.SemLock, "__setstate__", _from_state)
    replace(module.SemLock, "__enter__", _enter)
    replace(module.Semaphore, "__init__", _semaphore)
    replace(module.Condition, "wait", partial(_waits, "wait"))
    replace(module.Event, "wait", partial(_waits, "event"))
    replace(module.Event, "is_set", _is_set)


def _program(caller: FrameType | None) -> bool:
    while caller is not None and _carries(caller):
        if caller.f_code is _EVENT:
            # An event's waits and questions are recorded themselves.
            return False
        caller = caller.f_back
    return callers.program(caller)


def _carries(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return file in _CARRIERS or (file.startswith(callers.OURS) and frame.f_code.co_name == "patched")


# -- locks ---------------------------------------------------------------------------------------------------


class _Order:
    """The order of one lock.

    Args:
        name: The lock's name, the same one in each run and in all processes.
        shared: The number of times that it was taken, and a mark of the thread or job that took it last.
    """

    def __init__(self, name: str, shared: Any) -> None:
        self.name = name
        self.shared = shared

    def take(self, lock: Any, block: bool = True, timeout: float | None = None) -> bool:
        """Take the lock in its turn."""
        scope = listening()
        real = lock._semlock.acquire
        if scope is None or (lock._semlock.kind == 0 and lock._semlock._is_mine()):
            return bool(real(block, timeout))
        if not block or timeout is not None:
            return self._tried(scope, real, block, timeout)
        self._take(scope, real)
        return True

    def _tried(self, scope: Scope, real: Any, block: bool, timeout: float | None) -> bool:
        limited = deadline("lock", max(timeout or 0.0, 0.0) if block else 0.0, _getframe(2), _program)
        met = None if limited is None else limited.recorded()
        if met:
            self._take(scope, real)
        if met is not None:
            return met
        with resting():
            met = bool(real(block, timeout))
        if met:
            self._taken(scope)
        if limited is not None:
            limited.over(met)
        return met

    def _take(self, scope: Scope, real: Any) -> None:
        if scope.run.replaying and not scope.run.handler.gone_live and scope.run.family is not None:
            scope.run.turnstile.live_begins()
            try:
                await_lock(scope, self.name, lambda: int(self.shared[0]), "a lock of multiprocessing")
                real()
            finally:
                scope.run.turnstile.live_ends()
        elif not real(False):
            with resting():
                real()
        self._taken(scope)

    def _taken(self, scope: Scope) -> None:
        unit = unit_of(scope)
        mark = int.from_bytes(blake2b(unit.path.encode(), digest_size=7).digest(), "big")
        self.shared[0] += 1
        if self.shared[1] != mark:
            self.shared[1] = mark
            scope.run.handler.locked(unit, self.name, self.shared[0])


def _made(original: Callable[..., None], lock: Any, *args: Any, **options: Any) -> None:
    original(lock, *args, **options)
    scope = listening()
    caller = _getframe(2)
    if scope is None or scope.run.family is None or not _program(caller):
        return
    with entered(None):
        # Imported here, as few programs share locks among processes, and it imports ctypes.
        shared = import_module("multiprocessing.sharedctypes").RawArray("q", 2)
    _orders(lock, _Order(name_of_lock(scope, "process lock"), shared))


def _orders(lock: Any, order: _Order) -> None:
    lock._reenact_order = order
    lock.acquire = partial(order.take, lock)


def _enter(original: Callable[..., Any], lock: Any) -> Any:
    order = getattr(lock, "_reenact_order", None)
    return original(lock) if order is None else order.take(lock)


def _state(original: Callable[..., Any], lock: Any) -> Any:
    """`SemLock.__getstate__`: the state of a lock for a spawned process."""
    order = getattr(lock, "_reenact_order", None)
    state = original(lock)
    return state if order is None else (*state, order.name, order.shared)


def _from_state(original: Callable[..., Any], lock: Any, state: Any) -> None:
    original(lock, state[:4])
    if len(state) > 4:
        _orders(lock, _Order(*state[4:]))


# -- semaphores, conditions, events ---------------------------------------------------------------------------


def _semaphore(original: Callable[..., None], semaphore: Any, *args: Any, **options: Any) -> None:
    original(semaphore, *args, **options)
    caller = _getframe(2)
    if (
        listening() is not None
        and caller.f_code.co_filename == multiprocessing.context.__file__
        and _program(caller)
    ):
        semaphore.acquire = partial(_acquire, semaphore)


def _acquire(semaphore: Any, block: bool = True, timeout: float | None = None) -> bool:
    """`Semaphore.acquire` of the program."""
    real = semaphore._semlock.acquire
    seconds = seconds_of(timeout)
    return _ends(deadline("acquire", seconds if block else 0.0, _getframe(1)), real, block, timeout)


def _waits(what: str, original: Callable[..., Any], thing: Any, timeout: float | None = None) -> bool:
    """`wait` of a condition or an event."""
    seconds = seconds_of(timeout)
    limited = deadline(what, seconds, _getframe(2))
    if what == "wait" and limited is not None and (limited.due() or (True,))[0] is False:
        # The wait was late: release the lock for a moment, as other processes took it then.
        original(thing, 0)
    return _ends(limited, partial(original, thing), timeout)


def _ends(limited: Deadline | None, attempt: Callable[..., Any], *limits: Any) -> bool:
    """Wait; in a replay, until the recorded end."""
    if limited is None:
        return bool(attempt(*limits))
    due = limited.due()
    if due is None:
        with resting():
            met = bool(attempt(*limits))
        limited.over(met)
        return met
    if due[0]:
        limited.scope.run.turnstile.live_begins()
        try:
            attempt()
        finally:
            limited.scope.run.turnstile.live_ends()
    limited.recorded()
    return due[0]


def _is_set(original: Callable[..., bool], event: Any) -> bool:
    """`Event.is_set`."""
    scope = listening()
    if scope is None or not callers.program(_getframe(2)):
        return original(event)
    return bool(scope.run.handler.draw(scope, "processes:is_set", lambda: original(event)))
