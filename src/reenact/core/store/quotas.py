"""The limits of received recordings, and the stored sizes that are compared with them."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from time import monotonic

from reenact.core.dataclass import dataclass
from reenact.core.store.base import LARGEST, PieceTaken
from reenact.core.store.local import LocalStore

_SOON, _LATER = 60.0, 600.0
"""Seconds between counts of a project's use: when it is used up, and otherwise."""


@dataclass(frozen=True, slots=True)
class IntakeLimits:
    """The limits of an intake, in bytes.

    Attributes:
        blob: Of one blob.
        recording: Of one recording, with its blobs.
        project: Of all recordings of a project; 0 for no limit but the disk.
        recordings: The number of recordings of a project; 0 for no limit but the disk.
        free: The space that must stay free on the disk.
    """

    blob: int = LARGEST
    recording: int = 2 << 30
    project: int = 0
    recordings: int = 0
    free: int = 256 << 20


class StoredSizes:
    """The sizes of the recordings, to enforce the limits: counted once, and added up since."""

    def __init__(self, store: LocalStore, limits: IntakeLimits) -> None:
        self.limits = limits
        self._store = store
        self._known: dict[str, int] = {}
        self._all: int | None = None
        self._many = 0
        self._counted = 0.0
        self._full = False

    def look(self) -> None:
        """Read the free space on the disk."""
        with contextlib.suppress(OSError):
            place = next(path for path in (self._store.root, *self._store.root.parents) if path.exists())
            self._full = shutil.disk_usage(place).free < self.limits.free

    def problem(self, id: str, more: int) -> PieceTaken | None:
        """Return the refusal of so many more bytes; None if they fit."""
        if self._full:
            return PieceTaken("full", detail="the server's disk is full")
        if id not in self._known:
            if len(self._known) > 10_000:
                self._known.clear()
            self._known[id] = bytes_of(self._store.folder(id))
        if self._known[id] + more > self.limits.recording:
            return PieceTaken(
                "large", detail=f"a recording may have at most {self.limits.recording} bytes here"
            )
        # An existing recording may grow.
        return self.project_problem(more, recordings=0 if self._known[id] else 1)

    def project_problem(self, more: int, recordings: int) -> PieceTaken | None:
        """Return the refusal of so many more bytes and recordings of the project; None if they fit."""
        if self._full:
            return PieceTaken("full", detail="the server's disk is full")
        if not (self.limits.project or self.limits.recordings):
            return None
        self._count()
        if self.limits.project and (self._all or 0) + more > self.limits.project:
            return PieceTaken(
                "full", detail=f"the project has {self.limits.project} bytes at most, and they are used up"
            )
        if self.limits.recordings and recordings and self._many + recordings > self.limits.recordings:
            return PieceTaken(
                "full", detail=f"the project has {self.limits.recordings} recordings at most, and has them"
            )
        return None

    def room(self) -> int:
        """Return the number of bytes that a new recording may have now."""
        left = self.limits.recording
        with contextlib.suppress(OSError, StopIteration):
            place = next(path for path in (self._store.root, *self._store.root.parents) if path.exists())
            left = min(left, shutil.disk_usage(place).free - self.limits.free)
        if self.limits.project:
            self._count()
            left = min(left, self.limits.project - (self._all or 0))
        return max(left, 0)

    def add(self, id: str, more: int) -> None:
        """Count bytes that were written."""
        before = self._known.get(id, 0)
        self._known[id] = before + more
        if self._all is not None:
            self._all += more
            self._many += bool(more and not before)

    def written(self, id: str) -> None:
        """Count a recording that was not written piece by piece."""
        self.add(id, bytes_of(self._store.folder(id)) - self._known.get(id, 0))

    def _count(self) -> None:
        # Counted again from time to time: deletions make room, and other writers take some.
        over = (self.limits.project and (self._all or 0) >= self.limits.project) or (
            self.limits.recordings and self._many >= self.limits.recordings
        )
        if self._all is None or monotonic() - self._counted > (_SOON if over else _LATER):
            self._all, self._counted = bytes_of(self._store.recordings), monotonic()
            with contextlib.suppress(OSError):
                self._many = sum(entry.is_dir() for entry in os.scandir(self._store.recordings))


def bytes_of(folder: Path) -> int:
    """Return the size of all files in a folder, in bytes."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(place, name).lstat().st_size
    return total
