"""Look at a path, and keep its bytes if they may be kept."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from reenact.core import system
from reenact.core.dataclass import dataclass
from reenact.core.files.states import (
    LONGEST,
    NOTHING,
    SHORT,
    FileState,
    Fingerprint,
    Why,
    address_of,
    fingerprint,
)

FILE_LIMIT = 64 << 20
"""The largest size in bytes of a file that is kept."""

_RUN_LIMIT = 1 << 30
"""The maximum number of bytes that are kept of a run's files."""

TEXT_LIMIT = 16 << 20
"""The maximum number of bytes in the events, which readers hold in memory."""

_PIECE = 1 << 20
_REMEMBERED = 10_000
_IGNORED_LIMIT = 1 << 20
"""The largest size of an ignored file that is searched for secrets."""
_SQLITE = b"SQLite format 3\0"

Mark: TypeAlias = tuple[int, int, int, int, int]
"""Size, time of change, inode, time of change of the inode, and mode.

A file with the same mark has the same bytes.
"""


def mark_of(status: os.stat_result) -> Mark:
    """Return the mark of a file."""
    return status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns, status.st_mode


def time_of(mtime: int) -> int | None:
    """Return a time of change as it is recorded; None for one before 1970."""
    return mtime if mtime >= 0 else None


def status_of(path: str) -> os.stat_result | None:
    """Return the status of a path itself, not of the target of a link; None if nothing is there."""
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Keeping:
    """The means to keep files.

    Attributes:
        blob: Keeps bytes, and returns their address.
        clean: Returns bytes without their secrets; equal ones if they have none.
        salt: The salt of the recording's header.
        note: Notes for readers of the recording that something is missing: the kind of the note, and its text.
    """

    blob: Callable[[bytes], str]
    clean: Callable[[bytes], bytes]
    salt: bytes
    note: Callable[[str, str], None]


class FileKeeper:
    """Keeps the files of one run, each content once.

    Args:
        keeping: The means.
    """

    def __init__(self, keeping: Keeping) -> None:
        self._keeping = keeping
        self._kept = self._written = 0
        self._known: dict[str, bool] = {}
        """The addresses of searched bytes; True: they have no secrets, and may be kept."""
        self._stored: set[str] = set()
        self._clean_names: set[bytes] = set()
        self._noted: set[str] = set()
        self._pinned: set[str] = set()
        self._open: dict[str, tuple[int, int]] = {}
        """The last descriptor of each file that is kept open, with its inode."""
        self._all: list[int] = []

    def state(self, path: str, *, ignored: bool) -> tuple[FileState, Mark | None]:
        """Return the state of a path with its bytes kept, and its mark. Raises OSError."""
        status = status_of(path)
        if status is None:
            return NOTHING, None
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(path)
            return FileState("link", mode, target=target[:LONGEST]), mark_of(status)
        if stat.S_ISDIR(status.st_mode):
            return FileState("folder", mode), mark_of(status)
        if not stat.S_ISREG(status.st_mode):
            # A pipe or device: it has no content that could be kept.
            return NOTHING, mark_of(status)
        return self._file(path, ignored=ignored)

    def forget(self) -> None:
        """Forget which bytes are kept: more secrets are known now."""
        self._known.clear()
        self._clean_names.clear()

    def pin(self, path: str) -> None:
        """Keep a file open that is looked at: closing it would end the program's own locks on it."""
        self._pinned.add(path)

    def close(self) -> None:
        """Close the files that were kept open."""
        for descriptor in self._all:
            os.close(descriptor)
        self._all.clear()
        self._open.clear()

    def note(self, text: str, what: str = "unrecorded") -> None:
        """Note for readers of the recording, once, that something is missing."""
        if text not in self._noted and len(self._noted) < 20:
            self._noted.add(text)
            self._keeping.note(what, text)

    def clean_names(self, names: tuple[str, ...]) -> list[str] | None:
        """Return names without their secrets; None if they have none."""
        text = "\n".join(names).encode("utf-8", "replace")
        if text in self._clean_names:
            return None
        if self._keeping.clean(text) == text:
            if len(text) < LONGEST and len(self._clean_names) < _REMEMBERED:
                self._clean_names.add(text)
            return None
        return [self._keeping.clean(name.encode("utf-8", "replace")).decode() for name in names]

    def kept(self, data: bytes, mode: int, mtime: int) -> FileState:
        """Return the state of a file with these bytes, which are kept if they may be."""
        size = len(data)
        if size > FILE_LIMIT:
            return self._missing(data, mode, mtime, "large")
        address = address_of(data)
        clean = self._known.get(address)
        if clean is None:
            clean = self._known[address] = self._keeping.clean(data) == data
        if not clean:
            return self._missing(data, mode, mtime, "secret")
        text = self._short_text(data)
        if text is not None or address not in self._stored:
            if self._kept + size > _RUN_LIMIT:
                self._full()
                return self._missing(data, mode, mtime, "large")
            self._kept += size
        if text is None and address not in self._stored:
            self._keeping.blob(data)
            self._stored.add(address)
        return FileState("file", mode, size, blob=address, mtime=time_of(mtime), text=text)

    def _short_text(self, data: bytes) -> str | None:
        """Return the text of a short file, which takes no file of its own; None for another one."""
        if len(data) > SHORT or self._written + len(data) > TEXT_LIMIT:
            return None
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return None
        self._written += len(data)
        return text

    def _file(self, path: str, *, ignored: bool) -> tuple[FileState, Mark]:
        descriptor = self._opened(path)
        try:
            status = os.fstat(descriptor)
            mode, mtime = stat.S_IMODE(status.st_mode), status.st_mtime_ns
            whole = not ignored and status.st_size <= FILE_LIMIT
            data = _read(descriptor, FILE_LIMIT + 1 if whole else len(_SQLITE))
            if data.startswith(_SQLITE):
                self.pin(path)
            if ignored and status.st_size <= _IGNORED_LIMIT:
                data = _read(descriptor, _IGNORED_LIMIT)
                return self._missing(data, mode, mtime, "ignored"), mark_of(status)
            if not whole:
                if not ignored:
                    self._large(path, status.st_size)
                found, size = _fingerprint(descriptor, self._keeping.salt)
                why: Why = "ignored" if ignored else "large"
                state = FileState("file", mode, size, print=found, why=why, mtime=time_of(mtime))
                return state, mark_of(status)
            return self.kept(data, mode, mtime), mark_of(status)
        finally:
            self._close(path, descriptor)

    def read(self, path: str, most: int) -> bytes:
        """Return the bytes of a file, up to `most`. No lock of the program ends. Raises OSError."""
        descriptor = self._opened(path)
        try:
            data = _read(descriptor, most)
            if data.startswith(_SQLITE):
                self.pin(path)
            return data
        finally:
            self._close(path, descriptor)

    def _opened(self, path: str) -> int:
        descriptor, inode = self._open.get(path, (-1, 0))
        if descriptor >= 0:
            status = status_of(path)
            if status is not None and status.st_ino == inode:
                return descriptor
        flags = os.O_RDONLY | system.NOFOLLOW | system.NONBLOCK | system.CLOEXEC
        with suppress(PermissionError):
            # Leave the time of the last read unchanged, if that is allowed.
            return os.open(path, flags | getattr(os, "O_NOATIME", 0))
        return os.open(path, flags)

    def _close(self, path: str, descriptor: int) -> None:
        if path not in self._pinned:
            os.close(descriptor)
        elif self._open.get(path, (-1, 0))[0] != descriptor:
            self._all.append(descriptor)
            self._open[path] = descriptor, os.fstat(descriptor).st_ino

    def _missing(self, data: bytes, mode: int, mtime: int, why: Why) -> FileState:
        salt = self._keeping.salt
        clean = self._keeping.clean(data) if why != "large" else data
        masked = fingerprint(clean, salt) if clean != data else ""
        return FileState(
            "file",
            mode,
            len(data),
            print=fingerprint(data, salt),
            masked=masked,
            why=why,
            mtime=time_of(mtime),
        )

    def _large(self, path: str, size: int) -> None:
        self.note(
            f"{path} has {size} bytes, and files of more than {FILE_LIMIT} are not kept: "
            "a replay reads it as it then is",
            "source",
        )

    def _full(self) -> None:
        self.note(f"the run's files have more than {_RUN_LIMIT} bytes: further ones are not kept", "source")


def _read(descriptor: int, most: int) -> bytes:
    pieces, size = [], 0
    while size < most:
        asked = min(most - size, _PIECE)
        piece = system.pread(descriptor, asked, size)
        pieces.append(piece)
        size += len(piece)
        if len(piece) < asked:
            break
    return b"".join(pieces)


def _fingerprint(descriptor: int, salt: bytes) -> tuple[str, int]:
    made, size = Fingerprint(salt), 0
    while piece := system.pread(descriptor, _PIECE, size):
        made.update(piece)
        size += len(piece)
    return made.text(), size
