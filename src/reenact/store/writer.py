"""Appending one process's events to its file, so that nothing returned before a `kill -9` is lost.

One unbuffered `write` per event; `fsync` at the end and on an error only. Whatever goes wrong here costs one
warning and a hole that is stamped into the recording, never the agent's run.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import sys
import threading
from pathlib import Path
from time import perf_counter

_RESERVE = 4096
_LOOK = 0.01  # seconds; a look costs as much as a small write


class Writer:
    """One events file, open for appending.

    Args:
        path: The file to create, `<recording>/events.jsonl` or one beside it for a child process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        # Re-entrant: a finaliser that the garbage collector runs in between may write too.
        self._lock = threading.RLock()
        self._size = 0
        self._looked = 0.0
        self.stopped: str | None = None
        """Why nothing more is written, once that is so."""
        self._reserve = path.with_suffix(".reserve")
        # Room to say so when the disk is full.
        with contextlib.suppress(OSError):
            self._reserve.write_bytes(b"\0" * _RESERVE)

    def append(self, line: bytes) -> bool:
        """Append one event (without its newline). False when nothing is written any more."""
        with self._lock:
            if self.stopped is not None:
                return False
            try:
                self._write(line)
            except OSError as error:
                self._stop(error)
                return False
            return True

    def blob(self, data: bytes) -> str:
        """Keep bytes by their hash, beside the events; returns the address, `sha256:…`."""
        digest = hashlib.sha256(data).hexdigest()
        path = self.path.parent / "blobs" / digest[:2] / digest
        # What names it would not be written any more.
        if self.stopped is None and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            part = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
            try:
                part.write_bytes(data)
                part.replace(path)
            except OSError:
                # It would take the room from the word that the disk is full.
                part.unlink(missing_ok=True)
                raise
        return f"sha256:{digest}"

    def sync(self) -> None:
        """Force what is written to the disk."""
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

    def _write(self, line: bytes) -> None:
        written = os.writev(self._fd, (line, b"\n"))  # one call, and no copy of the line
        if written != len(line) + 1:
            # A short write is the disk filling up: take the torn line back, then let the rest raise.
            os.ftruncate(self._fd, self._size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += written
        if (now := perf_counter()) - self._looked > _LOOK:
            self._looked = now
            self._look()

    def _look(self) -> None:
        """See that the file still has a name."""
        if os.fstat(self._fd).st_nlink == 0:
            self._restore()

    def _restore(self) -> None:
        """The folder was deleted under us; the open file still has every event: put it back."""
        events = os.pread(self._fd, self._size, 0)
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        note = b'{"event":"noted","what":"hole","text":"the folder was deleted during the run; blobs may be missing"}\n'
        os.write(fresh, events + note)
        os.close(self._fd)
        self._fd, self._size = fresh, len(events) + len(note)
        warn(f"the recording's folder was deleted while it was written; restored at {self.path.parent}")

    def _stop(self, error: OSError) -> None:
        self.stopped = error.strerror or str(error)
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, self._size)
            self._reserve.unlink()
        note = f'{{"event":"noted","what":"hole","text":"recording stopped here: {self.stopped}"}}\n'.encode()
        with contextlib.suppress(OSError):
            os.write(self._fd, note)
        warn(f"recording stopped ({self.stopped}) at {self.path.parent}; the program goes on unrecorded")


def warn(text: str) -> None:
    """Say something on standard error, on one line. The program's own warning filters do not apply."""
    with contextlib.suppress(Exception):
        sys.stderr.write(f"reenact: {text}\n")
        sys.stderr.flush()
