"""Files that a command writes its output into, at the place where the program's file stands.

While recording, what came into the file is read back when the command is over. A replay writes it there instead.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from reenact.adapters.stdlib import file_uses, start_options
from reenact.core import system
from reenact.core.boundary import current
from reenact.core.model.event import COMMANDS

if sys.platform != "win32":
    import fcntl

_MOST = 64 << 20
_PIECE = 1 << 20


def is_file(handle: Any) -> bool:
    """Return True for an open regular file or `/dev/null`, by handle or number."""
    try:
        number = handle if isinstance(handle, int) else handle.fileno()
        mode = os.fstat(number).st_mode
    except (AttributeError, OSError, ValueError, TypeError):
        return False
    return stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not os.isatty(number))


def content_of(handle: Any) -> str | None:
    """Return a digest of what is left to read in a file, or None if it is none."""
    if handle is None or (isinstance(handle, int) and handle < 0) or not is_file(handle):
        return None
    number = handle if isinstance(handle, int) else handle.fileno()
    digest, place = hashlib.blake2b(digest_size=8), 0
    with suppress(OSError):
        place = os.lseek(number, 0, os.SEEK_CUR)
        while piece := system.pread(number, _PIECE, place):
            digest.update(piece)
            place += len(piece)
    return digest.hexdigest()


class Redirection:
    """The files that one command writes into.

    Args:
        given: The arguments of `Popen`.
        waited: True if the program waits for the command. Otherwise it may go on to write meanwhile, and what it has
            written before is flushed, so that it is not taken for the command's.
    """

    def __init__(self, given: Mapping[str, Any], *, waited: bool = False) -> None:
        self._files: dict[str, tuple[int, int]] = {}
        seen: set[tuple[int, int]] = set()
        scope = current()
        flushes = not waited or (scope is not None and scope.run.rules < COMMANDS)
        for name, own in (("stdout", 1), ("stderr", 2)):
            handle = given.get(name)
            if handle is None and scope is not None and start_options.redirected(scope.run, own):
                handle = own
            if handle is None or (isinstance(handle, int) and handle < 0) or not is_file(handle):
                continue
            if flushes and not isinstance(handle, int):
                handle.flush()
            number = os.dup(handle if isinstance(handle, int) else handle.fileno())
            status = os.fstat(number)
            if not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) in seen:
                os.close(number)
                continue
            seen.add((status.st_dev, status.st_ino))
            self._files[name] = number, _end(number)
        found = (file_uses.path_of(number) for number, _ in self._files.values())
        self.paths = tuple(path for path in found if path is not None)
        """The paths of the files, where the system tells them."""

    def written(self) -> dict[str, bytes]:
        """Return what came into each file."""
        found = {}
        for name, (number, start) in self._files.items():
            size = _end(number) - start
            kept = _read(number, start, min(size, _MOST)) if size > 0 else b""
            if len(kept) < size:
                _note(size, len(kept))
            found[name] = kept
        return {name: data for name, data in found.items() if data}

    def write(self, written: Mapping[str, bytes]) -> None:
        """Write into each file what came into it when it was recorded."""
        for name, data in written.items():
            if name in self._files:
                number, start = self._files[name]
                if _read(number, start, len(data) + 1) == data and _end(number) != start:
                    # It was appended with the other changes of the command.
                    continue
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(number, rest) :]

    def close(self) -> None:
        """Let go of the files. Harmless when done."""
        for number, _ in self._files.values():
            os.close(number)
        self._files.clear()


def _end(number: int) -> int:
    """Return the place at which the next byte is written."""
    if sys.platform != "win32" and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_APPEND:
        return os.fstat(number).st_size
    return os.lseek(number, 0, os.SEEK_CUR)


def _read(number: int, start: int, size: int) -> bytes:
    with suppress(OSError):
        return system.pread(number, size, start)
    # It was opened for writing alone: opened once more, by the name that the system keeps.
    with suppress(OSError), open(f"/proc/self/fd/{number}", "rb") as again:  # noqa: PTH123
        again.seek(start)
        return again.read(size)
    return b""


def _note(size: int, kept: int) -> None:
    scope = current()
    if scope is not None:
        scope.run.handler.note(
            "unrecorded", f"a command wrote {size} bytes into a file; {kept} of them are recorded"
        )
