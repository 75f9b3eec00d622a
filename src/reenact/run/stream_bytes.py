"""Observe the bytes that a program writes to a standard stream's buffer or descriptor."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from types import FrameType
from typing import Any, Protocol

from reenact.adapters import reads
from reenact.adapters.stdlib import callers


class Hearing(Protocol):
    """Counts the text that the code of a frame writes to a stream."""

    def turn(self, caller: FrameType | None) -> AbstractContextManager[Any]:
        """Return the turn in which this code writes."""

    def passed(self, text: str, caller: FrameType | None) -> None:
        """Count a text that this code has written."""


class StreamBytes:
    """Observes `write` of a stream's buffer and `os.write` to its descriptor.

    The stream's own writes there are left out.

    Args:
        stream: The stream of text.
        hearing: Gets the written text.
    """

    def __init__(self, stream: Any, hearing: Hearing) -> None:
        self._stream, self._hearing = stream, hearing
        self._real, self._flush = stream.buffer.write, stream.flush
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    @classmethod
    def of(cls, stream: Any, hearing: Hearing) -> StreamBytes | None:
        """Begin to listen; None for a stream whose bytes cannot be listened to."""
        try:
            found = cls(stream, hearing)
            stream.flush = found._flushed
            stream.buffer.write = found._write
        except (AttributeError, TypeError):
            return None
        with suppress(OSError, ValueError):
            reads.hear(stream.fileno(), found._passed)
        return found

    def uninstall(self) -> None:
        """Stop listening; in the buffer, unless another listener is on top."""
        reads.leave(self._passed)
        with suppress(AttributeError, ValueError):
            if self._stream.buffer.write == self._write and self._stream.flush == self._flushed:
                self._stream.buffer.write, self._stream.flush = self._real, self._flush

    def rest(self) -> str:
        """Return the bytes of an incomplete character."""
        return self._decoder.decode(b"", final=True)

    def _flushed(self) -> None:
        """`flush` of the stream, which writes its text into the buffer."""
        self._flush()

    def _write(self, data: Any) -> Any:
        return self._passed(self._real, data, sys._getframe().f_back)

    def _passed(self, write: Callable[[Any], Any], data: Any, caller: FrameType | None) -> Any:
        own = StreamBytes._write.__code__, StreamBytes._passed.__code__
        while caller is not None and caller.f_code in own:
            caller = caller.f_back
        if caller is None or caller.f_code.co_filename.startswith(callers.OURS):
            return write(data)
        with self._hearing.turn(caller):
            count = write(data)
            self._hearing.passed(self._decoder.decode(bytes(data)[:count]), caller)
        return count
