"""What a browser session left beside the effects: its frames, tabs, requests, console and marks of its actions.

One file a session, `session.<n>.jsonl` in the recording's folder, by the recording's clock; `docs/format.md` lists
its lines. A video, a page to watch and an explanation are made from it at any time, also while it is still written:
it is read line by line, and pictures one at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from reenact.errors import RecordingError
from reenact.store import shared

FORMAT = 1
"""The number of the format of a session's file."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: its kind, when it was (seconds since the recording began), and its members."""

    event: str
    t: float
    data: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.data.get(name)


@dataclass(frozen=True, slots=True)
class Footage:
    """One session's file in a recording's folder. Nothing of it is held in memory.

    Attributes:
        path: The file.
        head: Its first line: `id`, `started`, `viewport`, `browser`.
    """

    path: Path
    head: Entry

    @property
    def id(self) -> str:
        """The session's id."""
        return str(self.head["id"])

    def entries(self, *kinds: str) -> Iterator[Entry]:
        """All lines in the order in which they were written (those kinds only); a torn last one is left out.

        Times rise but for frames, which may come up to a second late: sort by `t` what needs it.
        """
        with self.path.open("rb") as file:
            for line in file:
                entry = entry_of(line)
                if entry is not None and (not kinds or entry.event in kinds):
                    yield entry

    def blob(self, address: str) -> bytes:
        """The bytes at an address, `sha256:…`. Raises RecordingError where they are gone."""
        digest = address.removeprefix("sha256:")
        if not shared.DIGEST.fullmatch(digest):
            raise RecordingError(f"{self.path} names a picture or body {address[:80]!r}, which is no address")
        path = self.path.parent / "blobs" / digest[:2] / digest
        try:
            return path.read_bytes()
        except OSError as error:
            raise RecordingError(f"{path}: {error.strerror}; the session's picture or body is lost") from None


def sessions(folder: Path) -> list[Footage]:
    """The sessions of a recording, in the order in which they began."""
    found = []
    for path in sorted(folder.glob("session.*.jsonl"), key=_number):
        with path.open("rb") as file:
            head = entry_of(file.readline())
        if head is not None and head.event == "session":
            found.append(Footage(path, head))
    return found


def _number(path: Path) -> tuple[int, str]:
    word = path.name.split(".")[1]
    return (int(word) if word.isdigit() else 0, word)


def entry_of(line: bytes) -> Entry | None:
    """What a line says, or None where it is torn."""
    try:
        data = orjson.loads(line)
    except ValueError:
        return None
    return Entry(str(data.get("event", "")), float(data.get("t", 0.0)), data)
