"""Locks of the program, which its threads take in a replay in the recorded order.

`threading.Lock` and `threading.RLock` return such a lock to the program's own code, also inside of a queue, condition,
semaphore or barrier. A pool's jobs are submitted under one. It counts how often it was taken. A recording has a line
(`locked`, with the lock and that count) only where a thread or job takes the lock after another one. In a replay,
each thread waits until the count reaches its turn. If the thread whose turn it is can no longer come, because the
program has changed, the order of this lock is given up. Takes inside of a call are distinguished from those around it:
where the call is answered, its takes are left out.

Locks of libraries, events, and locks made before a recording begins in its process are plain.
"""

from __future__ import annotations

import _thread
import threading
from _thread import allocate_lock
from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Any
from weakref import ref

from reenact.adapters import standstill
from reenact.adapters.deadlines import deadline, unordered
from reenact.adapters.lock_names import POOL_FILES, POOLS, maker_of, name_of
from reenact.adapters.scopes import listening
from reenact.adapters.sleepers import resume
from reenact.adapters.stdlib import callers, early
from reenact.core.boundary import Run, Scope, current

_new_reentrant = _thread.RLock
_SLICE = 0.02
"""Seconds between two looks at whether the thread whose turn it is can still come."""
_LOOKS = 25
"""The looks in a row without a thread that can go on, after which the order is given up."""

_unit = threading.local()
"""The scope of the thread or job that this thread runs."""


def install() -> None:
    """Give the program ordered locks."""
    early.put(threading, "Lock", OrderedLock)
    early.put(threading, "RLock", OrderedRLock)


def working(scope: Scope | None) -> Scope | None:
    """Set the scope of the thread or job that this thread runs; return the scope before."""
    before: Scope | None = getattr(_unit, "scope", None)
    _unit.scope = scope
    return before


class _Instances(type):
    """`isinstance` holds for plain locks, too: since Python 3.13 `threading.Lock` is a class."""

    def __instancecheck__(cls, thing: object) -> bool:
        return type.__instancecheck__(cls, thing) or isinstance(thing, cls.plain)  # type: ignore[attr-defined]


class OrderedLock(metaclass=_Instances):
    """A lock that is taken in the recorded order."""

    __slots__ = (
        "__weakref__",
        "_call",
        "_count",
        "_free",
        "_last",
        "_mutex",
        "_name",
        "_real",
        "_run",
        "_waiting",
    )

    _real: Any
    _name: str
    _mutex: Any
    _run: ref[Run] | None
    _count: int
    _last: str
    _call: int | None
    _free: bool
    _waiting: dict[Any, tuple[Scope, int]]

    plain: Any = type(allocate_lock())
    _new: Callable[[], Any] = staticmethod(allocate_lock)

    def __new__(cls) -> Any:
        """Return a plain lock to libraries."""
        maker = maker_of(_getframe(1))
        scope = current()
        if maker is None or (scope is not None and scope.hidden):
            return cls._new()
        return cls._named(name_of(scope, maker, "lock"))

    @classmethod
    def _named(cls, name: str) -> Any:
        made = super().__new__(cls)
        made._real = cls._new()
        made._name = name
        made._mutex = allocate_lock()
        made._forget()
        return made

    @classmethod
    def of_pool(cls, maker: FrameType | None) -> Any:
        """Return the lock for handing jobs to the pool that this code makes, or None."""
        scope = current()
        while maker is not None and maker.f_code.co_filename in POOLS:
            maker = maker.f_back
        if maker is None or (scope is not None and scope.hidden):
            return None
        return cls._named(name_of(scope, maker, "pool"))

    def _forget(self, run: Run | None = None) -> None:
        self._run = None if run is None else ref(run)
        self._count = 0
        self._last = ""
        self._call = None
        self._free = False
        self._waiting = {}

    # -- as a lock -------------------------------------------------------------------------------------------

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Like that of a plain lock."""
        scope = listening()
        if scope is None:
            return bool(self._real.acquire(blocking, timeout))
        if blocking and timeout == -1:
            self._take(scope)
            return True
        if (timeout != -1) if not blocking else timeout < 0:
            return bool(self._real.acquire(blocking, timeout))  # raises ValueError
        return self._tried(scope, max(timeout, 0) if blocking else 0, _getframe(1))

    def release(self) -> None:
        """Like that of a plain lock."""
        self._real.release()
        if self._waiting:
            self._wake()

    def locked(self) -> bool:
        """Like that of a plain lock."""
        return bool(self._real.locked())

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return repr(self._real)

    def __reduce__(self) -> str:
        raise TypeError(f"cannot pickle {type(self._real).__name__!r} object")

    def _is_owned(self) -> bool:
        if self._real.acquire(False):
            self._real.release()
            return False
        return True

    def _at_fork_reinit(self) -> None:
        self._real._at_fork_reinit()
        self._mutex = allocate_lock()
        self._waiting = {}

    # -- in order --------------------------------------------------------------------------------------------

    def taken(self) -> None:
        """Count that a wait for this lock's condition has taken the lock."""
        scope = listening()
        if scope is not None:
            self._taken(scope)

    def _take(self, scope: Scope) -> None:
        if unordered():
            if self._waited(scope):
                scope.run.turnstile.unblocks()
            return
        if scope.run.replaying and not scope.run.handler.gone_live and self._in_turn(scope):
            return
        waited = self._waited(scope)
        self._taken(scope)
        if waited:
            self._resume(scope)

    def _waited(self, scope: Scope) -> bool:
        """Take the lock; return True if another thread had it."""
        if self._real.acquire(False):
            return False
        scope.run.turnstile.blocks()
        try:
            if standstill.watched(scope):
                standstill.until(scope, lambda seconds: self._real.acquire(True, seconds))
            else:
                self._real.acquire()
        except BaseException:
            scope.run.turnstile.unblocks()
            raise
        return True

    def _tried(self, scope: Scope, limit: float, caller: FrameType) -> bool:
        """Take the lock within a time limit, or at once: the outcome is recorded."""
        limited = deadline("lock", limit, caller, callers.program, given=True)
        recorded = None if limited is None else limited.recorded()
        if recorded is None:
            with standstill.waiting(scope.run, ends=True):
                met = bool(self._real.acquire(False)) or (limit > 0 and self._in_time(scope, limit))
            if limited is not None:
                limited.over(met)
            if met:
                self._taken(scope)
            return met
        if recorded:
            self._take(scope)
        return recorded

    def _in_time(self, scope: Scope, limit: float) -> bool:
        """Wait for the lock; return True if it was free within the limit."""
        scope.run.turnstile.blocks()
        try:
            return bool(self._real.acquire(True, limit))
        finally:
            scope.run.turnstile.unblocks()

    def _taken(self, scope: Scope) -> None:
        """Count that the lock is taken; record it if the last one to take it was another unit."""
        unit = unit_of(scope)
        if self._run is None or self._run() is not scope.run:
            self._forget(scope.run)
        self._count += 1
        if self._last != unit.path or self._call != scope.call:
            self._last, self._call = unit.path, scope.call
            scope.run.handler.locked(Scope(unit.path, scope.run, call=scope.call), self._name, self._count)

    def _in_turn(self, scope: Scope) -> bool:
        """Take the lock in its recorded turn; return False without one, with the lock not taken."""
        unit, turnstile = unit_of(scope), scope.run.turnstile
        gate = allocate_lock()
        gate.acquire()
        with self._mutex:
            if self._run is None or self._run() is not scope.run:
                self._forget(scope.run)
                self._free = not scope.run.handler.locks.ordered(self._name)
            taken = self._now(scope, unit)
            if not taken:
                if self._free:
                    return False
                self._waiting[gate] = unit, threading.get_ident()
        if not taken:
            turnstile.blocks()
            try:
                taken = self._awaited(scope, unit, gate)
            finally:
                with self._mutex:
                    self._waiting.pop(gate, None)
                turnstile.unblocks()
        if taken:
            self._resume(scope)
        return taken

    @property
    def given_up(self) -> bool:
        """True if threads take the lock in any order in this replay."""
        return self._free

    def _resume(self, scope: Scope) -> None:
        """Go on in this thread's turn, if it waited for the lock in the recording."""
        name = f"held:{self._name}:{self._count}"
        if not scope.run.replaying or scope.run.handler.due(scope, name) is not None:
            resume(scope, name)

    def _awaited(self, scope: Scope, unit: Scope, gate: Any) -> bool:
        handler, still = scope.run.handler, 0
        while still < _LOOKS:
            gate.acquire(timeout=_SLICE)
            with self._mutex:
                if self._now(scope, unit):
                    return True
            if self._free or handler.gone_live or handler.poison is not None:
                return False
            still = 0 if self._may_come(scope) else still + 1
        self._free = True
        return False

    def _may_come(self, scope: Scope) -> bool:
        """Return True if the thread whose turn it is may still come."""
        return scope.run.turnstile.others_run()

    def _now(self, scope: Scope, unit: Scope) -> bool:
        """Take the lock if it is that thread's turn and the lock is free. Call with the mutex held."""
        if self._free or not self._is_turn(unit) or not self._real.acquire(False):
            return False
        self._taken(scope)
        return True

    def _is_turn(self, unit: Scope) -> bool:
        order = unit.run.handler.locks
        self._count += order.skipped(self._name, self._count + 1)
        turn = order.turn(unit.path, self._name, self._count + 1)
        return self._last == unit.path if turn is None else turn

    def _wake(self) -> None:
        """Let the thread go on whose turn it is."""
        with self._mutex:
            for gate, (unit, thread) in self._waiting.items():
                if gate.locked() and (self._free or self._is_turn(unit)):
                    unit.run.turnstile.woken(thread)
                    gate.release()
                    return


class OrderedRLock(OrderedLock):
    """A reentrant lock that is taken in the recorded order."""

    __slots__ = ()

    plain: Any = _new_reentrant
    _new: Callable[[], Any] = staticmethod(_new_reentrant)

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Like that of a plain lock."""
        if self._real._is_owned():
            return bool(self._real.acquire())
        return super().acquire(blocking, timeout)

    def release(self) -> None:
        """Like that of a plain lock."""
        self._real.release()
        if self._waiting and not self._real._is_owned():
            self._wake()

    __enter__ = acquire

    def _is_owned(self) -> bool:
        return bool(self._real._is_owned())

    def _release_save(self) -> Any:
        state = self._real._release_save()
        if self._waiting:
            self._wake()
        return state

    def _acquire_restore(self, state: Any) -> None:
        self.acquire()
        for _ in range(state[0] - 1):
            self._real.acquire()


# A spawned manager looks them up by these names, as the program does.
OrderedLock.__module__, OrderedLock.__name__, OrderedLock.__qualname__ = "threading", "Lock", "Lock"
OrderedRLock.__module__, OrderedRLock.__name__, OrderedRLock.__qualname__ = "threading", "RLock", "RLock"


def unit_of(scope: Scope) -> Scope:
    """Return the scope of the running thread or job: the same one for all of its tasks."""
    unit: Scope | None = getattr(_unit, "scope", None)
    return unit if unit is not None and unit.run is scope.run else scope.run.root


def out_of_pool(caller: FrameType | None) -> FrameType | None:
    """Return the frame that uses a pool of `multiprocessing`, or the given one."""
    while caller is not None and caller.f_code.co_filename in POOL_FILES:
        caller = caller.f_back
    return caller
