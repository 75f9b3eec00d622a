"""Append to the events of a run that was cut off."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from reenact.core.store import chain
from reenact.core.store.writer import Writer
from reenact.errors import UsageError


class ContinuedWriter(Writer):
    """The events file of a run that was cut off, open for appending.

    Events are held back until `release`: a run that cannot be resumed leaves its file as it was.

    Args:
        path: The events file. A torn last line is removed at the release.

    Raises UsageError if another process writes it, or it is of a format without sums.
    """

    def __init__(self, path: Path) -> None:
        self._open(path, 0)
        if not self.alone:
            os.close(self._fd)
            raise UsageError("it is still being written; wait until that program has ended")
        data = path.read_bytes()
        whole, _, torn = data.rpartition(b"\n")
        self._sum = chain.stated(whole.rpartition(b"\n")[2]) or chain.FIRST
        self._size = len(whole) + 1
        # A last line that is complete except for its newline.
        self._last = (
            torn if torn and chain.tail(chain.sum_of(self._sum, chain.content(torn))) in torn else b""
        )
        self._held: list[tuple[bytes, bytes | None]] | None = []
        if not self._sum:
            self.close()
            raise UsageError("it was made by an earlier version, whose lines have no sums; fork it instead")

    def append(self, line: bytes, content: bytes | None = None) -> bool:
        """Append one event, or hold it back."""
        with self._lock:
            if self._held is not None:
                self._held.append((line, content))
                return True
            return super().append(line, content)

    def rewrite(self, change: Callable[[Sequence[bytes]], Sequence[bytes]]) -> bool:
        """Replace events; none while they are held back."""
        with self._lock:
            return self._held is None and super().rewrite(change)

    def release(self, *first: bytes) -> None:
        """Write these events and all that were held back, and from now on each one as it comes."""
        with self._lock:
            held, self._held = self._held, None
            if held is None:
                return
            os.ftruncate(self._fd, self._size)
            if self._last:
                super().append(chain.bare(self._last), None)
            for line in first:
                super().append(line)
            for line, content in held:
                super().append(line, content)
