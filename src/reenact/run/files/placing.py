"""Bring a path to a recorded state, in place."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from reenact.core.files.restore import set_time
from reenact.core.files.states import FileState
from reenact.run.files.upper import hidden


def kind_of(path: Path) -> str:
    """Return the kind of a path: `file`, `folder`, `link` or `none`."""
    if path.is_symlink():
        return "link"
    if path.is_dir():
        return "folder"
    return "file" if os.path.lexists(path) and not hidden(path) else "none"


def other_names(path: Path, among: Iterable[Path]) -> bool:
    """Return True if a file has a further name that is not `among` these paths."""
    try:
        count = path.lstat().st_nlink
        return count > 1 and count > sum(each.exists() and each.samefile(path) for each in among)
    except OSError:
        return False


def put(path: Path, state: FileState, blobs: Callable[[str], bytes]) -> None:
    """Bring a path to a state. A file is rewritten in place, since a program may have it open.

    Args:
        path: The path.
        state: The state; of a file, one with kept bytes.
        blobs: Returns the bytes of an address.

    Raises:
        OSError: It cannot be written.
        CorruptRecording: The bytes are missing.
    """
    if kind_of(path) != state.kind or state.kind == "link":
        remove(path)
    if state.kind == "none":
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(state.mode)
    if state.kind == "link":
        path.symlink_to(state.target)
    elif state.kind == "folder":
        path.mkdir(exist_ok=True)
        path.chmod(mode)
    else:
        if path.exists():
            path.chmod(mode | stat.S_IWUSR)
        path.write_bytes(state.content(blobs))
        path.chmod(mode)
        set_time(path, state)


def remove(path: Path) -> None:
    """Remove a path, a folder with its contents. Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
