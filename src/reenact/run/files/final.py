"""The recorded files at the end of a run, compared with the present ones."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path

from reenact.core.files import databases
from reenact.core.files.states import NOTHING, FileState, fingerprint
from reenact.core.files.trees import final_states, shared, writers
from reenact.core.model.header import salt_of
from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import Mismatch
from reenact.run.files.path_state import blob, bytes_of, is_state_of
from reenact.run.files.placing import kind_of

LOG = "the log {} (its lines have times, and lines of libraries)"
CUT = "the file {}: a process that used it was killed when it was recorded"
NUMBERED = "the number of the process in {}"
MIXED = "the order of the lines of {}, to which several processes wrote"
MIXED_ROWS = "the order and the numbers of the rows of {}, to which several processes wrote"

_TEXT = 1 << 16


class FinalFiles:
    """Compares single files with their recorded states at the end.

    Args:
        recording: The recording.
        here: Returns the present file of a recorded path.
        clean: Returns bytes with tokens in place of the recording's secrets.
        process: The recorded number of this process, which has another one now.
    """

    def __init__(
        self,
        recording: RecordedRun,
        here: Callable[[Path], Path],
        clean: Callable[[bytes], bytes] = lambda data: data,
        *,
        process: object = None,
    ) -> None:
        self._recording, self._here, self._clean = recording, here, clean
        self._process = process
        self.numbered: dict[Path, None] = {}
        """The files that are as recorded but for the number of the process."""
        self._salt = salt_of(recording.header)

    @cached_property
    def last(self) -> dict[Path, FileState]:
        """The last state of each path."""
        return final_states(self._recording)

    @cached_property
    def writers(self) -> dict[Path, list[str]]:
        """The processes that changed each path, in the order of their last changes."""
        return writers(self._recording)

    @cached_property
    def _shared(self) -> frozenset[Path]:
        return shared(self._recording)

    def same(self, path: Path, state: FileState | None = None) -> bool:
        """Return True if a path is in a state, by default the last one; of a database, its content."""
        state, here = self.last.get(path, NOTHING) if state is None else state, self._here(path)
        if is_state_of(here, state, self._salt):
            return True
        if state.masked:
            return self._same_but_secrets(here, state)
        if self._same_but_number(here, state):
            self.numbered[path] = None
            return True
        beside = databases.base_of(str(path))
        base = path if beside is None else Path(beside)
        data = self.bytes_of(self.last.get(base, NOTHING))
        if not databases.is_database(data):
            return False
        if base != path:
            # A log or journal: it is compared with its database.
            return True
        if kind_of(here) != "file" or here.stat().st_mode & 0o7777 != state.mode:
            return False
        log = Path(f"{path}{databases.LOG}")
        recorded = databases.content(data, self.bytes_of(self.last.get(log, NOTHING)))
        return databases.equal_content(content_of(here, self._here(log)), recorded)

    def _same_but_secrets(self, here: Path, state: FileState) -> bool:
        """Return True if a file with secrets is as recorded, whether it has them or their tokens."""
        if kind_of(here) != "file" or here.stat().st_mode & 0o7777 != state.mode:
            return False
        return fingerprint(self._clean(here.read_bytes()), self._salt) == state.masked

    def _same_but_number(self, here: Path, state: FileState) -> bool:
        """Return True if a short file is as recorded, with another number of this process."""
        if kind_of(here) != "file" or not state.blob or here.stat().st_mode & 0o7777 != state.mode:
            return False
        if not isinstance(self._process, int) or max(state.size or 0, here.stat().st_size) > _TEXT:
            return False
        number = rb"(?<!\d)%d(?!\d)" % self._process
        return re.sub(number, b"%d" % os.getpid(), self.bytes_of(state)) == here.read_bytes()

    def mixed(self, path: Path) -> bool:
        """Return True if several processes wrote to a file, and only the order of its lines differs."""
        state, here = self.last.get(path, NOTHING), self._here(path)
        if path not in self._shared or not state.blob or kind_of(here) != "file":
            return False
        if here.stat().st_size != state.size or here.stat().st_mode & 0o7777 != state.mode:
            return False
        return sorted(here.read_bytes().split(b"\n")) == sorted(self.bytes_of(state).split(b"\n"))

    def mixed_rows(self, path: Path) -> bool:
        """Return True for a database of several processes of which only the order of rows differs."""
        state, here = self.last.get(path, NOTHING), self._here(path)
        data = self.bytes_of(state)
        if path not in self._shared or not databases.is_database(data) or kind_of(here) != "file":
            return False
        log = Path(f"{path}{databases.LOG}")
        recorded = databases.content(data, self.bytes_of(self.last.get(log, NOTHING)))
        return databases.equal_rows(content_of(here, self._here(log)), recorded)

    def differing(self, path: Path, state: FileState | None = None) -> Iterator[Mismatch]:
        """Yield the differences of a path from a state, by default the last one, for people."""
        state, here = self.last.get(path, NOTHING) if state is None else state, self._here(path)
        kind = kind_of(here)
        if kind != state.kind:
            yield Mismatch("kind", state.kind, kind)
            return
        mode = here.lstat().st_mode & 0o7777
        if kind in ("file", "folder") and mode != state.mode:
            yield Mismatch("mode", f"{state.mode:o}", f"{mode:o}")
        if kind == "link" and str(here.readlink()) != state.target:
            yield Mismatch("target", state.target, str(here.readlink()))
        if kind != "file":
            return
        size = here.stat().st_size
        if state.blob and max(size, state.size) <= _TEXT:
            with suppress(OSError, UnicodeDecodeError):
                old = state.content(partial(blob, self._recording)).decode().split("\n")
                new = here.read_bytes().decode().split("\n")
                for number, (one, two) in enumerate(zip(old, new, strict=False), 1):
                    if one != two:
                        yield Mismatch(f"line {number}", one, two)
                        return
        if state.masked:
            here_masked = fingerprint(self._clean(here.read_bytes()), self._salt)
            yield Mismatch("fingerprint without secrets", state.masked, here_masked)
        elif size != state.size:
            yield Mismatch("size", state.size, size)
        elif mode == state.mode:
            yield Mismatch("content", "other bytes", "of the same size")

    def begins_like(self, path: Path, states: Iterable[FileState]) -> bool:
        """Return True if a file is the beginning of a recorded one, or continues it."""
        here = self._here(path)
        if kind_of(here) != "file":
            return any(state.kind == "none" for state in states)
        data = here.read_bytes()
        recorded = filter(None, map(self.bytes_of, states))
        return any(data.startswith(each) or each.startswith(data) for each in recorded)

    def bytes_of(self, state: FileState) -> bytes:
        """Return the recorded bytes of a file; none if they are not recorded."""
        return bytes_of(self._recording, state)


def content_of(path: Path, log: Path) -> bytes:
    """Return the content of a database, with that of its log."""
    return databases.content(path.read_bytes(), log.read_bytes() if log.is_file() else b"")
