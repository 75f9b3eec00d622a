"""Record each try to lock a file without waiting.

Its outcome depends on other processes, such as commands, which do not run in a replay. A lock that the program waits
for is free in a replay.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from reenact.adapters.stdlib import callers, early
from reenact.core.boundary import current, draw
from reenact.core.model.event import OPTIONS

_FOR_CALLER = {"fasteners", "filelock", "portalocker"}
"""Packages that lock a file for their caller."""

if sys.platform != "win32":
    import fcntl

    def install() -> None:
        """Replace the functions of `fcntl`, and `os.lockf`, once."""
        if isinstance(fcntl.flock, staticmethod):
            return
        for module, name in ((fcntl, "flock"), (fcntl, "lockf"), (os, "lockf")):
            if hasattr(module, name):
                _replace(module, name, os.F_TLOCK if module is os else fcntl.LOCK_NB)

else:

    def install() -> None:
        """Do nothing: there are no such locks."""


def _replace(module: Any, name: str, without_waiting: int) -> None:
    original: Callable[..., Any] = getattr(module, name)

    def _tries(how: int) -> bool:
        return how == without_waiting if module is os else how & without_waiting != 0

    def lock(*args: Any) -> Any:
        scope = current()
        recorded = (
            scope is not None
            and not scope.hidden
            and scope.run.rules >= OPTIONS
            and len(args) > 1
            and isinstance(args[1], int)
            and _tries(args[1])
            and _asks(sys._getframe(1))
        )
        if not recorded:
            return original(*args)
        tried = False

        def attempt() -> int:
            nonlocal tried
            tried = True
            try:
                original(*args)
            except OSError as error:
                return error.errno or 0
            return 0

        number = draw(f"file:{name}", attempt)
        if number and type(number) is int:
            raise OSError(number, os.strerror(number))
        if not tried and attempt():
            # Another process of this replay has not let it go yet: it was free when it was recorded.
            original(args[0], args[1] & ~without_waiting if module is not os else os.F_LOCK, *args[2:])
        return None

    early.replace(module, name, lock)


def _asks(frame: FrameType | None) -> bool:
    """Return True if the program's own code asks, itself or through a package for locks."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _FOR_CALLER and package != "contextlib":
            break
        frame = frame.f_back
    return frame is not None and callers.kind_of(frame) == callers.OWN
