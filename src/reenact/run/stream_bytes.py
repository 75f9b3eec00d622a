"""Hear what a program writes into the bytes below `sys.stdout`, past its text."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from reenact.adapters.stdlib import callers
from reenact.core.model.event import Tree

_KEPT = 64 * 1024


class StreamBytes:
    """Records the `write` of a stream's buffer, without what the stream itself writes there.

    Args:
        stream: The stream of text. Its own writes come from `Output`.
        counts: Returns False for what is not to be counted.
    """

    def __init__(self, stream: Any, counts: Callable[[], bool]) -> None:
        self._stream, self._counts = stream, counts
        self._real, self._flush = stream.buffer.write, stream.flush
        self.again()

    @classmethod
    def of(cls, stream: Any, counts: Callable[[], bool]) -> StreamBytes | None:
        """Begin to listen; None for a stream whose bytes cannot be listened to."""
        try:
            found = cls(stream, counts)
            stream.flush = found._flushed
            stream.buffer.write = found._write
        except (AttributeError, TypeError):
            return None
        return found

    def uninstall(self) -> None:
        """Stop listening, unless another listener is on top."""
        with suppress(AttributeError, ValueError):
            if self._stream.buffer.write == self._write and self._stream.flush == self._flushed:
                self._stream.buffer.write, self._stream.flush = self._real, self._flush

    def again(self) -> None:
        """Count from here on, and forget what was written."""
        self._hash, self._length, self._kept = hashlib.sha256(), 0, b""

    def tree(self) -> dict[str, Tree]:
        """Return what was written, for the recording's seal."""
        text = self._kept.decode("utf-8", "replace")
        return {"sha256": self._hash.hexdigest(), "length": self._length, "text": text}

    def _flushed(self) -> None:
        """`flush` of the stream, which writes its text into the buffer."""
        self._flush()

    def _write(self, data: Any) -> Any:
        count = self._real(data)
        caller = sys._getframe().f_back
        while caller is not None and caller.f_code is StreamBytes._write.__code__:
            caller = caller.f_back
        if caller is not None and not caller.f_code.co_filename.startswith(callers.OURS) and self._counts():
            written = bytes(data)[:count]
            self._hash.update(written)
            self._length += len(written)
            self._kept += written[: _KEPT - len(self._kept)]
        return count
