"""The program's initializers of pools of threads: each worker runs one before its first job.

A pool starts a worker for a job if no other is idle, which depends on the time that jobs take. In a run, a pool with an
initializer starts one for each job until it has all of them. So the same number of initializers runs in each replay,
and each has a scope that is named where its job is submitted.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any

from reenact.adapters import locks, pool_workers
from reenact.adapters.concurrency import begun
from reenact.adapters.scopes import listening, name_of
from reenact.adapters.stdlib import callers
from reenact.core.boundary import Scope, entered

_PLACE = 2
"""The position of the initializer among the arguments of a pool."""


class Initializer:
    """Runs a pool's initializer in a scope of its own.

    Args:
        function: The program's initializer.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function
        self._scopes: dict[int, Scope] = {}

    def prepare(self, number: int, scope: Scope) -> None:
        """Name the scope of the worker with this number, which a submitted job starts."""
        self._scopes[number] = scope.child("thread:initializer:" + name_of(self._function, scope.run.rules))

    def __call__(self, *args: Any) -> None:
        # Before the program can give its thread another name.
        number = pool_workers.worker_number()
        scope = self._scopes.pop(min(self._scopes, default=0) if number is None else number, None)
        if scope is None:
            # Started outside of the run.
            self._function(*args)
            return
        run = scope.run
        run.turnstile.thread_begins()
        before = locks.working(scope)
        try:
            begun(scope)
            with entered(scope):
                self._function(*args)
        finally:
            locks.working(before)
            # The worker goes on with a job.
            run.turnstile.thread_started()
            run.turnstile.thread_ends()


def made(original: Callable[..., None], pool: Any, args: list[Any], options: dict[str, Any]) -> None:
    """`ThreadPoolExecutor.__init__`: wrap the initializer that the program gives."""
    place: Any = "initializer" if "initializer" in options else _PLACE if len(args) > _PLACE else None
    given: Any = options if place == "initializer" else args
    function = None if place is None else given[place]
    if function is None or not callable(function) or listening() is None or not callers.program(_getframe(3)):
        original(pool, *args, **options)
        return
    pool._reenact_initializer = given[place] = Initializer(function)
    original(pool, *args, **options)


def of(pool: Any) -> Initializer | None:
    """Return the program's initializer of a pool, if it has one."""
    found: Initializer | None = getattr(pool, "_reenact_initializer", None)
    return found


def starting(pool: Any, scope: Scope) -> None:
    """Note that a job is submitted, which may start a worker."""
    initializer = of(pool)
    if initializer is not None and len(pool._threads) < pool._max_workers:
        initializer.prepare(len(pool._threads), scope)
