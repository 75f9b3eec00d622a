"""Make Python wait at its end for searches in the C++ libraries for patterns.

Python stops the daemon threads that still run. In C++ code this aborts the process, and a program that has done its
work ends with a wrong status.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from threading import get_ident
from time import sleep
from typing import Any, TypeVar

from reenact.core.system import monotonic

T = TypeVar("T")

_PATIENCE = 1.0

under_way: list[int] = []
"""An entry for each search that runs now."""
ending: list[int] = []
"""The thread that ends Python, once that has begun."""


def wait_at_the_end() -> None:
    """Delay a search that begins while Python ends, except in the thread that ends it."""
    if get_ident() not in ending:
        under_way.pop()
        sleep(_PATIENCE)  # by then Python has ended, or what it runs at its end needs this thread
        under_way.append(0)


def ended_first(search: Callable[..., T]) -> Callable[..., T]:
    """Return a search that Python waits for at its end."""

    def searched(*args: Any) -> T:
        under_way.append(0)
        try:
            if ending:
                wait_at_the_end()
            return search(*args)
        finally:
            under_way.pop()

    return searched


def _end() -> None:
    ending.append(get_ident())
    until = monotonic() + _PATIENCE
    while under_way and monotonic() < until:
        sleep(0.0005)


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=under_way.clear)
