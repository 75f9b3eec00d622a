"""Tell from the system whether a thread works, in Python or in native code.

Linux gives each thread's state, the place in the kernel where it waits, and its processor time. On other systems no
thread counts as working, and a replay waits for a fixed time only.

Sources: proc(5), `/proc/pid/task/tid/stat`, `wchan` and `schedstat`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from threading import get_ident

from reenact.core.system import monotonic

_TASKS = Path("/proc/self/task")
_SHARE = 0.1
_RUNNING = frozenset("RD")
"""The states of a thread that has or wants a processor, or waits for a disk."""


class Attention:
    """Counts the time that a waiting thread has spent watching.

    Time without a processor does not count: others may have waited for the interpreter that the thread held.

    Args:
        longest: The most seconds that count between two looks.
    """

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._seen: dict[int, tuple[float, float, float]] = {}

    def since(self, since: float) -> float:
        """Look again; return the seconds that the running thread has watched since a moment."""
        me, now = get_ident(), monotonic()
        began, last, seen = self._seen.get(me, (since, since, 0.0))
        if began != since:
            last, seen = since, 0.0
        seen += min(max(now - last, 0.0), self._longest)
        self._seen[me] = since, now, seen
        return seen

    def forget(self) -> None:
        """Note that the running thread ends."""
        self._seen.pop(get_ident(), None)


class ThreadWork:
    """Tells whether threads work: they run, wait for a disk, or sleep for a given time.

    A thread that waits for a lock, a socket or a pipe does not work: it may wait for ever.
    """

    def __init__(self) -> None:
        self._spent: dict[int, tuple[float, float]] = {}
        self._since: object = None
        self._begun: dict[int, float] = {}

    def seen(self, threads: Iterable[int]) -> bool:
        """Return True if one of these threads works, each given by the system's number."""
        # Each of them is looked at, so that the next look has a time to compare with.
        return bool([thread for thread in threads if self._works(thread)])

    def starved(self, threads: Iterable[int], seconds: float, since: object) -> bool:
        """Return True if one of these threads wants a processor and has not had it for that long.

        Args:
            threads: The threads, each by the system's number.
            seconds: The processor time that each of them may take.
            since: What the time counts from; another value begins anew.
        """
        if since != self._since:
            self._since, self._begun = since, {}
        return bool([thread for thread in threads if self._starves(thread, seconds)])

    def waits(self, threads: Iterable[int]) -> bool:
        """Return True if each of these threads waits in the system, and not for a lock."""
        return all(_waits(thread) for thread in threads)

    def _starves(self, thread: int, seconds: float) -> bool:
        task = _TASKS / str(thread)
        try:
            state = (task / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
            spent = int((task / "schedstat").read_text().split()[0]) / 1e9
        except (OSError, ValueError, IndexError):
            return False
        return state in _RUNNING and spent - self._begun.setdefault(thread, spent) < seconds

    def _works(self, thread: int) -> bool:
        task = _TASKS / str(thread)
        try:
            # The name before the state is in brackets, and may hold any character.
            state = (task / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
            sleeps = "nanosleep" in (task / "wchan").read_text()
            spent = int((task / "schedstat").read_text().split()[0]) / 1e9
        except (OSError, ValueError, IndexError):
            # It has ended, or this system does not say.
            return False
        now = monotonic()
        before, then = self._spent.get(thread, (spent, now))
        self._spent[thread] = spent, now
        busy = now > then and (spent - before) / (now - then) >= _SHARE
        return state in _RUNNING or sleeps or busy


def _waits(thread: int) -> bool:
    try:
        within = (_TASKS / str(thread) / "wchan").read_text()
    except OSError:
        return False
    return within not in {"", "0"} and "futex" not in within
