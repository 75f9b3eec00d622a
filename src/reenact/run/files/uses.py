"""Note the paths that a replayed program changes, and the recorded run did not use."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from reenact.core.files import databases
from reenact.core.files.states import FileState
from reenact.core.record.places import SKIPPED

_Mark: TypeAlias = tuple[int, int, int] | None
"""Mode, size and time of change of a file; of a folder, its mode."""


class ReplayedUses:
    """Hears of files as a recorder does, and notes the first change of each path.

    Args:
        covers: Returns True for a path that is on scratch.
    """

    def __init__(self, covers: Callable[[str], bool]) -> None:
        self._covers = covers
        self._before: dict[str, _Mark] = {}
        self.paused = False

    @property
    def busy(self) -> bool:
        """True while Reenact itself uses files."""
        return self.paused

    def changing(self, path: str, file: str) -> None:
        """A path is about to change, which is at present that file."""
        if not self.paused:
            self._before.setdefault(path, _mark(file))

    def used(self, path: str, *, writes: bool = False) -> None:
        """Note a path that the program changes."""
        if writes:
            above, name = os.path.split(os.path.abspath(path))
            full = os.path.join(os.path.realpath(above), name)
            if self._covers(full):
                self.changing(full, full)

    def keeps(self, path: str, *, listed: bool = False) -> bool:
        """Return True for a path on scratch."""
        return self._covers(path)

    def listed(self, path: str) -> None:
        """Nothing changes."""

    def changes_tree(self, path: str, to: str = "") -> None:
        """Note a path, and the one that it moves to."""
        for each in filter(None, (path, to)):
            self.used(each, writes=True)

    def opens_database(self, path: str) -> None:
        """Note a database."""
        self.used(path, writes=True)

    def locks(self, descriptor: int) -> None:
        """Nothing changes."""

    def command_begins(self) -> None:
        """A replay answers commands."""

    def command_ended(self, call: int | None) -> None:
        """A replay answers commands."""

    def changed(
        self, recorded: Callable[[Path], Path], last: Mapping[Path, FileState]
    ) -> Iterator[tuple[Path, bool]]:
        """Yield the changed paths that the recorded run did not use.

        With True, one that was not there before. `recorded` returns the recorded path of a path of
        this run. It is to be called as the program sees its files.
        """
        for name, before in sorted(self._before.items()):
            path, beside = recorded(Path(name)), databases.base_of(name)
            if path in last or not SKIPPED.isdisjoint(path.parts):
                continue
            if beside is not None and (beside in self._before or recorded(Path(beside)) in last):
                continue
            if _mark(name) != before:
                yield path, before is None


def _mark(path: str) -> _Mark:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    if stat.S_ISDIR(status.st_mode):
        return status.st_mode, 0, 0
    return status.st_mode, status.st_size, status.st_mtime_ns
