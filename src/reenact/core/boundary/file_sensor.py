"""The interface by which a run hears of the files that its program uses."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from typing import Protocol


class FileSensor(Protocol):
    """Hears of each use of a file, before it happens. Any thread may call it."""

    @property
    def busy(self) -> bool:
        """True if it is not to be called now: it opens files itself, or the process is another one."""

    def used(self, path: str, *, writes: bool = False) -> None:
        """Take notice that the program reads a path, or changes it."""

    def own_change(self, path: str) -> None:
        """Take notice that the program's own code changes a path.

        Raises `Halt` in a replay that has no place for it.
        """

    def asked(self, path: str) -> bool:
        """Take notice that the program has asked for the state of a path, which it does not open.

        Return True if a running command had changed it: then it is asked for once more.
        """

    def listed(self, path: str) -> None:
        """Take notice that the program lists a folder."""

    def listed_again(self, path: str) -> bool:
        """Take notice that the program has listed a folder.

        Return True if a running command had changed its names: then it is listed once more.
        """

    def changes_tree(self, path: str, to: str = "") -> None:
        """Take notice that a file or folder is deleted or moved with all that is in it."""

    def opens_database(self, path: str) -> None:
        """Take notice that a database of SQLite is opened."""

    def keeps(self, path: str, *, listed: bool = False) -> bool:
        """Return True if the recording has what a used path holds; `listed`: the names in a folder."""

    def locks(self, descriptor: int) -> None:
        """Take notice that an open file is locked."""

    def command_begins(self, writes: Collection[str] = ()) -> None:
        """Take notice that a command is started, which writes its output into these files."""

    def command_printed(self) -> None:
        """Take notice that the program has read output of a command that goes on."""

    def command_ended(self, call: int | None, wrote: Collection[str] = ()) -> None:
        """Take notice that a command has ended, in that call, which wrote into these files."""


class RedirectedView(Protocol):
    """Shows files as a program sees them whose functions are redirected."""

    def public(self, path: str) -> str:
        """Return the path that the program knows for a path in scratch."""

    def shown(self) -> AbstractContextManager[None]:
        """Let Reenact see what the program sees."""
