"""Keep copies of the running program to go back to: each waits at the question of its copy.

To step back, a replay must run again; from the program's first line that takes as long as its imports do. A copy of
the process (`fork`) is ready at once, and shares its memory. It is made only where a copy is as good as a fresh run:
with one thread, no child processes, no open files, no calls that ran for real, and event loops of the standard library,
which get new selectors.

The copy is made below Python's own `os.fork`: with a single thread nothing needs repair, and the functions that
libraries run after a fork (new seeds) would make the copy differ from the original.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import selectors
import signal
import socket
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from reenact.core import system
from reenact.core.boundary import entered
from reenact.core.dataclass import dataclass
from reenact.core.replay.replayer import Replayer
from reenact.run.child.debugger_link import DebuggerLink
from reenact.run.debugger import debugger_protocol
from reenact.run.debugger.orders import ProgramPlace

KEPT = 12
"""The approximate maximum number of a program's copies."""

_APART = 8
_exit = os._exit
_TASKS = Path("/proc/self/task")


@dataclass(frozen=True, slots=True)
class Wake:
    """The order to a copy that has been woken: the places until which it runs."""

    message: dict[str, Any]


class Copies:
    """Makes copies of this process now and then.

    Args:
        line: The connection to the debugger.
        replayer: The replay's handler.
        total: The number of steps of the recording.
        moved: Called in a copy, with the id of the process that it is a copy of.
    """

    def __init__(
        self, line: DebuggerLink, replayer: Replayer, *, total: int, moved: Callable[[int], None]
    ) -> None:
        self._line = line
        self._replayer = replayer
        self._moved = moved
        self._apart = max(_APART, -(-total // KEPT))
        self._count = 0
        self._made: set[int] = set()

    def due(self, place: ProgramPlace) -> bool:
        """Return True if a copy is to be made here, if possible."""
        due = self._count % self._apart == 0
        self._count += 1
        return due and system.LINUX and self._safe()

    def keep(self, place: ProgramPlace, places: list[ProgramPlace]) -> Wake | None:
        """Make a copy. Return None in the original; in a copy, once woken, the order to carry out."""
        with entered(None):
            ours, theirs = socket.socketpair()
            loop = asyncio._get_running_loop()
            known = os.getpid()
            child = _fork()
            if child != 0:
                ours.close()
                self._reap()
                self._made.add(child)
                passed = [(each.step, each.extra) for each in places[:-1]]
                said = debugger_protocol.line(
                    "copy", place=(place.step, place.extra), passed=passed, process=child
                )
                self._line.send(said, theirs.fileno())
                theirs.close()
                # Write nothing until the debugger has noted the size of the output so far.
                self._line.hear()
                return None
            theirs.close()
            self._line.switch(ours)
            return self._wait(known, loop)

    def _wait(self, known: int, loop: asyncio.AbstractEventLoop | None) -> Wake:
        """Sleep in the copy. Each time it is woken it makes another, which runs on in its place."""
        while True:
            message = self._line.hear()
            if message["say"] != "go":
                continue
            ours, theirs = socket.socketpair()
            child = _fork()
            if child == 0:
                theirs.close()
                self._line.switch(ours)
                self._made.clear()
                try:
                    asyncio._set_running_loop(loop)
                    _renew_loops()
                    self._moved(known)
                except Exception:
                    # Without this copy, the program is run again from its beginning.
                    _exit(1)
                return Wake(message)
            ours.close()
            self._line.send(debugger_protocol.line("woken", process=child), theirs.fileno())
            theirs.close()
            self._reap()
            self._made.add(child)

    def _reap(self) -> None:
        """Forget about copies that have ended."""
        if sys.platform != "win32":
            for child in list(self._made):
                with suppress(ChildProcessError):
                    if os.waitpid(child, os.WNOHANG)[0] == 0:
                        continue
                self._made.discard(child)

    def _safe(self) -> bool:
        """Return True if a copy of this process is as good as a new run."""
        replayer = self._replayer
        if replayer.real.counts or replayer.gone_live or replayer.opened or replayer.poison is not None:
            return False
        if threading.active_count() > 1 or len(list(_TASKS.iterdir())) > 1:
            return False
        return self._childless() and not _files() and all(map(_renewable, _loops()))

    def _childless(self) -> bool:
        """Return True if the program has no child processes but its own copies."""
        try:
            children = {
                int(word) for task in _TASKS.iterdir() for word in (task / "children").read_text().split()
            }
        except OSError:
            return False
        return children <= self._made


def _fork() -> int:
    return int(_libc.fork())


_libc: Any = ctypes.PyDLL(None) if system.LINUX else None


def _files() -> bool:
    """Return True if a regular file is open: all copies would share its position."""
    for entry in Path("/proc/self/fd").iterdir():
        number = int(entry.name)
        if number > 2:
            with suppress(OSError):
                if stat.S_ISREG(os.fstat(number).st_mode):
                    return True
    return False


def _loops() -> list[asyncio.AbstractEventLoop]:
    # By type: reading `__class__` of a program's object may run its code.
    found = (each for each in gc.get_objects() if issubclass(type(each), asyncio.AbstractEventLoop))
    return [loop for loop in found if not loop.is_closed()]


def _renewable(loop: asyncio.AbstractEventLoop) -> bool:
    return isinstance(loop, asyncio.SelectorEventLoop) and isinstance(
        getattr(loop, "_selector", None), selectors.BaseSelector
    )


def _renew_loops() -> None:
    """Give each loop its own selector and its own wake-up pipe.

    A selector lives in the kernel, and would be shared with the original.
    """
    loops: list[Any] = list(_loops())
    for loop in loops:
        old, pipe, end = loop._selector, loop._ssock, loop._csock
        loop._selector = selectors.DefaultSelector()
        for key in old.get_map().values():
            if key.fd != pipe.fileno():
                loop._selector.register(key.fileobj, key.events, key.data)
        # Nothing is unregistered from the old selector: the original still uses it.
        old.close()
        wakes = signal.set_wakeup_fd(-1)
        loop._internal_fds -= 1
        loop._make_self_pipe()
        if wakes >= 0:
            signal.set_wakeup_fd(loop._csock.fileno() if wakes == end.fileno() else wakes)
        pipe.close()
        end.close()
