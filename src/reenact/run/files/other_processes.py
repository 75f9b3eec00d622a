"""Tell the changes of files by commands from those by other processes of the run.

One look of a process may find both, and processes look at their files at different times. So each change has an
interval: it was made between the last event of its process and the look that found it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import inf
from pathlib import Path
from typing import NamedTuple

from reenact.core.files.states import FileState
from reenact.core.files.trees import UNKNOWN, FileChange, changes
from reenact.core.model.event import WRITES, name_of, names_of
from reenact.core.model.log import Log
from reenact.core.query.recorded_run import RecordedRun


class _Found(NamedTuple):
    """A state that a process has given a path, or found there, between two times."""

    time: float
    began: float
    state: FileState
    own: bool
    """The process's own code made the change."""
    by_other: bool
    """The same, of another process that runs again."""


class _Path:
    """The states of one path, in the order of their times."""

    def __init__(self, found: list[_Found]) -> None:
        self._found = sorted(found, key=lambda each: each.time)
        self._times = [each.time for each in self._found]
        self._owned = {each.state for each in self._found if each.own}
        self._by_others: dict[FileState, list[_Found]] = {}
        for each in self._found:
            if each.by_other:
                self._by_others.setdefault(each.state, []).append(each)

    def by_other(self, state: FileState, time: float, until: float) -> bool:
        """Return True if another process gave the path a state that was found between two times."""
        made = self._by_others.get(state, ())
        place = bisect_right(made, time, key=lambda each: each.time)
        # It was found behind the process's own look, or before it.
        near = [*made[place - 1 : place], *(each for each in made[place : place + 1] if each.began <= until)]
        return any(not self._changed_between(state, each.time, time) for each in near)

    def _changed_between(self, state: FileState, one: float, other: float) -> bool:
        """Return True if the path has certainly had another state between two times."""
        first, last = sorted((one, other))
        places = range(bisect_right(self._times, first), bisect_left(self._times, last))
        between = (self._found[place] for place in places)
        return any(each.state != state and (each.own or each.state not in self._owned) for each in between)


class _Writing(NamedTuple):
    """The times at which a process opened a file to change it, and found its changes."""

    opened: list[float]
    changed: list[float]

    def overlaps(self, time: float, until: float) -> bool:
        """Return True if it had opened the file, and not looked again, between two times."""
        place = bisect_left(self.changed, time)
        if place == len(self.changed):
            return False
        # The last time at which it opened the file before it found the next change.
        behind = bisect_right(self.opened, min(until, self.changed[place]))
        return behind > 0 and (place == 0 or self.opened[behind - 1] >= self.changed[place - 1])


class OtherProcesses:
    """The changes that the other processes of a run made by their own code.

    They run again in a replay, and repeat their changes. A process that a tool starts may not run.

    Args:
        recording: The recording.
        log: The part of the process whose looks are judged.
    """

    def __init__(self, recording: RecordedRun, log: Log) -> None:
        self._recording, self._log = recording, log
        looks = [_offset(log) + change.t for change in changes(log)]
        self._looks = sorted([*_call_times(log), *looks])

    def made(self, path: Path, change: FileChange) -> bool:
        """Return True if another process has made a change of a path that this process has found."""
        time = _offset(self._log) + change.t
        # The look began at this time, and had ended when the next event of the process was written.
        until = _next(self._looks, time)
        if any(began <= until and time <= ended for began, ended in self._first_changes.get(path, ())):
            # A file that the other process was making: it may be there, and empty.
            return True
        if any(each.overlaps(time, until) for each in self._writing.get(name_of(str(path)), ())):
            # The other process had opened the file, and looked at it only after further changes.
            return True
        found = self._paths.get(path)
        return found is not None and found.by_other(change.states[path].timeless(), time, until)

    @cached_property
    def _paths(self) -> dict[Path, _Path]:
        found: dict[Path, list[_Found]] = {}
        for log in self._recording.logs:
            times, runs_again = _call_times(log), self._runs_again(log)
            for change in changes(log):
                if change.how == "first":
                    continue
                own = _is_own(change)
                time = _offset(log) + change.t
                began = _last_before(times, time) if own else time
                for path, state in change.states.items():
                    found.setdefault(path, []).append(
                        _Found(time, began, state.timeless(), own, own and runs_again)
                    )
        return {path: _Path(states) for path, states in found.items()}

    @cached_property
    def _first_changes(self) -> dict[Path, list[tuple[float, float]]]:
        """Return the times at which other processes began and ended their first change of a path."""
        found: dict[Path, list[tuple[float, float]]] = {}
        for log in filter(self._runs_again, self._recording.logs):
            began: dict[Path, float] = {}
            for change in changes(log):
                time = _offset(log) + change.t
                if change.how == "first" and change.within != UNKNOWN:
                    began.update(dict.fromkeys(change.states, time))
                elif _is_own(change):
                    for path in change.states.keys() & began.keys():
                        found.setdefault(path, []).append((began.pop(path), time))
        return found

    @cached_property
    def _writing(self) -> dict[str, list[_Writing]]:
        """Return the times in which other processes changed a file, by its name."""
        found: dict[str, list[_Writing]] = {}
        for log in filter(self._runs_again, self._recording.logs):
            changed: dict[str, list[float]] = {}
            for change in filter(_is_own, changes(log)):
                for path in change.states:
                    changed.setdefault(name_of(str(path)), []).append(_offset(log) + change.t)
            opened: dict[str, list[float]] = {}
            for use, number in log.locked:
                for name in names_of(use) if use.endswith(WRITES) else ():
                    opened.setdefault(name, []).append(_offset(log) + number / 1e6)
            for name in opened.keys() & changed.keys():
                found.setdefault(name, []).append(_Writing(sorted(opened[name]), sorted(changed[name])))
        return found

    def _runs_again(self, log: Log) -> bool:
        """Return True for another process that no tool has started."""
        return log is not self._log and "#" not in log.process


def _is_own(change: FileChange) -> bool:
    """Return True for a change that the process's own code is known to have made."""
    return change.how in ("change", "end") and change.within != UNKNOWN


def _call_times(log: Log) -> list[float]:
    """Return the times of a process's calls and outcomes, in order."""
    return sorted(_offset(log) + time for time in _times(log))


def _times(log: Log) -> Iterator[float]:
    for call in log.calls.values():
        yield call.began
        if call.outcome is not None:
            yield float(call.outcome["t"])


def _last_before(times: Sequence[float], time: float) -> float:
    position = bisect_left(times, time)
    return times[position - 1] if position else 0.0


def _next(times: Sequence[float], time: float) -> float:
    position = bisect_right(times, time)
    return times[position] if position < len(times) else inf


def _offset(log: Log) -> float:
    return float(log.opened.get("offset", 0.0))
