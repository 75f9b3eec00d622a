"""The files of a session on the server, uploads and downloads. No other files can be used."""

from __future__ import annotations

import hashlib
import mimetypes
import re
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO, Literal

from reenact.core import private
from reenact.errors import UsageError

LARGEST = 100_000_000
"""Most bytes of an uploaded file."""
TOGETHER = 500_000_000
"""Most bytes of all uploaded files of a session."""

_PART = 1 << 20
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\]")

Source = Literal["user_upload", "session_download"]


@dataclass(frozen=True, slots=True)
class File:
    """One file of a session.

    Attributes:
        id: Its id in requests.
        name: Its name.
        path: Its path on the server.
        source: `user_upload` or `session_download`.
    """

    id: str
    name: str
    path: Path
    source: Source

    @property
    def kind(self) -> str:
        """Its media type, by its name."""
        return mimetypes.guess_type(self.name)[0] or "application/octet-stream"

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self.path.stat().st_size

    @property
    def created(self) -> datetime:
        """The time of its last change."""
        return datetime.fromtimestamp(self.path.stat().st_mtime, UTC)

    def checksum(self) -> str:
        """Its SHA-256, in hexadecimal digits."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


class SessionFiles:
    """The files of one session.

    Args:
        folder: The session's folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.uploads = folder / "uploads"
        self.downloads = folder / "downloads"
        for one in (self.uploads, self.downloads):
            one.mkdir()
        self._lock = threading.Lock()

    def all(self) -> list[File]:
        """Return all files, the oldest first."""
        folders: list[tuple[Source, Path]] = [
            ("user_upload", self.uploads),
            ("session_download", self.downloads),
        ]
        found = [
            File(_id(source, path.name), path.name, path, source)
            for source, folder in folders
            for path in folder.iterdir()
            if path.is_file() and not path.name.startswith(".")
        ]
        return sorted(found, key=lambda one: (one.created, one.name))

    def find(self, id: str) -> File | None:
        """Return the file of an id, or None."""
        return next((one for one in self.all() if one.id == id), None)

    def named(self, name: str) -> File:
        """Return an uploaded or downloaded file by its name. Raises UsageError if there is none."""
        for one in self.all():
            if one.name == name:
                return one
        raise UsageError(f"there is no file {name!r} in this session: upload it first")

    def keep(self, name: str, data: BinaryIO) -> File:
        """Save a file, replacing one of the same name.

        Raises UsageError for one that is too large or has no valid name.
        """
        plain = PurePosixPath(
            PureWindowsPath(_UNSAFE.sub("_", name.replace("\\", "/").split("/")[-1])).name
        ).name
        if plain.strip(". ") == "" or len(plain.encode()) > 200:
            raise UsageError(f"{name!r} is not a valid file name")
        part = self.uploads / f".{plain}.part"
        with self._lock:
            room = min(LARGEST, TOGETHER - sum(one.stat().st_size for one in self.uploads.iterdir()))
            try:
                with open(part, "wb", opener=private.opener) as file:
                    while piece := data.read(_PART):
                        if (room := room - len(piece)) < 0:
                            raise UsageError(
                                f"{plain}: at most {LARGEST // 1_000_000} MB a file, and {TOGETHER // 1_000_000} MB a "
                                "session"
                            )
                        file.write(piece)
                path = part.replace(self.uploads / plain)
            finally:
                part.unlink(missing_ok=True)
        return File(_id("user_upload", plain), plain, path, "user_upload")


def _id(source: Source, name: str) -> str:
    return hashlib.sha256(f"{source}\n{name}".encode()).hexdigest()[:24]
