"""Locks of files: their tries are recorded, and a replay takes them in the recorded order.

The outcome of a try depends on other processes, such as commands, which do not run in a replay. Processes that write to
one file often take turns by its lock: a recording has a line (`locked`) for each time that the program's own code takes
one, outside of calls. In a replay, each process waits until the others have had their earlier turns.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from reenact.adapters.locks import unit_of
from reenact.adapters.process_turns import await_lock
from reenact.adapters.readiness import resting
from reenact.adapters.stdlib import callers, early
from reenact.core import system
from reenact.core.boundary import Scope, current, draw, entered
from reenact.core.model.event import FILE_LOCK, OPTIONS

_FOR_CALLER = {"fasteners", "filelock", "portalocker"}
"""Packages that lock a file for their caller."""


class _Ways(NamedTuple):
    """The way in which the program takes a lock: if it only tries, and the flags for either."""

    tries: bool
    waiting: int
    trying: int


if sys.platform != "win32":
    import fcntl

    def install() -> None:
        """Replace the functions of `fcntl`, and `os.lockf`, once."""
        if isinstance(fcntl.flock, staticmethod):
            return
        for module, name, ways in (
            (fcntl, "flock", _flags),
            (fcntl, "lockf", _flags),
            (os, "lockf", _command),
        ):
            if hasattr(module, name):
                _replace(module, name, ways)

    def _flags(how: int) -> _Ways | None:
        if how & fcntl.LOCK_UN:
            return None
        return _Ways(how & fcntl.LOCK_NB != 0, how & ~fcntl.LOCK_NB, how | fcntl.LOCK_NB)

    def _command(how: int) -> _Ways | None:
        return _Ways(how == os.F_TLOCK, os.F_LOCK, os.F_TLOCK) if how in {os.F_LOCK, os.F_TLOCK} else None

else:

    def install() -> None:
        """Do nothing: there are no such locks."""


def _replace(module: Any, name: str, ways: Callable[[int], _Ways | None]) -> None:
    original: Callable[..., Any] = getattr(module, name)

    def lock(*args: Any) -> Any:
        scope = current()
        how = ways(args[1]) if len(args) > 1 and isinstance(args[1], int) else None
        if how is None or scope is None or scope.hidden or not _asks(sys._getframe(1)):
            return original(*args)
        trying = partial(original, args[0], how.trying, *args[2:])
        waiting = partial(original, args[0], how.waiting, *args[2:])
        turns = _FileTurns(scope, args[0])
        if not how.tries:
            turns.wait(trying, waiting)
        elif scope.run.rules < OPTIONS:
            original(*args)
        elif turns.tried(name, trying):
            turns.wait(trying, waiting)
        return None

    early.replace(module, name, lock)


class _FileTurns:
    """The order in which processes and threads take the lock of one file.

    Args:
        scope: The running code's scope.
        file: The open file, or its number.
    """

    def __init__(self, scope: Scope, file: Any) -> None:
        self._scope = scope
        self._name = _name(scope, file)

    def tried(self, name: str, attempt: Callable[[], object]) -> bool:
        """Return True if the lock was free when it was recorded and is still to be taken.

        Raises OSError if it was not free.
        """
        tried = False

        def outcome() -> int:
            nonlocal tried
            tried = True
            try:
                attempt()
            except OSError as error:
                return error.errno or 0
            return 0

        number = draw(f"file:{name}", outcome)
        if number and type(number) is int:
            raise OSError(number, os.strerror(number))
        if tried:
            self._taken(None)
        return not tried

    def wait(self, attempt: Callable[[], object], wait: Callable[[], object]) -> None:
        """Take the lock; in a replay, in its turn. Raises OSError."""
        run = self._scope.run
        if self._is_ordered():
            run.turnstile.live_begins()
            try:
                turn = await_lock(self._scope, self._name, self._count, "a file's lock")
                wait()
            finally:
                run.turnstile.live_ends()
            self._taken(None if turn is None else turn.number)
            return
        try:
            attempt()
        except (BlockingIOError, PermissionError):
            # Another process of the run, or of this replay, holds it: systems name that by either error.
            with resting():
                wait()
        self._taken(None)

    def _is_ordered(self) -> bool:
        """Return True in a replay of a recording with the turns of this lock, outside of calls."""
        run = self._scope.run
        if not run.replaying or run.handler.gone_live or run.family is None or self._scope.call is not None:
            return False
        return run.family.taker(self._name, 1) is not None

    def _taken(self, number: int | None) -> None:
        run = self._scope.run
        if self._scope.call is not None or not self._name:
            # A call may be answered in a replay, without its code.
            return
        counts = self._counts()
        if counts is not None:
            with entered(None), counts.open("a", encoding="ascii") as file:
                system.lock(file.fileno())
                file.write(".")
        if counts is None or number is not None:
            run.handler.locked(unit_of(self._scope), self._name, number)

    def _count(self) -> int:
        """Return how often the processes of this replay have taken the lock."""
        counts = self._counts()
        with entered(None):
            return counts.stat().st_size if counts is not None and counts.exists() else 0

    def _counts(self) -> Path | None:
        """Return the file in which the processes of a replay count; None in a recording."""
        run = self._scope.run
        if not run.replaying or run.family is None:
            return None
        folder = run.family.exchange("turns")
        return None if folder is None else folder / self._name.replace(":", "-")


def _name(scope: Scope, file: Any) -> str:
    """Return the name of an open file's lock, the same in each run; an empty one for no file."""
    assert sys.platform != "win32"
    try:
        number = file if isinstance(file, int) else file.fileno()
        with entered(None):
            if sys.platform == "darwin":
                path = os.fsdecode(fcntl.fcntl(number, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
            else:
                path = str(Path(f"/proc/self/fd/{number}").readlink())
    except (OSError, ValueError, AttributeError, TypeError):
        return ""
    path = path if scope.run.view is None else scope.run.view.public(path)
    return f"{FILE_LOCK}{blake2b(os.fsencode(path), digest_size=8).hexdigest()}"


def _asks(frame: FrameType | None) -> bool:
    """Return True if the program's own code asks, itself or through a package for locks."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _FOR_CALLER and package != "contextlib":
            break
        frame = frame.f_back
    return frame is not None and callers.kind_of(frame) == callers.OWN
