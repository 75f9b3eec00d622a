"""The recorded order in which the processes of a run take a lock or use a file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, partial
from itertools import takewhile
from typing import TypeAlias

from reenact.core.boundary import RecordedTake
from reenact.core.model.event import FILE_LOCK, FILE_USE, READS, WRITES, files_of, names_of
from reenact.core.model.log import Log
from reenact.core.query.recorded_run import RecordedRun

_Turns: TypeAlias = list[tuple[float, RecordedTake]]
"""Turns in their order, each with its count or time."""

_NEAR = 100
"""The number of uses behind a change that may have come before it."""


class RecordedTurns:
    """The takes of locks, and the uses of files, of all processes of a recording."""

    def __init__(self, recording: RecordedRun) -> None:
        self._logs = recording.logs
        self._takes: dict[str, _Turns] = {}

    def taker(self, name: str, count: int) -> RecordedTake | None:
        """Return the take of a lock, or the use of a file, of that count.

        Return None if there is none, or the order makes no difference.
        """
        found = self._uses.get(name, []) if name.startswith(FILE_USE) else self._taken(name)
        if name.startswith((FILE_LOCK, FILE_USE)):
            # Each take has a line, with its time.
            return found[count - 1][1] if count <= len(found) else None
        place = bisect_right(found, float(count), key=lambda each: each[0])
        return found[place - 1][1] if place else None

    def _taken(self, name: str) -> _Turns:
        found = self._takes.get(name)
        if found is None:
            found = self._takes[name] = sorted(
                (
                    _offset(log) + number if name.startswith(FILE_LOCK) else number,
                    RecordedTake(at, number, lock),
                )
                for log in self._logs
                for (lock, number), (at, _) in log.locked.items()
                if lock == name
            )
        return found

    @cached_property
    def _uses(self) -> dict[str, _Turns]:
        """The uses of each file that several processes use and one of them changes."""
        found: dict[str, _Turns] = {}
        users: dict[str, set[str]] = {}
        changed: set[str] = set()
        for log in self._logs:
            for (use, number), (at, _) in log.locked.items():
                if use == FILE_USE:
                    # There are too many uses: the further ones are not recorded.
                    return {}
                for name in names_of(use):
                    found.setdefault(name, []).append((_offset(log) + number, RecordedTake(at, number, use)))
                    users.setdefault(name, set()).add(log.process)
                    if use.endswith(WRITES):
                        changed.add(name)
        shared = {
            name: sorted(uses) for name, uses in found.items() if name in changed and len(users[name]) > 1
        }
        late: dict[RecordedTake, float] = {}
        for name, uses in shared.items():
            for change, time in _late(uses, name):
                late[change] = max(time, late.get(change, time))
        for uses in shared.values():
            uses.sort(key=lambda timed: (late.get(timed[1], timed[0]), timed[1] in late))
        return shared


def _late(uses: _Turns, name: str) -> Iterator[tuple[RecordedTake, float]]:
    """Yield changes of a name behind which others found the file as before.

    Each comes with the time of the last such look. A use is written down before it is made: meanwhile, another process
    may look.
    """
    for place, (_, change) in enumerate(uses):
        if not _number(change, name) or all(number for _, number in files_of(change.name)):
            continue
        near = uses[place + 1 : place + _NEAR]
        same = takewhile(partial(_same, change, name), near)
        looks = [time for time, use in same if use.name.endswith(READS)]
        if looks:
            yield change, looks[-1]


def _same(change: RecordedTake, name: str, timed: tuple[float, RecordedTake]) -> bool:
    """Return True for a use by another process that found the file as it was before a change."""
    use = timed[1]
    return use.path != change.path and _number(use, name) == _number(change, name)


def _number(use: RecordedTake, name: str) -> str:
    """Return the number that a file had at a use, 0 for none; empty for a folder."""
    return dict(files_of(use.name)).get(name.removeprefix(FILE_USE), "")


def _offset(log: Log) -> float:
    """Return the microseconds between the beginnings of the recording and of a process's part."""
    return float(log.opened.get("offset", 0.0)) * 1e6
