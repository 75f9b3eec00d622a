"""The entries of a folder, as a program that lists it sees them."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from reenact.core.dataclass import dataclass
from reenact.core.files.keeping import time_of
from reenact.core.files.states import LONGEST, NOTHING, FileState

TREE = 20_000
"""The maximum number of files in a folder that is listed, moved or deleted as a whole."""


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry of a folder.

    Attributes:
        state: Its state, as far as it is seen without opening it.
        changed: The time of its last change, of its mode and name as well, in nanoseconds since 1970.
    """

    state: FileState
    changed: int


def entries_of(folder: str) -> tuple[set[str], dict[str, ListedEntry]]:
    """Return the names in a folder (of folders with `/`), and its entries. Raises OSError."""
    names, states = set(), {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if not writable(entry.name):
                continue
            names.add(f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name)
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                target = os.readlink(entry.path) if entry.is_symlink() else ""
                if writable(target):
                    states[entry.name] = ListedEntry(_state(status, target), status.st_ctime_ns)
    return names, states


def names_below(path: str) -> list[str]:
    """Return the paths in a folder, at most `TREE`; none for a file or a link."""
    if os.path.islink(path) or not os.path.isdir(path):
        return []
    found: list[str] = []
    for folder, folders, files in os.walk(path):
        found += (os.path.join(folder, name) for name in (*folders, *files))
        if len(found) > TREE:
            break
    return found[:TREE]


def writable(path: str) -> bool:
    """Return True if a path can be written into a recording: it is UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _state(status: os.stat_result, target: str) -> FileState:
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return FileState("link", mode, target=target[:LONGEST])
    if stat.S_ISDIR(status.st_mode):
        return FileState("folder", mode)
    if not stat.S_ISREG(status.st_mode):
        return NOTHING
    return FileState("file", mode, status.st_size, why="listed", mtime=time_of(status.st_mtime_ns))
