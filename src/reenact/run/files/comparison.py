"""Compare the files at the end of a replay with the recorded ones."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path

from reenact.core.files import databases
from reenact.core.files.listing import writable
from reenact.core.files.states import NOTHING, FileState
from reenact.core.files.trees import final_states, first_states
from reenact.core.model.log import Log
from reenact.core.query.recording import Recording
from reenact.core.record.places import TOO_WIDE
from reenact.core.replay.replayer import Replayer
from reenact.errors import Departure, Divergence, Mismatch
from reenact.run.files.disk import Laid, blob, is_state_of
from reenact.run.files.recorded_changes import RecordedChanges
from reenact.run.files.upper import hidden
from reenact.run.files.uses import ReplayedUses

_TEXT = 1 << 16


class FileComparison:
    """Compares what the program sees at its end with the recorded states.

    Args:
        recording: The recording.
        log: The process's part of it.
        recorded: The changes of that part.
        laid: What was laid for this run.
        replayer: Gets the first difference, and what could not be compared.
    """

    def __init__(
        self, recording: Recording, log: Log, recorded: RecordedChanges, laid: Laid, replayer: Replayer
    ) -> None:
        self._recording, self._log, self._recorded = recording, log, recorded
        self._laid, self._replayer = laid, replayer
        self._salt = bytes.fromhex(str(recording.header.get("salt", "")))

    def run(self, uses: ReplayedUses, unkept: AbstractSet[Path]) -> None:
        """Name the first path that differs, and the step that changed it last.

        Args:
            uses: The paths that this run has changed.
            unkept: Paths whose recorded changes could not be made.
        """
        replayer = self._replayer
        last, first = final_states(self._recording), first_states(self._recording)
        found = [
            (self._step(path), path, last.get(path, NOTHING))
            for path in self._touched(first, last)
            if path not in unkept and not self._same(path, last)
        ]
        logs = _logs()
        for each in [each for each in found if self._is_log(each[1], logs)]:
            found.remove(each)
            replayer.uncompared.append(f"the log {each[1]} (its lines have times, and lines of libraries)")
        more = [path for path, new in uses.changed(self._laid.recorded, last) if self._is_kept(path, new)]
        replayer.compared.append("files")
        replayer.uncompared += self._unknown(last)
        if found:
            step, path, state = min(found, key=lambda item: (item[0] or 0, item[1]))
            shown = tuple(self._differing(self._laid.here(path), state))
            self._differs(path, step, shown, "at the end is not the recorded one", len(found) + len(more))
        elif more:
            self._differs(more[0], None, (), "was changed, and the recorded run did not use it", len(more))

    def _differs(
        self, path: Path, step: int | None, shown: tuple[Mismatch, ...], how: str, count: int
    ) -> None:
        rest = f"; {count - 1} more differ" if count > 1 else ""
        place, detail = f"main/file:{path}", f"the file {path} {how}{rest}"
        self._replayer.divergences.append(Divergence(Departure.CHANGED, place, step, shown, detail))

    def _same(self, path: Path, last: Mapping[Path, FileState]) -> bool:
        """Return True if a path is as recorded at the end; of a database, its content."""
        state = last.get(path, NOTHING)
        if is_state_of(self._laid.here(path), state, self._salt):
            return True
        beside = databases.base_of(str(path))
        base = path if beside is None else Path(beside)
        data = self._bytes(last.get(base, NOTHING))
        if not databases.is_database(data):
            return False
        if base != path:
            # A log or journal: it is compared with its database.
            return True
        here = self._laid.here(path)
        if kind_of(here) != "file" or here.stat().st_mode & 0o7777 != state.mode:
            return False
        log = self._bytes(last.get(Path(f"{path}{databases.LOG}"), NOTHING))
        return databases.equal_content(content_of(here), databases.content(data, log))

    def _is_log(self, path: Path, logs: AbstractSet[str]) -> bool:
        """Return True for a file that `logging` writes, or has written and renamed."""
        here = str(self._laid.here(path))
        return any(here == log or here.startswith(f"{log}.") for log in logs)

    def _bytes(self, state: FileState) -> bytes:
        return blob(self._recording, state.blob) if state.kind == "file" and state.blob else b""

    def _is_kept(self, path: Path, new: bool) -> bool:
        """Return True if a recording would have a change of that path."""
        # Among the temporary files, only those are recorded that the program makes.
        temporary = any(str(path.parent) == layer.recorded in TOO_WIDE for layer in self._laid.layers)
        return writable(str(path)) and (new or not temporary)

    def _touched(self, first: Mapping[Path, FileState], last: Mapping[Path, FileState]) -> Iterator[Path]:
        """The paths that the recorded run has changed, or this one."""
        known = {path for path in last if first.get(path) != last[path]}
        known |= {path for change in self._recorded.all for path in change.states if path in last}
        for layer in self._laid.layers:
            for path in _entries(Path(layer.upper)):
                recorded = Path(layer.recorded) / path.relative_to(layer.upper)
                if recorded in last:
                    known.add(recorded)
        yield from sorted(known)

    def _unknown(self, last: Mapping[Path, FileState]) -> list[str]:
        """Name the files of which neither bytes nor a fingerprint are recorded."""
        names = [
            str(path)
            for path, state in last.items()
            if state.kind == "file" and state.why != "listed" and not (state.blob or state.print)
        ]
        return [f"the content of {len(names)} files ({names[0]} …)"] if names else []

    def _step(self, path: Path) -> int | None:
        """Return the step after which a path was last seen to change."""
        calls = [
            change.call for change in self._recorded.all if path in change.states and change.call is not None
        ]
        return self._replayer.step_of(calls[-1]) if calls and calls[-1] in self._log.calls else None

    def _differing(self, path: Path, state: FileState) -> Iterator[Mismatch]:
        """The parts in which a path differs, for a reader."""
        kind = kind_of(path)
        if kind != state.kind:
            yield Mismatch("kind", state.kind, kind)
            return
        mode = path.lstat().st_mode & 0o7777
        if kind in ("file", "folder") and mode != state.mode:
            yield Mismatch("mode", f"{state.mode:o}", f"{mode:o}")
        if kind == "link" and str(path.readlink()) != state.target:
            yield Mismatch("target", state.target, str(path.readlink()))
        if kind != "file":
            return
        size = path.stat().st_size
        if state.blob and max(size, state.size) <= _TEXT:
            with suppress(OSError, UnicodeDecodeError):
                old = blob(self._recording, state.blob).decode().split("\n")
                new = path.read_bytes().decode().split("\n")
                for number, (one, two) in enumerate(zip(old, new, strict=False), 1):
                    if one != two:
                        yield Mismatch(f"line {number}", one, two)
                        return
        if size != state.size:
            yield Mismatch("size", state.size, size)
        elif mode == state.mode:
            yield Mismatch("content", "other bytes", "of the same size")


def _entries(folder: Path) -> Iterator[Path]:
    """The files, links and marks in a changed layer."""
    for path, folders, files in os.walk(folder):
        yield from (Path(path, name) for name in files)
        yield from (Path(path, name) for name in folders if Path(path, name).is_symlink())


def _logs() -> set[str]:
    """Return the paths of the log files of the module `logging`."""
    known = sys.modules.get("logging")
    handlers = [reference() for reference in getattr(known, "_handlerList", ())]
    names = [getattr(handler, "baseFilename", None) for handler in handlers]
    return {os.path.realpath(name) for name in names if isinstance(name, str)}


def content_of(path: Path) -> bytes:
    """Return the content of a database, with that of its log."""
    log = Path(f"{path}{databases.LOG}")
    return databases.content(path.read_bytes(), log.read_bytes() if log.is_file() else b"")


def kind_of(path: Path) -> str:
    """Return the kind of a path: `file`, `folder`, `link` or `none`."""
    if path.is_symlink():
        return "link"
    if path.is_dir():
        return "folder"
    return "file" if os.path.lexists(path) and not hidden(path) else "none"
