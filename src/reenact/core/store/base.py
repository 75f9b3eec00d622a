"""The protocols of a store. `reenact.testing` has a conformance suite for each of them.

    Library     the list of recordings, with a summary of each
    Store       the recordings themselves, read
    Intake      the recordings, written piece by piece as they arrive
    BlobStore   large values by their hash, if they are kept apart from the recording

The embedded store is a folder: `LocalStore`, `Index`, `LocalIntake`. The team's (`reenact.team`) is a Postgres and an
object store.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from reenact.core.dataclass import dataclass
from reenact.core.patterns import lazy

if TYPE_CHECKING:
    from reenact.core.query.filter import Filter
    from reenact.core.query.recorded_run import RecordedRun
    from reenact.core.query.summary import Summary

FILE = lazy(r"events(\.[\w-]{1,64})?\.jsonl|(session|labels)\.[\w-]{1,64}\.jsonl", re.ASCII)
"""The pattern of the names of a recording's line files."""

BLOB = lazy(r"sha256:([0-9a-f]{64})")
"""A blob's address."""

NAMED_BLOB = lazy(rb'"sha256:([0-9a-f]{64})"')
"""A blob's address as a text of JSON."""

LARGEST = 64 << 20
"""The maximum number of bytes of a blob."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of done recordings, files or bytes, and the number of all."""

Status = Literal["ok", "gap", "differs", "refused", "large", "full", "gone"]
"""The result of taking a piece.

`large` exceeds the limit of one recording, `full` means no room at present, `gone` belongs to a recording that was
deleted and is not accepted again.
"""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes of a recording.

    Attributes:
        recording: The recording's id.
        name: The file's name, or `sha256:…`.
        offset: Their first byte's place in the file.
        data: The bytes.
    """

    recording: str
    name: str
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class PieceTaken:
    """The result of taking a piece.

    Attributes:
        status: `ok`: the piece is on the disk; `gap`: the file is still shorter than the piece's offset;
            `differs`: other bytes are there; `refused`: for another reason.
        length: The length of the file in bytes.
        detail: The reason if the status is not `ok`.
    """

    status: Status
    length: int = 0
    detail: str = ""

    def why(self, name: str) -> str:
        """Return the reason with the name of its file, once."""
        return self.detail if self.detail.startswith(name) else f"{name}: {self.detail}"


class Damaged(PieceTaken):
    """Refused: the lines do not continue the file as their sums say; the detail names the line."""


class Store(Protocol):
    """Recordings, read."""

    def ids(self) -> list[str]:
        """Return the ids of all recordings, newest first."""

    def find(self, ref: str | os.PathLike[str], /) -> Path:
        """Return the folder or file of an id, a unique prefix, `last`, `last~2`, or a path.

        Raises RecordingNotFound, AmbiguousRecording or NotARecording; the text suggests a remedy.
        """

    def load(self, ref: str | os.PathLike[str], /) -> RecordedRun:
        """Read a recording. Raises RecordingError."""

    def remove(self, ref: str | os.PathLike[str], /) -> str:
        """Delete a recording and its blobs; return its id. Raises RecordingError."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A recording that a filter matches, and the numbers of the steps for which it holds."""

    summary: Summary
    steps: tuple[int, ...] = ()


COLUMNS, FACTS, TEXTS = "columns of steps", "facts of arguments and outputs", "words of texts"
"""The indexes of a search by steps."""


class Looked:
    """The work of a search.

    Attributes:
        index: The index that chose the recordings.
        recordings: The number of recordings that were looked into.
        steps: The number of their steps that were looked into.
    """

    def __init__(self, index: str) -> None:
        self.index = index
        self.recordings = self.steps = 0

    def add(self, recordings: int, steps: int) -> None:
        """Count recordings and steps that are looked into."""
        self.recordings += recordings
        self.steps += steps


@dataclass(frozen=True, slots=True)
class Listed:
    """The recordings that a list shows.

    Attributes:
        hits: The recordings shown, the latest first.
        matching: The number of matches without a limit; None for more than these, uncounted.
        ids: Ids from which to compute short prefixes that are as unique as among all recordings.
        looked: The work of the search, where steps were searched.
    """

    hits: Sequence[Hit]
    matching: int | None
    ids: Sequence[str]
    looked: Looked | None = None


class Library(Protocol):
    """The list of the recordings, without opening any of them."""

    store: Any
    """The recordings: a Store that has a name (`place`)."""

    def summaries(self, progress: Progress | None = None) -> list[Summary]:
        """Return all recordings, newest first."""

    def search(
        self, wanted: Filter, *, limit: int | None = None, progress: Progress | None = None
    ) -> Iterator[Hit]:
        """Yield the recordings that a filter matches, newest first."""

    def listed(
        self,
        wanted: Filter,
        *,
        status: str = "",
        tags: Sequence[str] = (),
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> Listed:
        """Return the matching recordings with that status and these tags.

        An empty filter also returns the broken ones.
        """

    def count(self) -> int:
        """Return the number of recordings."""

    def kinds(self) -> set[str]:
        """Return the kinds of effects in all recordings."""

    def folder_of(self, line: Summary) -> Path:
        """Return the folder of a recording, to read it. Raises RecordingError."""

    def close(self) -> None:
        """Close all that it holds open. Harmless when closed."""


class Intake(Protocol):
    """Recordings, written as they come from elsewhere. Any thread may call it."""

    def lengths(self, ids: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the length of each file of these recordings. A missing recording has no files."""

    def has(self, id: str, address: str) -> bool:
        """Return True if a recording's blob is there."""

    def take(self, pieces: Sequence[Piece]) -> list[PieceTaken]:
        """Append the pieces. On return, each `ok` piece is on the disk, also if it was there before."""

    def heard(self, ids: Iterable[str]) -> None:
        """Note that these recordings are still being written elsewhere."""

    def close(self) -> None:
        """End its background work."""


class BlobStore(Protocol):
    """Bytes by their sha256. Any thread may call it."""

    def has(self, address: str) -> bool:
        """Return True if the bytes are there."""

    def put(self, data: bytes) -> str:
        """Keep bytes; return their address, `sha256:…`. Equal bytes are kept once."""

    def get(self, address: str) -> bytes:
        """Return the bytes of an address. Raises CorruptRecording if they are missing or changed."""

    def remove(self, address: str) -> None:
        """Delete bytes. Harmless if they are missing."""

    def url(self, address: str, seconds: int) -> str | None:
        """Return a URL open to any client for so many seconds, or None if unsupported."""
