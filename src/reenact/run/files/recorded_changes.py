"""The recorded changes of a process's files, by the calls that made them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from reenact.core.files import databases
from reenact.core.files.states import NOTHING, FileState
from reenact.core.files.trees import UNKNOWN, changes, first_states
from reenact.core.model.log import CallRecord, Log, Received
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.cursor import thread_of
from reenact.run.files.other_processes import OtherProcesses
from reenact.run.files.path_state import bytes_of

OUTER = frozenset(("model", "http", "input", "websocket", "mcp"))
"""Kinds of calls without the program's code inside: only other code changes files meanwhile."""


class RecordedChanges:
    """The changes of one process, numbered in their order.

    Args:
        recording: The recording.
        log: The process's part of it.
    """

    def __init__(self, recording: RecordedRun, log: Log) -> None:
        self.recording, self.log = recording, log
        self.all = [change for change in changes(log) if change.how != "first"]
        self.due = dict(enumerate(self.all))
        self.after: dict[int | None, list[int]] = {}
        """Those from outside and of commands, by the call before them."""
        self.behind: dict[Received, list[int]] = {}
        """Those of a command that goes on, by the chunk or end of a wait before them."""
        self._commands = [
            (call.began, call.ended or float("inf")) for call in log.calls.values() if call.kind == "process"
        ]
        self._times = [change.t for change in self.all]
        self._within: dict[int, list[int]] = {}
        self._states: dict[Path, list[int]] = {}
        for number, change in enumerate(self.all):
            if change.how in ("outside", "command") and change.received is not None:
                self.behind.setdefault(change.received, []).append(number)
            elif change.how in ("outside", "command"):
                self.after.setdefault(change.call, []).append(number)
            elif change.within is not None and change.within != UNKNOWN:
                for call in self._calls_around(change.within):
                    self._within.setdefault(call, []).append(number)
            for path in change.states:
                self._states.setdefault(path, []).append(number)

    def by_others(self, number: int) -> bool:
        """Return True if a change may have been made by other than the program's own code.

        A running command may change files that the program uses.
        """
        change = self.all[number]
        return change.how in ("command", "outside") or (
            change.how == "change" and any(began <= change.t <= ended for began, ended in self._commands)
        )

    def of_answered(self, call: CallRecord, others: Iterable[CallRecord]) -> list[int]:
        """Return the changes of a call that is answered without running.

        Included are those that `others`, which are answered later, had made by then.
        """
        found = {*self._within.get(call.number, ()), *self.after.get(call.number, ())}
        if call.outcome is not None:
            behind = bisect_right(self._times, float(call.outcome["t"]))
            found |= {
                each for other in others for each in self._within.get(other.number, ()) if each < behind
            }
        if call.kind not in OUTER and call.outcome is not None:
            first = bisect_left(self._times, call.began)
            last = bisect_right(self._times, float(call.outcome["t"]))
            found |= {
                each
                for each in range(first, last)
                if self.all[each].how != "end" and self.all[each].within == UNKNOWN
            }
        return sorted(found)

    def numbers(self, path: Path) -> Sequence[int]:
        """Return the numbers of the changes of a path, in order."""
        return self._states.get(path, [])

    @cached_property
    def threaded(self) -> bool:
        """True if several threads of this process asked something."""
        return len({thread_of(call.scope) for call in self.log.calls.values()}) > 1

    def is_of_thread(self, number: int, call: CallRecord) -> bool:
        """Return True if a change was made in the thread that made a call."""
        if not self.threaded:
            return True
        within = self.all[number].within
        around = self.log.calls.get(within) if within is not None else None
        return around is not None and thread_of(around.scope) == thread_of(call.scope)

    def later_of_program(self, path: Path, number: int) -> list[FileState]:
        """Return the states to which the program's own code brings a path after a change.

        There are none if it is known which code has made the change.
        """
        change = self.all[number]
        if not self.threaded or change.how != "change" or change.within != UNKNOWN:
            return []
        behind = (self.all[each] for each in self.numbers(path) if each > number)
        return [
            each.states[path] for each in behind if each.how in ("change", "end") and each.within != UNKNOWN
        ]

    def state(self, path: Path, number: int) -> FileState:
        """Return the state of a path after a change."""
        known = self._states.get(path, [])
        at = bisect_right(known, number)
        if at:
            return self.all[known[at - 1]].states[path]
        return first_states(self.recording).get(path, NOTHING)

    def is_of_other_process(self, path: Path, number: int) -> bool:
        """Return True if the change is that of another process of the run, which repeats it."""
        change = self.all[number]
        unseen = change.how in ("command", "outside") or (change.how == "change" and change.within == UNKNOWN)
        return unseen and len(self.recording.logs) > 1 and self._others.made(path, change)

    @cached_property
    def _others(self) -> OtherProcesses:
        return OtherProcesses(self.recording, self.log)

    def database(self, path: Path, number: int) -> tuple[Path, bytes] | None:
        """Return the database of a path and its content after a change.

        None for another file.
        """
        beside = databases.base_of(str(path))
        base = path if beside is None else Path(beside)
        data = bytes_of(self.recording, self.state(base, number))
        if not databases.is_database(data):
            return None
        log = self.state(Path(f"{base}{databases.LOG}"), number)
        return base, databases.content(data, bytes_of(self.recording, log))

    def _calls_around(self, number: int) -> Iterator[int]:
        """Yield a call, and the calls around it."""
        call = self.log.calls.get(number)
        while call is not None:
            yield call.number
            above = call.within
            call = self.log.calls.get(above) if above is not None and above < call.number else None


def apart(recording: RecordedRun) -> bool:
    """Return True if no process of a run changed a file that another one used.

    When a tool reaches a file is not recorded between processes: one that runs again might come too early.
    """
    used: list[set[Path]] = []
    changed: list[set[Path]] = []
    for log in recording.logs:
        found = list(changes(log))
        used.append(
            {path for change in found for path, state in change.states.items() if state.kind != "folder"}
        )
        changed.append({path for change in found if change.how != "first" for path in change.states})
    return not any(used[a] & changed[b] for a in range(len(used)) for b in range(len(used)) if a != b)
