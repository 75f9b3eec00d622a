"""What a store is to the rest of Reenact, wherever it keeps things. `reenact.testing` has a suite for each of these.

    Library     which recordings there are, and what each says of itself on one line
    Store       the recordings themselves, read
    Intake      the same, written piece by piece as they come from elsewhere
    BlobStore   large values by their hash, where they do not lie beside the recording

The embedded store is a folder: `LocalStore`, `Index`, `LocalIntake`. The team's (`store.team`) is a Postgres and an
object store.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from reenact.core.query.filter import Filter
    from reenact.core.query.recording import Recording
    from reenact.core.query.summary import Summary
    from reenact.core.store.index import Hit, Progress

ID = re.compile(r"[\w-]{1,64}", re.ASCII)
"""What a recording may be called."""

FILE = re.compile(r"events(\.[\w-]{1,64})?\.jsonl|session\.[\w-]{1,64}\.jsonl", re.ASCII)
"""What a file of lines may be called."""

BLOB = re.compile(r"sha256:([0-9a-f]{64})")
"""A blob's address."""

LARGEST = 64 << 20
"""Bytes of a blob at most."""

Status = Literal["ok", "gap", "differs", "refused", "large", "full", "gone"]
"""What became of a piece: `large` is more than is ever taken of one recording, `full` what there is no room for now,
`gone` belongs to a recording that was deleted and is not taken again."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes of a recording.

    Attributes:
        recording: The recording's id.
        name: The file's name, or `sha256:…`.
        offset: Where in the file they begin.
        data: The bytes.
    """

    recording: str
    name: str
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a piece.

    Attributes:
        status: `ok`: it is there, and on the disk; `gap`: the file is not as long as that yet; `differs`: other bytes
            are there; `refused`: for another reason.
        length: How long the file is.
        detail: Why it is not ok.
    """

    status: Status
    length: int = 0
    detail: str = ""


class Store(Protocol):
    """Recordings, read."""

    def ids(self) -> list[str]:
        """The ids of all recordings, newest first."""

    def find(self, ref: str | os.PathLike[str], /) -> Path:
        """The folder or file that is meant: an id, an unambiguous prefix of one, `last`, or a path.

        Raises RecordingNotFound, AmbiguousRecording or NotARecording; the text says what to try.
        """

    def load(self, ref: str | os.PathLike[str], /) -> Recording:
        """Read one. Raises RecordingError."""

    def remove(self, ref: str | os.PathLike[str], /) -> str:
        """Delete one and its blobs; returns its id. Raises RecordingError."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Some recordings, as a list shows them.

    Attributes:
        hits: Those that are shown, those first that began last.
        matching: How many would be shown without a limit; None for more than these, uncounted.
        ids: Ids, among which theirs are told apart by as much of them as among all that there are.
    """

    hits: Sequence[Hit]
    matching: int | None
    ids: Sequence[str]


class Library(Protocol):
    """What there is, without opening any of it."""

    store: Any
    """The recordings: a Store that says what it is called (`place`)."""

    def summaries(self, progress: Progress | None = None) -> list[Summary]:
        """All recordings, those first that began last."""

    def search(
        self, wanted: Filter, *, limit: int | None = None, progress: Progress | None = None
    ) -> Iterator[Hit]:
        """The recordings that a filter means, those first that began last."""

    def listed(
        self,
        wanted: Filter,
        *,
        status: str = "",
        tags: Sequence[str] = (),
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> Listed:
        """The same as a list shows them, with that status and these tags; of an empty filter also the broken ones."""

    def count(self) -> int:
        """How many recordings there are."""

    def kinds(self) -> set[str]:
        """The kinds of effects that there are."""

    def folder_of(self, line: Summary) -> Path:
        """Where a recording lies that is to be read. Raises RecordingError."""

    def close(self) -> None:
        """End what it holds open. Harmless when closed."""


class Intake(Protocol):
    """Recordings, written as they come from elsewhere. Any thread may call it."""

    def lengths(self, ids: Iterable[str]) -> dict[str, dict[str, int]]:
        """How long each file of these recordings is. One that is not there has none."""

    def has(self, id: str, address: str) -> bool:
        """Whether a recording's blob is there."""

    def take(self, pieces: Sequence[Piece]) -> list[Taken]:
        """Append them. When this returns, what it calls ok outlives the power; what is there already is ok, too."""

    def heard(self, ids: Iterable[str]) -> None:
        """These are being written, far away."""

    def close(self) -> None:
        """End what it does in the background."""


class BlobStore(Protocol):
    """Bytes by their sha256. Any thread may call it."""

    def has(self, address: str) -> bool:
        """Whether they are there."""

    def put(self, data: bytes) -> str:
        """Keep them; returns their address, `sha256:…`. Twice the same is once."""

    def get(self, address: str) -> bytes:
        """They, and no others. Raises CorruptRecording where they are missing or have another hash."""

    def remove(self, address: str) -> None:
        """Forget them; harmless where they are not there."""

    def url(self, address: str, seconds: int) -> str | None:
        """Where anybody may fetch them for so many seconds, or None where the store hands them to nobody itself."""
