"""A folder where the processes of one replay leave messages for each other."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import count
from pathlib import Path

from reenact.core.boundary import Family, entered

MESSAGE = "processes:message"
"""The source of the digests of messages."""

SHARED = "processes:shared"
"""The source of the uses of objects of managers."""

_numbers = count()
_kept: dict[str, list[bytes]] = {}
"""The messages of a process that has no folder for them."""


class Mailbox:
    """The messages of one pipe that were read too early, or by the wrong process.

    Args:
        folder: The folder that all processes of the replay share; None: this process keeps them in memory.
        name: The name of the pipe, the same one in all processes.
    """

    def __init__(self, folder: Path | None, name: str) -> None:
        self._folder = folder
        self._name = name

    @classmethod
    def of(cls, family: Family | None, descriptor: int) -> Mailbox:
        """Return the mailbox of an open pipe or socket."""
        status = os.fstat(descriptor)
        return cls(
            None if family is None else family.exchange("messages"), f"{status.st_dev:x}-{status.st_ino:x}"
        )

    def leave(self, mark: str, data: bytes) -> None:
        """Leave a message for the process that is to get it."""
        if self._folder is None:
            _kept.setdefault(f"{self._name}.{mark}", []).append(data)
            return
        with entered(None):
            name = f"{self._name}.{mark}.{os.getpid()}.{next(_numbers)}"
            part = self._folder / f"part.{name}"
            part.write_bytes(data)
            part.rename(self._folder / name)

    def take(self, mark: str) -> bytes | None:
        """Take the oldest message with that digest, or None."""
        prefix = f"{self._name}.{mark}"
        if self._folder is None:
            kept = _kept.get(prefix)
            return kept.pop(0) if kept else None
        with entered(None):
            for path in sorted(self._folder.glob(f"{prefix}.*")):
                mine = self._folder / f"taken.{os.getpid()}.{next(_numbers)}"
                with suppress(FileNotFoundError):
                    path.rename(mine)
                    data = mine.read_bytes()
                    mine.unlink()
                    return data
        return None
