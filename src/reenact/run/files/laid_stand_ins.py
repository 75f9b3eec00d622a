"""The stand-ins of one replay: those that are still in place, and those that were read."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from reenact.core.files.states import FileState
from reenact.run.files import stand_ins
from reenact.run.files.disk import Laid
from reenact.run.files.placing import kind_of


class LaidStandIns:
    """The files of a replay whose bytes are not recorded.

    Args:
        laid: The files that were laid for this run.
        say: Gets notes.

    Attributes:
        unkept: Files that are not as recorded at the end, by their recorded paths.
    """

    def __init__(self, laid: Laid, say: Callable[[str], None]) -> None:
        self.unkept: set[Path] = set()
        self._laid = laid
        self._say = say
        self._put: dict[Path, tuple[FileState, str]] = {}
        """Files that became unkept ones, with what is said if one is read."""

    def put(self, path: Path, state: FileState) -> bool:
        """Put a stand-in in place of a file that becomes an unkept one. Return False if that fails."""
        if state.why == "unread":
            return True
        if kind_of(path) not in ("none", "file") or not path.parent.is_dir():
            return False
        stand_ins.fill(path, state)
        self._put[path] = state, f"the change of {path} is not replayed: its bytes are not recorded"
        return True

    def replaced(self, path: Path) -> bool:
        """Return True if a recorded state replaces a stand-in, which is no longer read."""
        mark = self._mark(path)
        if str(path) not in self._laid.stand_ins or mark.exists():
            return False
        self._tell_if_read(path)
        mark.touch()
        return True

    def tell(self) -> None:
        """Note those that were read; the others made no difference."""
        for path in map(Path, self._laid.stand_ins):
            if not self._mark(path).exists():
                self._tell_if_read(path)
        for path, (state, text) in self._put.items():
            if os.path.lexists(path) and stand_ins.was_read(path, self._laid.scratch):
                self._say(text)
            if stand_ins.is_left(path, state):
                self.unkept.add(self._laid.recorded(path))

    def _mark(self, path: Path) -> Path:
        """Return the file that marks a replaced stand-in for all processes of a replay."""
        return Path(self._laid.scratch, f"replaced-{digest(path)}")

    def _tell_if_read(self, path: Path) -> None:
        if os.path.lexists(path) and stand_ins.was_read(path, self._laid.scratch):
            self._say(f"{path} is not as it was, and its bytes are not recorded")


def digest(path: Path) -> str:
    """Return a name for a path among the marks in scratch."""
    return sha256(os.fsencode(path)).hexdigest()[:32]
