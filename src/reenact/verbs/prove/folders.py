"""Another working folder with the same files, as links."""

from __future__ import annotations

import os
from pathlib import Path

MOST = 2000
"""The maximum number of entries that are linked; larger subfolders are linked as a whole."""

_ABOVE = 3


def elsewhere(folder: Path, target: Path) -> Path | None:
    """Return a new folder in `target` with the entries of `folder`; None if there are too many.

    Its subfolders are folders again, as far as they are small. Entries beside it, and beside the folders above it,
    are linked, too: a program may read `../data`. Raises OSError.
    """
    above = list(folder.parents)[:_ABOVE]
    left = MOST - _count(folder)
    if left < 0:
        return None
    levels = []
    for parent in above:
        left -= _count(parent)
        if left < 0 or target.is_relative_to(parent):
            break
        levels.append(parent)
    place = target
    below = folder.parents[len(levels) - 1] if levels else folder
    for name in folder.relative_to(below).parts:
        _linked(below, place, without=name)
        place, below = place / name, below / name
        place.mkdir()
    _mirrored(folder, place, left)
    return place


def _count(folder: Path) -> int:
    """Count the entries of a folder, up to one more than may be linked."""
    try:
        with os.scandir(folder) as entries:
            return sum(1 for _, _ in zip(entries, range(MOST + 1), strict=False))
    except OSError:
        return MOST + 1


def _linked(folder: Path, place: Path, *, without: str) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name != without:
                (place / entry.name).symlink_to(entry.path)


def _mirrored(folder: Path, place: Path, left: int) -> None:
    """Link the entries of a folder; make its small subfolders folders."""
    waiting = [(folder, place)]
    while waiting:
        source, target = waiting.pop(0)
        with os.scandir(source) as entries:
            for entry in entries:
                if place.is_relative_to(entry.path):
                    continue
                inner = target / entry.name
                small = entry.is_dir(follow_symlinks=False) and not entry.name.startswith((".", "__"))
                if small and (count := _count(Path(entry.path))) <= left:
                    left -= count
                    inner.mkdir()
                    waiting.append((Path(entry.path), inner))
                else:
                    inner.symlink_to(entry.path)
