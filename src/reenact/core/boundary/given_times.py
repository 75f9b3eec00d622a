"""The times that the program's own code gives: its sleeps, and the limits of its waits.

A replay ends each wait as it was recorded, whatever its limit. So the times themselves are added up, and compared at
the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from threading import Lock

_LONGEST = 1e9
_MOST = 1 << 52
_DECIMALS = 3


def is_written(seconds: float) -> bool:
    """Return True for a time limit that a person wrote: it has few decimals."""
    return round(seconds, _DECIMALS) == seconds


class GivenTimes:
    """The sleeps and the sums of the given times of one run, by the path of the scope.

    Attributes:
        slept: The number of sleeps of the program's own code, by the path of the scope.
        further: The number of a replay's further sleeps: without a recorded place, while a process of the program ran.
            Their number depends on how soon that process has done its part.
        limits: The sums of the time limits of calls that are answered whole (HTTP requests, commands), and of
            `Executor.map`, in microseconds, by the path of the scope and the limit's name.
        loop_clock: True once the program has read the clock of an event loop, which is not recorded. Times that it
            gives to a loop may depend on it, so they do not count.
    """

    def __init__(self) -> None:
        self.slept: dict[str, int] = {}
        self.further: dict[str, int] = {}
        self.limits: dict[tuple[str, str], int] = {}
        self.loop_clock = False
        self._sums: dict[tuple[str, bool], int] = {}
        self._lock = Lock()

    def sleep(self, path: str, *, further: bool) -> None:
        """Count a sleep."""
        counts = self.further if further else self.slept
        with self._lock:
            counts[path] = counts.get(path, 0) + 1

    def limit(self, path: str, limits: Mapping[str, float | None]) -> None:
        """Add the time limits of a call, less those that a library has computed from a clock."""
        for name, seconds in limits.items():
            if type(seconds) in (int, float) and is_written(seconds):  # type: ignore[arg-type]
                microseconds = round(min(max(float(seconds), 0.0), _LONGEST) * 1e6)  # type: ignore[arg-type]
                with self._lock:
                    known = self.limits.get((path, name), 0)
                    self.limits[path, name] = min(known + microseconds, _MOST)

    def add(self, path: str, seconds: float, *, loop: bool = False) -> None:
        """Add a time, given to a loop or not. A value that is no number is ignored."""
        with suppress(TypeError, ValueError, OverflowError):
            microseconds = round(min(max(float(seconds), 0.0), _LONGEST) * 1e6)
            with self._lock:
                self._sums[path, loop] = min(self._sums.get((path, loop), 0) + microseconds, _MOST)

    def sums(self) -> dict[str, int]:
        """Return the sums in microseconds."""
        found: dict[str, int] = {}
        with self._lock:
            for (path, loop), total in self._sums.items():
                if not (loop and self.loop_clock):
                    found[path] = found.get(path, 0) + total
        return found
