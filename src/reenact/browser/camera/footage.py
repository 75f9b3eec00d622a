"""Read a session's file: its frames, tabs, requests, console and action marks.

Each session has one file, `session.<n>.jsonl` in the recording's folder, with times of the recording's clock;
`docs/format.md` lists its lines. Videos, pages and explanations are made from it, also while it is still being
written: it is read line by line, and pictures one at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from reenact.core.model.schema import is_address
from reenact.core.store import shared
from reenact.core.store.lines import SessionReader
from reenact.core.store.reading import whole_blob
from reenact.errors import CorruptRecording, RecordingError


@dataclass(frozen=True, slots=True)
class FootageEntry:
    """One line: its kind, its time (seconds since the recording began), and its members."""

    event: str
    t: float
    data: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.data.get(name)


@dataclass(frozen=True, slots=True)
class Footage:
    """One session's file in a recording's folder. Its content is not held in memory.

    Attributes:
        path: The file.
        head: Its first line: `id`, `started`, `viewport`, `browser`.
    """

    path: Path
    head: FootageEntry

    @property
    def id(self) -> str:
        """The session's id."""
        return str(self.head["id"])

    def entries(self, *kinds: str) -> Iterator[FootageEntry]:
        """Yield all lines (of those kinds) in the order of writing, but for a torn last one.

        Frames may be up to a second late: sort by `t` if needed. Raises RecordingError if a line is damaged.
        """
        reader = FootageReader(self.path)
        with _opened(self.path) as file:
            for line in file:
                entry = reader.take(line)
                if entry is not None and (not kinds or entry.event in kinds):
                    yield entry

    def blob(self, address: str) -> bytes:
        """Return the bytes at an address, `sha256:…`. Raises RecordingError if they are missing."""
        if not is_address(address):
            raise CorruptRecording(
                f"{self.path} names a picture or body {str(address)[:80]!r}, which is no address"
            )
        digest = address.removeprefix("sha256:")
        path = self.path.parent / "blobs" / digest[:2] / digest
        try:
            data = shared.read(path)
        except OSError as error:
            raise RecordingError(f"{path}: {error.strerror}; the session's picture or body is lost") from None
        return whole_blob(data, address, str(path))


def sessions(folder: Path) -> list[Footage]:
    """Return the sessions of a recording, oldest first. Raises RecordingError for a damaged one."""
    found = []
    for path in sorted(folder.glob("session.*.jsonl"), key=_number):
        with _opened(path) as file:
            head = FootageReader(path).take(file.readline())
        if head is not None:
            found.append(Footage(path, head))
    return found


def _opened(path: Path) -> IO[bytes]:
    try:
        return shared.opened(path)
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror}; the session cannot be read") from None


def _number(path: Path) -> tuple[int, str]:
    word = path.name.split(".")[1]
    return (int(word) if word.isdigit() else 0, word)


class FootageReader:
    """Reads a session's file line by line.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._reader = SessionReader(str(path))

    def take(self, line: bytes) -> FootageEntry | None:
        """Parse the next line; return None for a torn last one. Raises RecordingError if damaged."""
        whole = line.removesuffix(b"\n")
        if whole is line and not self._reader.fits(line):
            return None
        event = self._reader.take(whole)
        return None if event is None else FootageEntry(event.event, event.t, event.data)
