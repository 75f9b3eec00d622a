"""A folder's names in a replay: files as they were, and those that the replay made."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from reenact.run.files.view import OverlayView


class _Redirection(Protocol):
    """The redirection of a block's files."""

    view: OverlayView

    def paused(self) -> AbstractContextManager[None]:
        """Let Reenact itself see the real files."""


class ScannedName:
    """One name in a folder, as `os.scandir` gives them."""

    def __init__(self, redirection: _Redirection, folder: str, given: str, name: str) -> None:
        self._redirection = redirection
        self._full = f"{folder}/{name}"
        self.name = name
        # As the program wrote it: pathlib would drop a "./".
        self.path = os.path.join(given, name)  # noqa: PTH118

    def __fspath__(self) -> str:
        return self.path

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the status of the file that it means."""
        with self._redirection.paused():
            real = self._redirection.view.real(self._full, follow=follow_symlinks)
            return Path(real).stat(follow_symlinks=follow_symlinks)

    def inode(self) -> int:
        """Return the number of the file."""
        return self.stat(follow_symlinks=False).st_ino

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Return True for a folder."""
        return self._is(stat.S_ISDIR, follow_symlinks)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Return True for a regular file."""
        return self._is(stat.S_ISREG, follow_symlinks)

    def is_symlink(self) -> bool:
        """Return True for a symbolic link."""
        return self._is(stat.S_ISLNK, False)

    def is_junction(self) -> bool:
        """Return False: they are Windows' own."""
        return False

    def _is(self, test: Callable[[int], bool], follow: bool) -> bool:
        try:
            return test(self.stat(follow_symlinks=follow).st_mode)
        except OSError:
            return False
