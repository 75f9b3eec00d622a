"""The program's callbacks of futures between threads (`Future.add_done_callback`).

A callback runs in the thread that ends the job, or at once if the job has ended. Its scope is named where the program
adds it, so its effects have the same addresses in both cases. Callbacks of libraries have no scope of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from sys import _getframe
from typing import Any

from reenact.adapters import locks
from reenact.adapters.scopes import listening, name_of
from reenact.adapters.stdlib import callers
from reenact.core.boundary import Scope, entered
from reenact.errors import Halt

_NAMED = 3
"""The number of the matching rules from which callbacks have a scope of their own."""


def added(original: Callable[..., None], future: Any, fn: Callable[[Any], object]) -> None:
    """`Future.add_done_callback`."""
    scope = listening()
    if scope is None or scope.run.rules < _NAMED or not callers.program(_getframe(2)):
        original(future, fn)
        return
    child = scope.child("thread:callback:" + name_of(fn, scope.run.rules))
    original(future, partial(_called_back, child, fn))


def _called_back(scope: Scope, fn: Callable[[Any], object], future: Any) -> None:
    before = locks.working(scope)
    try:
        with entered(scope):
            fn(future)
    except Halt:
        # The handler keeps it, and `replay()` raises it at its end: here it would end a thread of a pool.
        pass
    finally:
        locks.working(before)
