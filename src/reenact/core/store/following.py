"""Read a recording while it is written: each read takes only the lines added since the last."""

from __future__ import annotations

import os
from pathlib import Path

from reenact.core.dataclass import dataclass
from reenact.core.model.event import Event
from reenact.core.model.log import Log
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store import shared
from reenact.core.store.lines import Reader
from reenact.core.store.local import EVENTS
from reenact.core.store.reading import Blobs, labels_of
from reenact.core.store.shared import process_files
from reenact.errors import NotARecording

_BLOCK = 1 << 24

Changed = set[tuple[int, int]]
"""Calls, each by the `id` of its log and its number there; 0 stands for any other event."""


class Rewritten(Exception):
    """The files are no longer the ones that were read: read them again."""


@dataclass(slots=True)
class _File:
    """One process's events: the read position and the log so far."""

    path: Path
    log: Log
    reader: Reader
    offset: int = 0
    lines: int = 0
    header: bytes = b""
    rest: bytes = b""
    unended: bool = False
    """The last line has been taken, and its newline has not been read."""
    inode: int = 0


class Following:
    """One recording's folder, read as it grows.

    Args:
        folder: The recording's folder; its `events.jsonl` is there.

    Raises:
        RecordingError: It is no recording, comes from a later version, or is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, _File] = {}
        self.read()
        first = self._files.get(EVENTS)
        if first is None or not first.log.opened:
            raise NotARecording(
                f"{folder} is no recording: its {EVENTS} has no header; `reenact list` shows recordings"
            )
        self.recording = RecordedRun(
            str(first.log.opened.get("id") or folder.name), self._logs(), str(folder), self._torn()
        )
        self.recording.labels = labels_of(folder, [])

    @property
    def size(self) -> int:
        """The number of bytes read."""
        return sum(file.offset for file in self._files.values())

    def read(self) -> Changed:
        """Read the added lines; return the calls that are new or have changed.

        Raises:
            Rewritten: The bytes read before are gone; make a new object.
            RecordingError: The added lines are damaged.
        """
        changed: Changed = set()
        for name in process_files(path.name for path in self.folder.iterdir()):
            file = self._files.get(name)
            if file is None:
                path = self.folder / name
                file = self._files[name] = _File(
                    path, Log((), Blobs(self.folder)), Reader(str(path), self._id())
                )
            self._read(name, file, changed)
        if hasattr(self, "recording") and (changed or len(self.recording.logs) != len(self._files)):
            self.recording.logs[:] = self._logs()
            self.recording.torn = self._torn()
        if hasattr(self, "recording"):
            self.recording.labels = labels_of(self.folder, [])
        return changed

    def files(self) -> list[tuple[str, Log, int]]:
        """Return each process's file: its name, its events, and the number of lines read."""
        return [
            (name, self._files[name].log, self._files[name].lines)
            for name in process_files(list(self._files))
        ]

    def sealed(self) -> bool:
        """Return True if the run has ended with a seal."""
        return self._files[EVENTS].log.sealed is not None

    def _logs(self) -> list[Log]:
        return [self._files[name].log for name in process_files(list(self._files))]

    def _id(self) -> str:
        first = self._files.get(EVENTS)
        return str(first.log.opened.get("id") or "") if first is not None else ""

    def _torn(self) -> tuple[str, ...]:
        return tuple(
            f"the last line was torn ({len(file.rest)} bytes) and is left out"
            for file in self._files.values()
            if file.rest
        )

    def _read(self, name: str, file: _File, changed: Changed) -> None:
        try:
            with shared.opened(file.path) as source:
                state = os.fstat(source.fileno())
                if (file.inode and state.st_ino != file.inode) or state.st_size < file.offset:
                    raise Rewritten
                file.inode = state.st_ino
                source.seek(file.offset)
                while block := source.read(_BLOCK):
                    if file.unended:
                        file.unended = False
                        file.offset += 1
                        block = block[1:]
                    self._take(name, file, block, changed)
                last = self._filled(name, file, file.rest) if file.header else file.rest
                if last.endswith(b"}") and file.reader.fits(last):
                    # A file that ends without a newline: only a newline can follow.
                    self._take(name, file, b"\n", changed)
                    file.offset -= 1
                    file.unended = True
        except FileNotFoundError:
            raise Rewritten from None

    def _take(self, name: str, file: _File, block: bytes, changed: Changed) -> None:
        data = file.rest + block
        file.offset += len(block)
        whole, newline, file.rest = data.rpartition(b"\n")
        if not newline:
            return
        for line in self._filled(name, file, whole).split(b"\n"):
            file.lines += 1
            event = file.reader.take(line)
            if event is None:
                continue
            file.log.take(event)
            number = _call(event)
            if number is not None:
                changed.add((id(file.log), number))
            elif event.event in ("opened", "sealed", "noted", "snapshot"):
                changed.add((id(file.log), 0))

    def _filled(self, name: str, file: _File, lines: bytes) -> bytes:
        """Return the lines, with those that a fork shares with its parent put in."""
        if name != EVENTS:
            return lines
        if not file.header:
            file.header = lines.partition(b"\n")[0]
            return shared.whole(lines, self.folder)
        filled = shared.whole(file.header + b"\n" + lines, self.folder)
        return filled[len(file.header) + 1 :]


def _call(event: Event) -> int | None:
    number = event.data.get("call") if event.event != "snapshot" else None
    return number if isinstance(number, int) else None
