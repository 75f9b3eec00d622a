"""Read the unsent part of a recording's files: whole lines, and the blobs that they name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson

from reenact.core import system
from reenact.core.store import chain, shared
from reenact.core.store.base import NAMED_BLOB
from reenact.core.store.local import EVENTS
from reenact.errors import CorruptRecording
from reenact.team.ship.upload_format import FILE

_SEALED = b'{"event":"sealed"'
_AT_ONCE = 1 << 20
_SHARED_AT_ONCE = 200
_END = 1 << 16


class Tail:
    """One file, read from the position up to which the server has it.

    The server's copy of a fork contains its parent's lines instead of a reference to them, and so is complete without
    the parent. So the positions here and there differ.

    Attributes:
        name: The file's name.
        sent: The length of the server's copy.
        read: The position in the local file up to which it was sent.
    """

    def __init__(self, path: Path, length: int) -> None:
        self.path = path
        self.name = path.name
        self.sent = self.read = 0
        self._header: bytes | None = None
        self._before = b""
        """The last bytes before the local position, if they are known."""
        self._ends: dict[int, bytes] = {}
        """The last bytes of the lines that `new` returned, by their length."""
        self.seek(length)

    def seek(self, length: int) -> None:
        """Continue at the length of the server's copy. Raises OSError, CorruptRecording."""
        self.sent, self.read, self._before = length, length, b""
        if not self._forked():
            return
        # The local position can only be found by reading the lines.
        self.sent = self.read = 0
        while self.sent < length:
            whole, count = self._lines()
            if not whole:
                break
            if self.sent + len(whole) > length:
                # The server has a part of these lines; it answers with its length again.
                break
            self.sent, self.read = self.sent + len(whole), self.read + count

    def new(self, *, sealed: bool) -> tuple[bytes, int]:
        """Return the next lines to send, and their length here in bytes; empty if there are none.

        The last line of a file may still change, so it is left out unless `sealed`. Raises OSError, CorruptRecording.
        """
        try:
            if self.path.stat().st_size <= self.read:
                return b"", 0
            data, count = self._lines()
        except FileNotFoundError:
            return b"", 0
        if not sealed and self.name == EVENTS:
            start = data.rfind(b"\n", 0, -1) + 1
            if data.startswith(_SEALED, start):
                return data[:start], count - (len(data) - start)
        return data, count

    def advance(self, length: int, count: int) -> None:
        """Advance by lines that the server has acknowledged."""
        self.sent, self.read = self.sent + length, self.read + count
        self._before = self._ends.get(count, b"")

    @property
    def waits(self) -> int:
        """The number of unsent bytes, in whole lines and an unfinished one."""
        try:
            return max(0, self.path.stat().st_size - self.read)
        except OSError:
            return 0

    # -- within ----------------------------------------------------------------------------------------------

    def _lines(self) -> tuple[bytes, int]:
        """Return the next whole lines in the form to send, and their length here in bytes."""
        with self.path.open("rb") as file:
            file.seek(self.read - len(self._before))
            if file.read(len(self._before)) != self._before:
                raise CorruptRecording(
                    f"{self.name} was written again without a secret after its beginning was sent: delete the "
                    f"recording there, then import there what `reenact export {self.path.parent.name}` writes"
                )
            file.seek(self.read)
            data = file.read(_AT_ONCE)
            if len(data) == _AT_ONCE and b"\n" not in data:
                data += file.readline()
        data = data[: data.rfind(b"\n") + 1]
        self._ends = {len(data): data[-chain.LENGTH - 1 :]}
        if not (data.startswith(shared.SAME) or b"\n" + shared.SAME in data) or not self._forked():
            return data, len(data)
        lines = data.splitlines(keepends=True)[:_SHARED_AT_ONCE]
        data, header = b"".join(lines), self._header or b""
        self._ends = {len(data): data[-chain.LENGTH - 1 :]}
        if self.read:
            return shared.whole(header + data, self.path.parent)[len(header) :], len(data)
        return shared.whole(data, self.path.parent), len(data)

    def _forked(self) -> bool:
        """Return True if some of its lines may be another recording's."""
        if self.name != EVENTS:
            return False
        if self._header is None:
            with self.path.open("rb") as file:
                header = file.readline()
            if not header.endswith(b"\n"):
                return False
            self._header = header
        try:
            return shared.origin(orjson.loads(self._header)) is not None
        except ValueError:
            return False


def files(folder: Path) -> list[Path]:
    """Return the files of a recording that are sent, the events first."""
    try:
        names = [path.name for path in folder.iterdir() if FILE.fullmatch(path.name)]
    except OSError:
        return []
    return [folder / name for name in sorted(names, key=lambda name: (name != EVENTS, name))]


def blobs(data: bytes, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the blobs that lines name: address, and file.

    The file belongs to the recording or to a parent of it.
    """
    above: list[Path] | None = None
    for digest in dict.fromkeys(match[1].decode() for match in NAMED_BLOB.finditer(data)):
        place = Path("blobs", digest[:2], digest)
        if (folder / place).is_file():
            yield f"sha256:{digest}", folder / place
            continue
        above = shared.ancestors(folder) if above is None else above
        found = next((one / place for one in above if (one / place).is_file()), None)
        if found is not None:
            yield f"sha256:{digest}", found


def sealed(path: Path) -> bool:
    """Return True if the last line of a process's file is a seal."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _END))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
            if len(last) < _END:
                return last.startswith(_SEALED)
            # The last line is longer than the block that was read: it contains a long answer.
            file.seek(0)
            return file.read().rstrip(b"\n").rpartition(b"\n")[2].startswith(_SEALED)
    except FileNotFoundError:
        return True


def ended(path: Path) -> bool:
    """Return True if a process's file is complete: it is sealed, or its process has ended."""
    if not path.name.startswith("events.") or sealed(path):
        return True
    try:
        with path.open("rb") as file:
            pid = int(orjson.loads(file.readline())["pid"])
    except (FileNotFoundError, ValueError, KeyError, TypeError, OverflowError):
        return True
    except OSError:
        return False
    # The number may now be that of another user's process, or have been then.
    return not system.runs(pid)
