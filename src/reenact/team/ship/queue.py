"""The queue of recordings to send: a small file for each, locked during the recording.

    <home>/ship/queue/<id>        the destination, and if the recording may be sent before it has ended
    <home>/ship/<name>.lock       locked by the shipper of a destination
    <home>/ship/<name>.json       the shipper's state
    <home>/ship/off               recordings of this home are not sent automatically

The process that writes a recording holds its file (`flock`). A mark is removed when the recording has ended and the
server has acknowledged all of it, not earlier.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import orjson

from reenact.core import private, system
from reenact.core.dataclass import dataclass
from reenact.core.model.header import ID


@dataclass(frozen=True, slots=True)
class ShipMark:
    """The mark of a recording to send.

    Attributes:
        id: The recording's id.
        server: The server's address.
        destination: The `Destination.name` for which it was marked.
        late: True to send it only after its end, because it may be discarded (a fork that does not reach its step).
    """

    id: str
    server: str
    destination: str
    late: bool = False


class Held:
    """A mark whose recording is being written by this process."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._pid = os.getpid()

    def release(self) -> None:
        """Release the mark: the recording has ended, and its last line will not change any more."""
        if self._file < 0 or os.getpid() != self._pid:
            return
        with contextlib.suppress(OSError):
            # Unlock explicitly, because a forked process has the file open, too.
            system.unlock(self._file)
            os.close(self._file)
        self._file = -1


class Queue:
    """The marks of one home.

    Args:
        home: The folder of the recordings.
    """

    def __init__(self, home: Path) -> None:
        self.folder = home / "ship"
        self._queue = self.folder / "queue"

    @property
    def private(self) -> bool:
        """True if automatic sending is off for this home."""
        return (self.folder / "off").exists()

    def add(self, mark: ShipMark) -> Held:
        """Mark a recording, and lock the mark. Raises OSError."""
        private.folder(self._queue)
        part = self.folder / f".{mark.id}.{os.getpid()}"
        file = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | system.CLOEXEC, 0o600)
        try:
            told = {"server": mark.server, "destination": mark.destination, "late": mark.late}
            os.write(file, orjson.dumps(told))
            # Lock the file before it gets its name, so that a shipper never takes it for an abandoned mark.
            system.lock(file)
            part.rename(self._queue / mark.id)
        except OSError:
            os.close(file)
            part.unlink(missing_ok=True)
            raise
        return Held(file)

    def marks(self) -> list[ShipMark]:
        """Return all marks, in the order of their ids."""
        found = []
        try:
            names = sorted(path.name for path in self._queue.iterdir())
        except OSError:
            return []
        for name in names:
            if not ID.fullmatch(name):
                continue
            try:
                told = orjson.loads((self._queue / name).read_bytes())
                found.append(
                    ShipMark(name, str(told["server"]), str(told["destination"]), bool(told["late"]))
                )
            except (OSError, ValueError, KeyError, TypeError):
                continue
        return found

    def changed(self) -> int:
        """Return a number that changes when a mark is added or removed."""
        try:
            return self._queue.stat().st_mtime_ns
        except OSError:
            return 0

    def held(self, id: str) -> bool:
        """Return True if the process that writes the recording runs, and has not ended it."""
        try:
            file = os.open(self._queue / id, os.O_RDONLY | system.CLOEXEC)
        except OSError:
            return False
        try:
            system.lock(file, shared=True, wait=False)
        except OSError:
            return True
        else:
            return False
        finally:
            os.close(file)

    def remove(self, id: str) -> None:
        """Remove a mark: the server has the whole recording."""
        (self._queue / id).unlink(missing_ok=True)


class Lock:
    """The lock of a destination's shipper; it ends with the process at the latest.

    Args:
        queue: The queue of the home.
        destination: The destination's name.
    """

    def __init__(self, queue: Queue, destination: str) -> None:
        self._path = queue.folder / f"{destination}.lock"
        self._file = -1

    def take(self) -> bool:
        """Take the lock; return False if another process has it. Raises OSError."""
        private.folder(self._path.parent)
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | system.CLOEXEC, 0o600)
        try:
            system.lock(file, wait=False)
        except BlockingIOError:
            os.close(file)
            return False
        self._file = file
        return True

    def free(self) -> None:
        """Release the lock."""
        os.close(self._file)
        self._file = -1


def keep_here(home: Path) -> None:
    """Turn off automatic sending for a temporary home."""
    folder = Queue(home).folder
    private.folder(folder)
    (folder / "off").touch()
