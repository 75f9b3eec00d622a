"""Append one process's events to its file; a `kill -9` loses nothing already returned.

One unbuffered `write` per event; `fsync` at the end and on an error only. Each line gets its sum here, for all
callers (see `chain`). A failure here costs one warning and a hole in the recording, never the agent's run.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from operator import is_
from pathlib import Path
from typing import Any
from weakref import WeakSet

import orjson

from reenact.core import private, system
from reenact.core.store import chain, lock, shared
from reenact.core.store.chain import BEFORE, sum_of
from reenact.core.system import perf_counter

Sign = Callable[[str], Mapping[str, Any] | None]
"""Returns the value of a seal's member `signed` for a sum (32 hex digits); None: unsigned."""

_RESERVE = 4096
_END = chain.AFTER + b"\n"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
_LOOK = 0.01  # seconds; each check costs as much as a small write
_fstat, _write = os.fstat, os.write  # the program's own calls are recorded


_open_files: WeakSet[Writer] = WeakSet()


def _leave_to_the_parent() -> None:
    """Stop writing to the files of the process of which this one is a fork."""
    for writer in list(_open_files):
        writer.leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_the_parent)


class Writer:
    """One events file, open for appending.

    Args:
        path: The file to create, `<recording>/events.jsonl` or one beside it for a child process.
    """

    def __init__(self, path: Path) -> None:
        private.folder(path.parent)
        self._open(path, os.O_CREAT | os.O_EXCL)

    def _open(self, path: Path, flags: int) -> None:
        _open_files.add(self)
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_APPEND | system.CLOEXEC | flags, 0o600)
        self.alone = lock.take(self._fd)
        """False if another process writes this file."""
        # Re-entrant: a finaliser that the garbage collector runs in between may write too.
        self._lock = threading.RLock()
        self._size = 0
        self._sum = chain.FIRST
        self._writing = False
        self._waiting: deque[tuple[bytes, bytes | None]] = deque()
        self._sealed = False
        self._looked = 0.0
        self.stopped: str | None = None
        """The reason that writing has stopped, or None."""
        self._reserve = path.with_suffix(".reserve")
        # Space for the note that the disk is full.
        with contextlib.suppress(OSError):
            reserve = private.opener(str(self._reserve), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.write(reserve, b"\0" * _RESERVE)
            os.close(reserve)

    def leave(self) -> None:
        """Stop writing: the file belongs to another process."""
        # Another thread may have held the lock when this process was forked.
        self._lock = threading.RLock()
        self.stopped = "a fork of the process that it records"

    @property
    def digest(self) -> str:
        """The sum of the last line, for all lines so far: 32 hex digits; empty before the first."""
        return self._sum.decode()

    def append(self, line: bytes, content: bytes | None = None) -> bool:
        """Append one event, a JSON object without sum and newline.

        Return False if writing has stopped.

        Args:
            line: The event.
            content: The bytes that count for its sum, if not its own: see `chain.content`.
        """
        body = line[:-1]
        with self._lock:
            if self.stopped is not None:
                return False
            if self._writing:
                # A finaliser or a signal handler in the middle of another line: write its line next.
                self._waiting.append((body, content))
                return True
            try:
                self._write(body, body if content is None else content)
                if self._waiting:
                    self._write_waiting()
            except OSError as error:
                self._stop(error)
                return False
            return True

    def _write_waiting(self) -> None:
        while self._waiting:
            body, content = self._waiting.popleft()
            self._write(body, body if content is None else content)

    def refer(self, number: int, line: bytes) -> bool:
        """Append a reference to `line`, the parent's line of that number. Returns as `append` does."""
        return self.append(shared.reference(number), chain.content(line))

    def seal(self, line: bytes, sign: Sign | None = None) -> bool:
        """Append the last event, sync and close. Return False as `append` does.

        Args:
            line: The event, as for `append`.
            sign: Called for the signature of the sum (32 hex digits) that this line would have without a signature; it
                covers all lines and this one. Its result becomes the line's last member, `signed`. On reading,
                `Log.seal_digest` is that sum.
        """
        with self._lock:
            with contextlib.suppress(OSError):
                self._look()
            if self.stopped is None:
                # A finaliser that runs during the signing must not write: the signature covers the lines so far.
                self.stopped = "closed"
                body = _signed(self._sum, line[:-1], sign)
                try:
                    self._write(body, body)
                    self._sealed = True
                except OSError as error:
                    self._stop(error)
            self.close()
            return self._sealed

    def rewrite(self, change: Callable[[Sequence[bytes]], Sequence[bytes]]) -> bool:
        """Replace events that are written already; return True if any was replaced.

        After a kill the file has the old events or the new ones. Raises OSError; the file is then unchanged.

        Args:
            change: Called with all events, without their sums and with the parent's lines of a fork. Returns as many.
                An event that it returns as the same object stays as it is.
        """
        with self._lock:
            if self._fd < 0 or self._writing or self.stopped is not None:
                return False
            data = system.pread(self._fd, self._size, 0)
            lines = data.split(b"\n")[:-1]
            whole = shared.whole(data, self.path.parent).split(b"\n")[:-1]
            events = [chain.bare(line) for line in whole]
            changed = change(events)
            if all(map(is_, changed, events)):
                return False
            check, file = chain.FIRST, bytearray()
            for line, old, new in zip(lines, events, changed, strict=True):
                check = sum_of(check, new[:-1])
                file += (chain.bare(line) if new is old else new)[:-1] + chain.tail(check) + b"\n"
            self._replace(bytes(file))
            self._sum, self._size = check, len(file)
            return True

    def _replace(self, data: bytes) -> None:
        part = self.path.with_name(f".{self.path.name}.part")
        fresh = os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | system.CLOEXEC, 0o600)
        try:
            lock.take(fresh)
            view = memoryview(data)
            while view:
                view = view[os.write(fresh, view) :]
            os.fsync(fresh)
        except BaseException:
            os.close(fresh)
            part.unlink(missing_ok=True)
            raise
        self._fd, error = system.put_in_place(fresh, part, self._fd, self.path)
        if error is not None:
            part.unlink(missing_ok=True)
            raise error
        lock.take(self._fd)

    def blob(self, data: bytes) -> str:
        """Keep bytes by their hash, beside the events; return the address, `sha256:…`."""
        digest = hashlib.sha256(data).hexdigest()
        # Text, not paths, for speed: each step that writes a file runs this.
        folder = f"{self.path.parent}/blobs/{digest[:2]}"
        path = f"{folder}/{digest}"
        # After a stop, no line that names it would be written.
        if self.stopped is None and not os.path.exists(path):  # noqa: PTH110 - as above
            part = f"{path}.{os.getpid()}.{threading.get_ident()}"
            try:
                try:
                    descriptor = private.opener(part, _NEW)
                except FileNotFoundError:
                    private.folder(Path(folder))
                    descriptor = private.opener(part, _NEW)
                try:
                    rest = memoryview(data)
                    while rest:
                        rest = rest[os.write(descriptor, rest) :]
                finally:
                    os.close(descriptor)
                os.replace(part, path)  # noqa: PTH105 - as above
            except OSError:
                # It would take the space of the note that the disk is full.
                with contextlib.suppress(OSError):
                    Path(part).unlink()
                raise
        return f"sha256:{digest}"

    def sync(self) -> None:
        """Force the written bytes to the disk."""
        with contextlib.suppress(OSError):
            os.fsync(self._fd)

    def close(self) -> None:
        """Sync and close. Harmless when closed."""
        with self._lock:
            if self._fd < 0:
                return
            with contextlib.suppress(OSError):
                self._look()
            self.sync()
            os.close(self._fd)
            self._fd = -1
            self.stopped = self.stopped or "closed"
            with contextlib.suppress(OSError):
                self._reserve.unlink()

    def _write(self, body: bytes, content: bytes) -> None:
        check = sum_of(self._sum, content)
        line = body + (BEFORE + check + _END)
        size = len(line)
        try:
            self._writing = True
            if _write(self._fd, line) != size:
                # A short write means that the disk is full: remove the torn line, then raise.
                os.ftruncate(self._fd, self._size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._sum, self._size, self._writing = check, self._size + size, False
        except BaseException:
            # An interrupt may come right after the write: the file's size shows if the line is there.
            if self._writing and os.fstat(self._fd).st_size == self._size + size:
                self._sum, self._size = check, self._size + size
            self._writing = False
            raise
        if (now := perf_counter()) - self._looked > _LOOK:
            self._looked = now
            self._look()

    def _look(self) -> None:
        """Restore the file if its folder was deleted."""
        if _fstat(self._fd).st_nlink == 0 and self._size:
            self._restore()

    def _restore(self) -> None:
        """Write a deleted file again: the open one still has all events."""
        events = system.pread(self._fd, self._size, 0)
        private.folder(self.path.parent)
        fresh = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | system.CLOEXEC, 0o600)
        os.write(fresh, events)
        os.close(self._fd)
        self._fd = fresh
        if not self._sealed:
            self.append(
                b'{"event":"noted","what":"hole","text":"the folder was deleted during the run; blobs may be missing"}'
            )
        warn(f"the recording's folder was deleted while it was written; restored at {self.path.parent}")

    def _stop(self, error: OSError) -> None:
        self.stopped = error.strerror or str(error)
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, self._size)
            self._reserve.unlink()
        body = f'{{"event":"noted","what":"hole","text":"recording stopped here: {self.stopped}"'.encode()
        with contextlib.suppress(OSError):
            if self._size:
                os.write(self._fd, body + chain.tail(chain.sum_of(self._sum, body)) + b"\n")
            else:
                # Without its first line, the file is no recording.
                self.path.unlink()
                self.path.parent.rmdir()
        warn(f"recording stopped ({self.stopped}) at {self.path.parent}; the program goes on unrecorded")


def reseal(path: Path, ending: Mapping[str, Any], sign: Sign | None = None) -> None:
    """Replace the last line of a sealed file by one with other members.

    Args:
        path: The events file. Nothing writes to it any more.
        ending: The members of the new line, without its sum and signature.
        sign: As for `Writer.seal`.

    Raises OSError; the file is then unchanged.
    """
    data = path.read_bytes()
    start = data.rfind(b"\n", 0, len(data) - 1) + 1
    before = chain.stated(data[:start].rstrip(b"\n").rpartition(b"\n")[2]) or chain.FIRST
    body = orjson.dumps({key: value for key, value in ending.items() if key not in ("sum", "signed")})[:-1]
    body = _signed(before, body, sign)
    private.write(path, data[:start] + body + chain.tail(chain.sum_of(before, body)) + b"\n")


def _signed(before: bytes, body: bytes, sign: Sign | None) -> bytes:
    """Return a seal's line without its closing brace, with its signature.

    `before` is the sum of the line before it.
    """
    if sign is None:
        return body
    signature = sign(chain.sum_of(before, body).decode())
    return body if signature is None else body + b',"signed":' + orjson.dumps(dict(signature))


def warn(text: str) -> None:
    """Write one line to standard error. The program's own warning filters do not apply."""
    with contextlib.suppress(Exception):
        sys.stderr.write(f"reenact: {text}\n")
        sys.stderr.flush()
