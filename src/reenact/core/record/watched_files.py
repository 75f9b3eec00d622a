"""The files that the program has changed, which are looked at after each step."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from reenact.core.record.known_files import KnownFiles

_MOST = 16
"""The number of changed files up to which all are looked at after each step."""


class WatchedFiles:
    """The changed files of one process of a run.

    Args:
        known: The files that were used.
    """

    def __init__(self, known: KnownFiles) -> None:
        self._known = known
        self.paths: dict[str, None] = {}
        """The files that are watched."""
        self._lasting: set[str] = set()

    def __contains__(self, path: object) -> bool:
        return path in self.paths

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def add(self, path: str) -> None:
        """Watch a file that changes."""
        self.paths[path] = None

    def add_lasting(self, path: str) -> None:
        """Treat a file as open until the end, also while it is not watched."""
        self._lasting.add(path)

    def held_open(self) -> list[str]:
        """Return the watched files that may change further without a new use."""
        inodes = open_files()
        return [
            path
            for path in self.paths
            if path in self._lasting or ((mark := self._known[path].mark) is not None and mark[2] in inodes)
        ]

    def trim(self) -> None:
        """Of many files, go on to watch only those that may change without a new use."""
        if len(self.paths) > _MOST:
            self.paths = dict.fromkeys(self.held_open())


def open_files() -> set[int]:
    """Return the inodes of the files that this process has open."""
    found = set()
    with suppress(OSError):
        for name in os.listdir("/dev/fd"):
            with suppress(OSError, ValueError):
                found.add(os.fstat(int(name)).st_ino)
    return found
