"""The recorded order in which threads take locks, without the turns in answered calls."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable

from reenact.core.boundary import Answer
from reenact.core.boundary.lock_order import LockOrder
from reenact.core.model.log import Log
from reenact.core.replay.terms import Terms


class LockTurns(LockOrder):
    """The takers of locks in one process's recording.

    A line of the recording says who takes a lock from one count on, until another one takes it.

    Args:
        log: The recorded process.
        terms: The names that the recording and the replay have for the same thing.
        inside: Returns the calls within a call, at any depth.
    """

    def __init__(self, log: Log, terms: Terms, inside: Callable[[int], Iterable[int]]) -> None:
        self._terms = terms
        self._takers = log.locked
        self._inside = inside
        self._counts: dict[str, list[int]] = {}
        self._within: dict[int, list[tuple[str, int]]] = {}
        self._answered: set[tuple[str, int]] = set()
        for (lock, count), (_, call) in self._takers.items():
            insort(self._counts.setdefault(lock, []), count)
            if call is not None:
                self._within.setdefault(call, []).append((lock, count))

    def ordered(self, lock: str) -> bool:
        return lock in self._counts

    def turn(self, path: str, lock: str, count: int) -> bool | None:
        taker = self._takers.get((lock, count))
        return None if taker is None else taker[0] == self._terms.name(path)

    def passed(self, answer: Answer) -> None:
        """Skip the turns inside an answered call, whose code does not run."""
        if self._within and answer.call is not None:
            for number in (answer.call, *self._inside(answer.call)):
                self._answered.update(self._within.pop(number, ()))

    def skipped(self, lock: str, count: int) -> int:
        until = count
        counts = self._counts.get(lock, ())
        while (lock, until) in self._answered:
            place = bisect_left(counts, until) + 1
            if place >= len(counts):
                break
            until = counts[place]
        return until - count
