"""Watch the files that the program reads: unrecorded, but a replay reports changed ones."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from types import FrameType
from typing import Any

from reenact.adapters.stdlib import callers, unseen, witness
from reenact.core.boundary import Run

MOST = 200
"""The maximum number of watched files of a run."""

_WHOLE = 1 << 20
_ENDS = 1 << 16


class OpenedFiles:
    """The files that one run's program has opened."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._seen: set[str] = set()

    def opened(self, arguments: tuple[Any, ...], frame: FrameType) -> None:
        """The program or a library opens a file, as the `open` audit event tells it."""
        path, mode, flags = arguments
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        name = os.fsdecode(path)
        if name in self._seen or len(self._seen) >= MOST or not callers.program(frame):
            return
        if self._run.scratch is not None and self._run.scratch(name):
            # It is as it was, or the replay has said that it is not.
            return
        self._seen.add(name)
        if not self._run.replaying:
            witness.opened_file(self._run, name)
        unseen.opened(self._run, name, frame)
        if not _reads(mode, flags) or name.startswith(("/dev/", "/proc/", "/sys/")):
            # What the program writes and reads again is its own.
            return
        recorded = self._run.handler.draw(self._run.root, f"file:{_known_as(name)}", lambda: digest(name))
        if self._run.replaying and recorded != (now := digest(name)):
            how = "is gone" if now is None else "did not exist" if recorded is None else "has changed"
            self._run.handler.remark(f"{name} {how} since the recording, and files are read for real")


def digest(name: str) -> str | None:
    """Return a digest of a file's content (of a large file, its ends), or None without a file."""
    try:
        if not Path(name).is_file():
            # To open a named pipe would wait for its other end, and take its place.
            return None
        with Path(name).open("rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None
            size = status.st_size
            if size <= _WHOLE:
                content = file.read()
            else:
                content = file.read(_ENDS)
                file.seek(-_ENDS, os.SEEK_END)
                content += file.read(_ENDS)
    except OSError:
        return None
    return f"{size}:{hashlib.blake2b(content, digest_size=8).hexdigest()}"


def _reads(mode: object, flags: object) -> bool:
    if isinstance(mode, str):
        return not set(mode) & set("wax+")
    return isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR) == 0


def _known_as(name: str) -> str:
    """A path that is the same where the program lies in another folder."""
    return str(Path(name).absolute()).removeprefix(f"{Path.cwd()}{os.sep}")
