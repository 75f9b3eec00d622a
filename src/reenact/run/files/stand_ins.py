"""Stand-ins: files whose bytes are not recorded, as the run saw them from outside.

They have the recorded size, mode and time. The time of the last access shows if one was read, also by native code.
"""

from __future__ import annotations

import os
import shutil
import stat
from importlib.machinery import all_suffixes
from pathlib import Path

from reenact.core import system
from reenact.core.files.states import FileState

_COPIED = 1 << 20
"""The size up to which the user's own file of equal size is copied."""

_MODULES = tuple(all_suffixes())


def fill(target: Path, state: FileState, own: Path | None = None) -> None:
    """Write a stand-in; `own` is the user's file at its place. Raises OSError."""
    target.touch()
    if own is not None and state.size <= _COPIED and _size(own) == state.size:
        shutil.copyfile(own, target)
    else:
        os.truncate(target, 0)
        os.truncate(target, state.size)
    target.chmod(stat.S_IMODE(state.mode) or 0o600)
    os.utime(target, ns=(0, state.mtime or 1))


def is_module(path: Path) -> bool:
    """Return True for a file that Python imports: a replay runs the user's own."""
    return path.name.endswith(_MODULES)


def was_read(path: Path, scratch: str) -> bool:
    """Return True if a stand-in, whose bytes are in that scratch folder, may have been read."""
    try:
        return path.lstat().st_atime_ns != 0 or not system.keeps_reading_times(scratch)
    except OSError:
        return True


def is_left(path: Path, state: FileState) -> bool:
    """Return True if a stand-in is unchanged."""
    try:
        return path.lstat().st_mtime_ns == (state.mtime or 1)
    except OSError:
        return False


def _size(path: Path) -> int:
    try:
        status = path.lstat()
    except OSError:
        return -1
    return status.st_size if stat.S_ISREG(status.st_mode) else -1
