"""Find out if the processes of a replay still do something."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from reenact.core.boundary.turnstile import real_time

_QUIET = 10.0
"""Seconds in which processes that work use at least some time of a processor."""
_LEAST = 0.03
"""The part of a processor that one waiting process may use."""


class StandStill:
    """Finds a replay in which all processes wait for each other.

    Args:
        joined: The program has started this process: its parent and siblings count, too.
    """

    def __init__(self, *, joined: bool) -> None:
        self._parent = os.getppid() if joined else 0
        self._began = real_time()
        self._used = -1.0

    def found(self) -> bool:
        """Return True if no process has done anything for a while, or the parent is gone."""
        if self._parent and os.getppid() != self._parent:
            return True
        now = real_time()
        if self._used < 0:
            self._used = _used(self._parent)[0]
        if now - self._began < _QUIET:
            return False
        used, count = _used(self._parent)
        spent, took = used - self._used, now - self._began
        self._began, self._used = now, used
        return sys.platform != "linux" or spent < took * _LEAST * count


def _used(parent: int) -> tuple[float, int]:
    """Return the processor time of this process and those around it, and their count."""
    here = os.getpid()
    numbers = {here, *_children(here)}
    if parent > 1:
        numbers |= {parent, *_children(parent)}
    total = 0.0
    for number in numbers:
        with suppress(OSError, ValueError, IndexError):
            words = Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()
            total += (int(words[11]) + int(words[12])) / 100
    return total, len(numbers)


def _children(number: int) -> set[int]:
    found: set[int] = set()
    with suppress(OSError, ValueError):
        for thread in Path(f"/proc/{number}/task").iterdir():
            found.update(map(int, (thread / "children").read_bytes().split()))
    return found
