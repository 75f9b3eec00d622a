"""The interface that tells a run about the files that its program uses."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from typing import Protocol


class FileSensor:
    """Called before each use of a file, by any thread. This one takes no note of any."""

    @property
    def busy(self) -> bool:
        """True if it must not be called now: it is opening files itself, or the process has forked."""
        return False

    def used(self, path: str, *, writes: bool = False) -> None:
        """Note that the program reads a path, or changes it."""

    def own_change(self, path: str) -> None:
        """Note that the program's own code changes a path.

        Raises `Halt` in a replay that has no place for it.
        """

    def asked(self, path: str) -> bool:
        """Note that the program has read the state of a path without opening it.

        Return True if a running command had changed it: the caller then reads it once more.
        """
        return False

    def listed(self, path: str) -> None:
        """Note that the program lists a folder."""

    def listed_again(self, path: str) -> bool:
        """Note that the program has listed a folder.

        Return True if a running command had changed its names: the caller then lists it once more.
        """
        return False

    def changes_tree(self, path: str, to: str = "") -> None:
        """Note that a file or folder is deleted or moved with all that is in it."""

    def opens_database(self, path: str) -> None:
        """Note that an SQLite database is opened."""

    def keeps(self, path: str, *, listed: bool = False) -> bool:
        """Return True if a used path's content is recorded; `listed`: the names in a folder."""
        return False

    def locks(self, descriptor: int) -> None:
        """Note that an open file is locked."""

    def command_begins(self, writes: Collection[str] = ()) -> None:
        """Note that a command is started that writes its output into these files."""

    def command_printed(self) -> None:
        """Note that the program has read output of a command that goes on."""

    def command_ended(self, call: int | None, wrote: Collection[str] = ()) -> None:
        """Note that the command of a call has ended; it wrote into these files."""


class RedirectedView(Protocol):
    """Shows files as a program with redirected functions sees them."""

    def public(self, path: str) -> str:
        """Return the path that the program knows for a path in scratch."""

    def shown(self) -> AbstractContextManager[None]:
        """Let Reenact see what the program sees."""
