"""Find out if the processes of a replay still work."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path

from reenact.core.boundary import entered
from reenact.core.system import monotonic

_QUIET = 10.0
"""Seconds without work, after which the processes stand still."""
_LEAST = 0.03
"""The part of a processor's time that a waiting process may use."""
_LOOK = 0.2
"""Seconds between two looks at the processes."""
_READY = 0.5
"""The part of the looks in which a waiting process may be ready to run.

A process that works, and gets no processor on a busy machine, is ready in nearly all of them.
"""


class StandStill:
    """Finds out if all processes of a replay wait for each other.

    Args:
        joined: The program has started this process: its parent and siblings are examined, too.
    """

    def __init__(self, *, joined: bool) -> None:
        self._parent = os.getppid() if joined else 0
        self._began = self._looked = monotonic()
        self._first: dict[int, tuple[float, bool]] | None = None
        self._looks = 0
        self._ready: Counter[int] = Counter()

    def found(self, waiting: Iterable[int] = ()) -> bool:
        """Return True if no process has done anything for a while, or the parent is gone.

        Args:
            waiting: Threads of this process that only watch the others, by their native numbers.
        """
        if self._parent and os.getppid() != self._parent:
            return True
        now = monotonic()
        if self._first is None:
            self._first = _seen(self._parent, waiting)
        if now - self._looked < _LOOK:
            return False
        seen, self._looked = _seen(self._parent, waiting), now
        self._looks += 1
        self._ready.update(number for number, (_, ready) in seen.items() if ready)
        took = now - self._began
        if took < _QUIET:
            return False
        spent = sum(used - self._first.get(number, (0.0,))[0] for number, (used, _) in seen.items())
        ready = max(self._ready.values(), default=0) / self._looks
        self._began, self._first, self._looks = now, seen, 0
        self._ready.clear()
        return sys.platform != "linux" or (spent < took * _LEAST * len(seen) and ready < _READY)


def has_children() -> bool:
    """Return True if a process that this one has started still runs."""
    with entered(None):
        return any(_runs(number) for number in _children(os.getpid()))


def works(number: int) -> bool:
    """Return True if a process works: one of its threads is ready to run or waits for a disk."""
    with entered(None), suppress(OSError):
        return _is_ready(number, frozenset())
    return False


def handles(number: int, signal: int) -> bool:
    """Return True if a process handles or ignores a signal, or this system cannot tell."""
    with entered(None), suppress(OSError, ValueError):
        lines = Path(f"/proc/{number}/status").read_text(encoding="utf-8", errors="replace").splitlines()
        masks = [int(line.split()[1], 16) for line in lines if line.startswith(("SigIgn:", "SigCgt:"))]
        return any(mask >> (signal - 1) & 1 for mask in masks)
    return True


def _runs(number: int) -> bool:
    with suppress(OSError, IndexError):
        return _status(Path(f"/proc/{number}/stat"))[0] != b"Z"
    return False


def _seen(parent: int, waiting: Iterable[int] = ()) -> dict[int, tuple[float, bool]]:
    """Look at this process and those around it.

    Returns:
        By a process's number its seconds on a processor, and True if one of its threads is ready to run or waits for
        a disk.
    """
    with entered(None):
        here = os.getpid()
        numbers = {here, *_children(here)}
        looking = {str(thread) for thread in (threading.get_native_id(), *waiting)}
        if parent > 1:
            numbers |= {parent, *_children(parent)}
        seen = {here: (0.0, False)}
        for number in numbers:
            with suppress(OSError, ValueError, IndexError):
                words = _status(Path(f"/proc/{number}/stat"))
                seen[number] = (int(words[11]) + int(words[12])) / 100, _is_ready(number, looking)
    return seen


def _is_ready(number: int, looking: AbstractSet[str]) -> bool:
    """Return True if a thread of the process is ready to run or waits for a disk.

    Threads that are `looking` do not count.
    """
    for thread in Path(f"/proc/{number}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            if thread.name not in looking and _status(thread / "stat")[0] in (b"R", b"D"):
                return True
    return False


def _status(path: Path) -> list[bytes]:
    """Return the fields after the name of a process or thread."""
    return path.read_bytes().rpartition(b")")[2].split()


def _children(number: int) -> set[int]:
    found: set[int] = set()
    with suppress(OSError, ValueError):
        for thread in Path(f"/proc/{number}/task").iterdir():
            found.update(map(int, (thread / "children").read_bytes().split()))
    return found
