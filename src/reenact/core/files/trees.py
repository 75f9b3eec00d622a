"""The files of a recording: as they were before the run, after a step, and at the end.

Paths are absolute. A path whose first event is no `first` did not exist before the run.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from reenact.core.dataclass import dataclass
from reenact.core.files.states import LONGEST, NOTHING, FileState
from reenact.core.model.event import Tree
from reenact.core.model.log import Log, Received
from reenact.errors import CorruptRecording, TooLarge

if TYPE_CHECKING:
    from reenact.core.query.recorded_run import RecordedRun

How: TypeAlias = Literal["first", "change", "outside", "command", "end"]

HOW = ("first", "change", "outside", "command", "end")
"""The occasions of an event of files.

`first`: as it was when the run first used it. `change`: the program has changed it. `outside`: something else has
changed it since. `command`: a command has changed it. `end`: changed after the last step.
"""

UNKNOWN = -1
"""Stands for an unknown call: the change was made through a file that was held open."""

PATHS = 1_000_000
"""The maximum number of paths of a recording."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """The states of some paths as they were seen at one place of a run.

    Attributes:
        call: The number of the call during or after which they were seen; None: before the first.
        began: The number of calls of the process that had begun.
        root: The folder that the paths are under.
        states: The states by absolute path.
        t: Seconds since the recording began.
        received: The chunk or end of a wait that the program had received last, if no call began since; None for what
            was seen at a command's end.
        single: True for a folder of which only the files that the program itself changes are recorded.
        since: The time by which the paths, or their absence, had been seen before they changed; None: `t`.
        within: The call whose code made them; None: the program outside of calls; or `UNKNOWN`. Of a `first`, the one
            whose code is about to change the paths; `UNKNOWN`: it reads them.
    """

    how: How
    call: int | None
    began: int
    root: Path
    states: Mapping[Path, FileState]
    t: float
    within: int | None = UNKNOWN
    single: bool = False
    received: Received | None = None
    since: float | None = None

    @property
    def first_seen(self) -> float:
        """The time by which the states before this change had been seen."""
        return self.t if self.since is None else self.since

    @property
    def own(self) -> bool:
        """True if the program or a command of it has made the states, or is about to change them."""
        return self.within != UNKNOWN if self.how == "first" else self.how != "outside"


def changes(log: Log) -> Iterator[FileChange]:
    """Yield the events of files of one process, in order. Raises CorruptRecording."""
    for began, received, data in log.files:
        root = _root(data["root"])
        states = {
            root / _relative(name): FileState.from_tree(tree, f"the file {name!r}")
            for name, tree in data["states"].items()
        }
        how = data["how"]
        if how not in HOW:
            raise CorruptRecording(f"files are recorded as {how!r}; known are {', '.join(HOW)}")
        yield FileChange(
            how,
            data["call"],
            began,
            root,
            states,
            float(data["t"]),
            data.get("within", UNKNOWN),
            data.get("single", False),
            received,
            data.get("since"),
        )


def has_files(recording: RecordedRun) -> bool:
    """Return True if files were recorded."""
    return any(log.files for log in recording.logs)


def roots(recording: RecordedRun) -> tuple[Path, ...]:
    """Return the folders in which the run used files, in the order of their first use."""
    return tuple(dict.fromkeys(_root(data["root"]) for log in recording.logs for _, _, data in log.files))


def whole_roots(recording: RecordedRun) -> tuple[Path, ...]:
    """Return the folders whose files were all recorded, so far as the run used them."""
    return tuple(
        dict.fromkeys(
            _root(data["root"])
            for log in recording.logs
            for _, _, data in log.files
            if not data.get("single")
        )
    )


def singles(recording: RecordedRun) -> frozenset[Path]:
    """Return the recorded paths outside of these folders. Raises CorruptRecording."""
    return frozenset(
        path for log in recording.logs for change in changes(log) if change.single for path in change.states
    )


def first_states(recording: RecordedRun, until: float = inf) -> dict[Path, FileState]:
    """Return each path as it was before the run used it.

    Of a folder that was listed, `names` are the names at that time. Raises CorruptRecording.

    Args:
        recording: The recording.
        until: The time, in seconds since it began, of the last use that counts.
    """
    found: dict[Path, FileState] = {}
    seen_by: dict[Path, Log] = {}
    looks = _with_logs(recording)
    if len(recording.logs) > 1:
        # Each process sees a path before it changes it, so the earliest look was at the state before the run.
        looks.sort(key=lambda item: _offset(item[1]) + item[0].first_seen)
    for change, log in looks:
        if _offset(log) + change.t > until:
            continue
        for path, seen in change.states.items():
            state = replace(seen, names=_names_before(path, seen, found)) if seen.names else seen
            if path not in found:
                found[path], seen_by[path] = state if change.how == "first" else NOTHING, log
                _limit(found)
            elif change.how == "first" and (seen_by[path] is log or _is_same(found[path], state)):
                # Another process may have changed the path since: merge only equal states.
                found[path] = merged(found[path], state)
    return found


def _is_same(known: FileState, seen: FileState) -> bool:
    """Return True if two processes have seen the same state of a path."""
    if known.kind != seen.kind:
        return False
    if known.kind == "file":
        return (known.mode, known.size, known.mtime) == (seen.mode, seen.size, seen.mtime)
    return known.target == seen.target


def _names_before(path: Path, seen: FileState, found: Mapping[Path, FileState]) -> tuple[str, ...]:
    """Return the names of a listed folder without those that the run had made by then."""
    return tuple(name for name in seen.names or () if found.get(path / name.removesuffix("/")) != NOTHING)


def states_at(recording: RecordedRun, step: int) -> dict[Path, FileState]:
    """Return each path as it was after a step: when the next effect of its process began.

    A path that the run used only later is as it was found then. In a run of several processes, changes of the others up
    to the time of the step count. Raises StepNotFound, CorruptRecording.
    """
    at = recording.step(step)
    began = _began_at(at.log, at.call.number)
    outcome = at.call.outcome
    time = _offset(at.log) + (float(outcome["t"]) if outcome is not None else at.call.began)
    found = first_states(recording)
    for change, log in _with_logs(recording):
        if change.began <= began if log is at.log else _offset(log) + change.t <= time:
            _apply(found, change)
    return found


def states_until(recording: RecordedRun, time: float) -> dict[Path, FileState]:
    """Return each path as it was at a time, in seconds since the recording began.

    Raises CorruptRecording.
    """
    found = first_states(recording)
    for change, log in _with_logs(recording):
        if _offset(log) + change.t <= time:
            _apply(found, change)
    return found


def final_states(recording: RecordedRun) -> dict[Path, FileState]:
    """Return each path as it was at the end of the run. Raises CorruptRecording."""
    found = first_states(recording)
    for change in _ordered(recording):
        _apply(found, change)
    return found


def writers(recording: RecordedRun) -> dict[Path, list[str]]:
    """Return the processes that changed each path, the one that changed it last at the end."""
    found: dict[Path, list[str]] = {}
    for change, log in _with_logs(recording):
        for path in change.states if change.how != "first" else ():
            processes = found.setdefault(path, [])
            if log.process in processes:
                processes.remove(log.process)
            processes.append(log.process)
    return found


def shared(recording: RecordedRun) -> frozenset[Path]:
    """Return the paths that several processes changed, or were about to change at their end."""
    found: dict[Path, str] = {}
    several: set[Path] = set()
    for log in recording.logs:
        for change in changes(log):
            if change.own:
                several.update(
                    path for path in change.states if found.setdefault(path, log.process) != log.process
                )
    return frozenset(several)


def changed_states(recording: RecordedRun, step: int) -> dict[Path, tuple[FileState, FileState]]:
    """Return the paths that a step changed, as before and after it.

    Raises StepNotFound, CorruptRecording.
    """
    before = states_at(recording, step - 1) if step > 1 else _before_steps(recording)
    after = states_at(recording, step)
    return differences(before, after)


def differences(
    before: Mapping[Path, FileState], after: Mapping[Path, FileState]
) -> dict[Path, tuple[FileState, FileState]]:
    """Return the paths whose state differs, sorted, each as before and after."""
    found = {}
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path, NOTHING), after.get(path, NOTHING)
        if old.timeless() != new.timeless():
            found[path] = old, new
    return found


def merged(known: FileState, seen: FileState) -> FileState:
    """Join two findings of the same state: the second may have the bytes, or the names."""
    names = seen.names if seen.names is not None else known.names
    better = seen if seen.kind != "file" or not known.blob else known
    if known.why and seen.why == "listed":
        better = known
    return replace(better, names=names if better.kind == "folder" else None)


def _before_steps(recording: RecordedRun) -> dict[Path, FileState]:
    found = first_states(recording)
    for change in _ordered(recording):
        if change.began == 0:
            _apply(found, change)
    return found


def _apply(found: dict[Path, FileState], change: FileChange) -> None:
    if change.how == "first":
        return
    found.update(change.states)
    _limit(found)


def _limit(found: Mapping[Path, FileState]) -> None:
    if len(found) > PATHS:
        raise TooLarge(f"the recording names more than {PATHS} files")


def _began_at(log: Log, number: int) -> int:
    """Return the number of calls begun when the next one after this call's outcome began."""
    call = log.calls[number]
    if call.order is None:
        return sum(1 for each in log.calls if each <= number)
    order = call.order
    return sum(1 for each in log.calls.values() if each.place <= order)


def _ordered(recording: RecordedRun) -> Iterator[FileChange]:
    return (change for change, _ in _with_logs(recording))


def _with_logs(recording: RecordedRun) -> list[tuple[FileChange, Log]]:
    found = [(change, log) for log in recording.logs for change in changes(log)]
    if len(recording.logs) > 1:
        found.sort(key=lambda item: _offset(item[1]) + item[0].t)
    return found


def _offset(log: Log) -> float:
    return float(log.opened.get("offset", 0.0))


def _root(text: Tree) -> Path:
    if not text.startswith("/") or len(text) > LONGEST or "\0" in text or posixpath.normpath(text) != text:
        raise CorruptRecording(f"the files' folder {text[:80]!r} is no absolute path")
    return Path(text)


def _relative(name: str) -> str:
    """Return a path within its root. Raises CorruptRecording if it leads out of it."""
    plain = len(name) <= LONGEST and "\0" not in name and not name.startswith("/")
    if not plain or (name != "." and any(part in ("", ".", "..") for part in name.split("/"))):
        raise CorruptRecording(f"the file {name[:80]!r} does not lie within its folder")
    return name
