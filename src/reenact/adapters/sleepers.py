"""Track the threads that wait for each other, for the turnstile."""

from __future__ import annotations

import threading
from _thread import allocate_lock
from collections.abc import Callable
from typing import Any

from reenact.core.boundary import current

_sleepers: dict[int, list[tuple[Any, int]]] = {}
_sleeping = allocate_lock()
"""Guards the list of the threads that wait for each thread or condition, in order."""


def join(original: Callable[..., Any], thread: threading.Thread, timeout: float | None = None) -> None:
    """`Thread.join`."""
    _blocking(original, thread, timeout)


def wait(original: Callable[..., Any], condition: threading.Condition, timeout: float | None = None) -> Any:
    """`Condition.wait`."""
    return _blocking(original, condition, timeout)


def _blocking(original: Callable[..., Any], owner: Any, timeout: float | None) -> Any:
    scope = current()
    if scope is None:
        return original(owner, timeout)
    turnstile = scope.run.turnstile
    sleeper = (turnstile, threading.get_ident())
    with _sleeping:
        _sleepers.setdefault(id(owner), []).append(sleeper)
    turnstile.blocks()
    try:
        return original(owner, timeout)
    finally:
        with _sleeping:
            others = _sleepers.get(id(owner), [])
            if sleeper in others:
                others.remove(sleeper)
            if not others:
                _sleepers.pop(id(owner), None)
        turnstile.unblocks()


def notify(original: Callable[..., Any], condition: threading.Condition, n: int = 1) -> None:
    """`Condition.notify`."""
    if _sleepers:
        _wake(condition, n)
    original(condition, n)


def _wake(owner: Any, count: int) -> None:
    """Mark the threads that wait for this as running: at once, before they get the processor."""
    with _sleeping:
        sleepers = _sleepers.get(id(owner), [])
        woken, sleepers[:count] = sleepers[:count], []
    for turnstile, thread in woken:
        turnstile.woken(thread)


def ended(thread: threading.Thread) -> None:
    """Mark the threads that have joined that thread as running."""
    _wake(thread, len(_sleepers))
