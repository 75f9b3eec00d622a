"""Compare the files that a command finds with those that it found when it was recorded.

A replay answers a command without starting it. The recorded answer is valid only for the files of the recorded run. At
the end of the run it is too late to compare them: a file may have changed, or be gone.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_right
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path

from reenact.core.files import databases
from reenact.core.files.states import NOTHING, FileState
from reenact.core.files.trees import UNKNOWN, changes, first_states
from reenact.core.model.log import CallRecord, Log
from reenact.core.record.given_folders import temporary_folder
from reenact.core.record.places import SKIPPED
from reenact.core.replay.departures import HINT
from reenact.core.replay.replayer import Replayer
from reenact.errors import Departure, Divergence
from reenact.run.files.comparison import drawn_alike
from reenact.run.files.disk import Laid
from reenact.run.files.final import NUMBERED, FinalFiles
from reenact.run.files.recorded_changes import OUTER, RecordedChanges
from reenact.run.files.uses import ReplayedUses
from reenact.run.reports import logs

_ANSWERED = OUTER | {"process"}
"""Kinds of calls whose answer brings no changes of the program's own code."""


class CommandFiles:
    """Compares the program's files each time that a recorded command is started, or gets input.

    Args:
        recorded: The changes of the process's part of the recording.
        laid: The files that were laid for this run.
        replayer: The replay.
        uses: The paths that this run has changed.
    """

    def __init__(
        self, recorded: RecordedChanges, *, laid: Laid, replayer: Replayer, uses: ReplayedUses
    ) -> None:
        self._recording, self._log, self._recorded = recorded.recording, recorded.log, recorded
        self._laid, self._replayer, self._uses = laid, replayer, uses
        self._lock = threading.Lock()
        self._compared = 0
        """The number of the recorded changes that have been compared."""
        self._until = 0.0
        """The time in the recording until which those of other processes have been compared."""

    def differing(self, number: int, unkept: Collection[Path]) -> Divergence | None:
        """Return the first difference that a command finds; None without one.

        Call it while the process sees the program's files.

        Args:
            number: The recorded call.
            unkept: Paths whose recorded changes could not be made.
        """
        call = self._log.calls[number]
        with self._lock:
            end = bisect_right(self._begun, self._positions[number])
            changed = self._recorded.all[self._compared : end]
            self._compared = max(self._compared, end)
            others = self._changed_by_others(call)
            fresh = {self._laid.recorded(Path(name)) for name in self._uses.recent()}
        paths = fresh.union(others, *(change.states for change in changed)).difference(unkept)
        for path in sorted(path for path in paths if not self._is_left_out(path)):
            if path in self._foreign:
                found = self._look_at_other(path, call) if path in others else None
            else:
                found = self._look(path, end, call, fresh=path in fresh)
            if found is not None:
                return found
        return None

    def _changed_by_others(self, call: CallRecord) -> set[Path]:
        """Return the paths that other processes, which have ended, have changed since then."""
        now = self._offset(self._log) + call.began
        found = {
            path
            for path, made in self._foreign.items()
            if all(ended < now for _, _, ended in made) and any(self._until <= time for time, _, _ in made)
        }
        self._until = max(self._until, now)
        return found

    def _look_at_other(self, path: Path, call: CallRecord) -> Divergence | None:
        """Compare a path that other processes have changed: it is in one of the recorded states."""
        numbers = self._recorded.numbers(path)
        states = [
            *(state for _, state, _ in self._foreign[path]),
            *(self._recorded.all[number].states[path] for number in numbers),
            self._first.get(path, NOTHING),
        ]
        if any(self._files.same(path, state) for state in states) or self._files.begins_like(path, states):
            return None
        detail = f"another process has left {path} to this command in another state than recorded"
        return self._at(path, call, detail, states[0])

    def _look(self, path: Path, end: int, call: CallRecord, *, fresh: bool) -> Divergence | None:
        numbers = self._recorded.numbers(path)
        behind = bisect_right(numbers, end - 1)
        last = numbers[behind - 1] if behind else None
        if last is not None and not self._is_settled(last, call, fresh=fresh):
            return None
        if last is None and path not in self._first:
            return self._made(path, call)
        states = [self._recorded.all[last].states[path] if last is not None else self._first[path]]
        states += self._later(path, numbers[behind:], call)
        files = self._files
        if any(files.same(path, state) for state in states):
            named, told = NUMBERED.format(path), self._replayer.uncompared
            if path in files.numbered and named not in told:
                told.append(named)
            return None
        if self._uses.shared(str(self._laid.here(path))) and files.begins_like(path, states):
            # Another thread is writing it.
            return None
        if not all(self._recorded.is_of_thread(number, call) for number in numbers):
            # The other thread's progress is not recorded.
            states = [*(self._recorded.all[number].states[path] for number in numbers)]
            states.append(self._first.get(path, NOTHING))
            if any(files.same(path, state) for state in states) or files.begins_like(path, states):
                return None
        detail = f"the program has left {path} to this command in another state than recorded"
        return self._at(path, call, detail, states[0])

    def _made(self, path: Path, call: CallRecord) -> Divergence | None:
        """Return the divergence of a path that is not in the recording."""
        here = str(self._laid.here(path))
        if not self._uses.by_program(here) or not self._uses.is_changed(here):
            return None
        return self._at(
            path, call, f"the program has changed {path}, which the recorded run did not use", None
        )

    def _at(self, path: Path, call: CallRecord, detail: str, state: FileState | None) -> Divergence:
        shown = () if state is None else tuple(self._files.differing(path, state))
        place = f"main/file:{path}"
        return Divergence(
            Departure.CHANGED,
            place,
            self._replayer.step_of(call.number),
            shown,
            f"{detail} ({call.label})",
            HINT,
        )

    def _is_settled(self, number: int, call: CallRecord, *, fresh: bool) -> bool:
        """Return True if this run has made a change by now, too."""
        change = self._recorded.all[number]
        own = change.how in ("change", "end") and (
            change.within != UNKNOWN or not self._recorded.by_others(number)
        )
        if not own and not (fresh and number not in self._recorded.due):
            return False
        # The changes of an answered call are applied with its answer.
        others = (self._log.calls[each] for each in [*self._replayer.answering] if each != call.number)
        return not any(other.kind not in _ANSWERED and other.began <= change.t for other in others)

    def _later(self, path: Path, numbers: Collection[int], call: CallRecord) -> Iterator[FileState]:
        """Yield the states that were seen while the command ran, and the next: other threads go on."""
        until = float(call.outcome["t"]) if call.outcome is not None else float("inf")
        for number in numbers:
            change = self._recorded.all[number]
            if change.how in ("change", "end"):
                yield change.states[path]
            if change.t > until:
                return

    def _is_left_out(self, path: Path) -> bool:
        """Return True for caches, for databases, which are compared at the end, and for log files."""
        if not SKIPPED.isdisjoint(path.parts) or databases.base_of(str(path)) is not None:
            return True
        here = str(self._laid.here(path))
        if self._is_drawn_anew(path, here):
            return True
        if any(here == log or here.startswith(f"{log}.") for log in logs()):
            return True
        return any(
            databases.is_database(self._files.bytes_of(self._recorded.all[number].states[path]))
            for number in self._recorded.numbers(path)[-1:]
        )

    def _is_drawn_anew(self, path: Path, here: str) -> bool:
        """Return True for a temporary file to which a library has given another name here."""
        temporary, there = Path(os.path.realpath(temporary_folder())), os.path.lexists(here)
        if temporary not in path.parents or (there and path in self._first):
            return False
        recorded = {each.relative_to(temporary).parts[0] for each in self._first if temporary in each.parents}
        others = recorded if there else self._uses.names_in(temporary)
        name = path.relative_to(temporary).parts[0]
        return any(drawn_alike(name, other) for other in others)

    @cached_property
    def _files(self) -> FinalFiles:
        clean, process = self._replayer.terms.raw, self._log.opened.get("pid")
        return FinalFiles(self._recording, self._laid.here, clean, process=process)

    @cached_property
    def _first(self) -> dict[Path, FileState]:
        return first_states(self._recording)

    @cached_property
    def _begun(self) -> list[int]:
        return [change.began for change in self._recorded.all]

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {number: position for position, number in enumerate(self._log.calls)}

    @cached_property
    def _foreign(self) -> dict[Path, list[tuple[float, FileState, float]]]:
        """Return the paths that others have changed, each with time, state, and the process's end."""
        found: dict[Path, list[tuple[float, FileState, float]]] = {}
        for log in self._recording.logs:
            ended = self._offset(log) + float(log.sealed["t"]) if log.sealed is not None else float("inf")
            for change in changes(log) if log is not self._log else ():
                for path, state in change.states.items() if change.how != "first" else ():
                    found.setdefault(path, []).append((self._offset(log) + change.t, state, ended))
        return found

    @staticmethod
    def _offset(log: Log) -> float:
        return float(log.opened.get("offset", 0.0))
