"""Record events beside the effects, in a file of their own in the recording's folder.

A browser session's frames and page events answer no question of the program's. They are kept in a file beside the
events (`session.1.jsonl`), by the same clock, through the same redactor, and no replay reads them.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.record.rewriting import Rewriting, moved_to
from reenact.core.redact import Redactor
from reenact.core.store.writer import Writer
from reenact.core.system import perf_counter


class SidecarFile:
    """One file of events beside the effects, open for appending; any thread may write.

    Args:
        path: The file to create, in the recording's folder.
        redactor: Redacts every line before it is written.
        started: The value of `perf_counter` at the recording's beginning.
    """

    def __init__(self, path: Path, redactor: Redactor, *, started: float) -> None:
        self._writer = Writer(path)
        self._redactor = redactor
        self._started = started
        self._lock = threading.RLock()
        self._moved: dict[bytes, bytes] = {}
        self.path = path

    @property
    def folder(self) -> Path:
        """The recording's folder."""
        return self.path.parent

    def write(self, event: str, *, t: float | None = None, **members: Tree) -> None:
        """Append one line; `t` is in seconds since the recording began, by default now."""
        line = {"event": event, "t": round(self.now() if t is None else t, 6), **members}
        with self._lock:
            data = self._redactor.line(codec.dumps(line))
            # Callers may still use the old addresses of blobs.
            self._writer.append(moved_to(data, self._moved) if self._moved else data)

    def rewrite(self, rewriting: Rewriting) -> None:
        """Take secrets out of the lines so far. Raises OSError."""
        with self._lock:
            self._writer.rewrite(rewriting.lines)
            self._moved |= rewriting.moved

    def blob(self, data: bytes) -> str:
        """Keep bytes unchanged under their hash; return the address, `sha256:…`."""
        return self._writer.blob(data)

    def text(self, text: str) -> str:
        """Keep a text (an accessibility tree, a body) without its secrets; returns its address."""
        return self._writer.blob(self._redactor.raw(text.encode("utf-8", "replace")))

    def raw(self, data: bytes) -> bytes:
        """Return bytes without their secrets."""
        return self._redactor.raw(data)

    def now(self) -> float:
        """Return the seconds since the recording began."""
        return perf_counter() - self._started

    def at(self, epoch: float) -> float:
        """Convert a wall-clock moment (real seconds since 1970) to the recording's time."""
        return self.now() - (time.time() - epoch)

    def close(self) -> None:
        """Sync and close. Harmless when closed."""
        self._writer.close()
