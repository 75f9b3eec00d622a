"""The program's ends of the pipes of a command: what is read and written is recorded."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from reenact.adapters.stdlib.command import Acts
from reenact.core.boundary import Call, current, entered


class CommandOutput(io.RawIOBase):
    """The raw stream of a command's output: each piece that is read is recorded."""

    def __init__(self, raw: Any, acts: Acts, part: str) -> None:
        self._raw = raw
        self._acts = acts
        self._part = part
        self._call: Call | None = None
        self._recorded: Iterator[bytes] | None = None
        self._left = b""
        self._over = False
        self.reenact_pipe = acts.command.title

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        _note_number(self._acts, f"its {self._part}")
        return int(self._raw.fileno())

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        if not self._left and not self._over:
            self._left = self._next(len(view))
        data, self._left = self._left[: len(view)], self._left[len(view) :]
        view[: len(data)] = data
        return len(data)

    def _next(self, most: int) -> bytes:
        if self._call is None:
            self._call = self._acts.begin(self._part)
            if self._call is None:
                # Within another effect, which is answered whole.
                return os.read(self._raw.fileno(), most)
            if self._call.answer is not None:
                self._recorded = _pieces(self._call)
            else:
                self._call.returned(None, stream=True)
        if self._recorded is not None:
            data = next(self._recorded, b"")
        else:
            with entered(self._call.inner):
                data = os.read(self._raw.fileno(), most)
            if data:
                self._call.chunk(data)
            else:
                self._call.over()
        self._over = not data
        return data

    def close(self) -> None:
        if not self.closed:
            if self._call is not None and self._call.answer is None and not self._over:
                self._call.close()
            self._raw.close()
        super().close()


class CommandInput(io.RawIOBase):
    """The raw stream of a command's input: each piece that is written is an effect."""

    def __init__(self, raw: Any, acts: Acts) -> None:
        self._raw = raw
        self._acts = acts

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        _note_number(self._acts, "its input")
        return int(self._raw.fileno())

    def write(self, data: Any) -> int:
        piece = bytes(data)
        number = self._raw.fileno()
        written: int = self._acts.perform("input", lambda: os.write(number, piece), data=piece)
        return written

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


def _pieces(call: Call) -> Iterator[bytes]:
    call.serve()
    yield from call.pieces()


def again(stream: Any, raw: Callable[[Any], Any], bufsize: int) -> Any:
    """Return the same stream, text or binary, over another raw stream."""
    text = stream if isinstance(stream, io.TextIOWrapper) else None
    how = (text.encoding, text.errors, text.line_buffering, text.write_through) if text is not None else None
    binary = stream.detach() if text is not None else stream
    inner = raw(binary.detach() if isinstance(binary, (io.BufferedReader, io.BufferedWriter)) else binary)
    size = bufsize if bufsize > 1 else io.DEFAULT_BUFFER_SIZE
    if bufsize == 0 and how is None:
        return inner
    outer: Any = io.BufferedReader(inner, size) if inner.readable() else io.BufferedWriter(inner, size)
    if how is None:
        return outer
    return io.TextIOWrapper(outer, how[0], how[1], line_buffering=how[2], write_through=how[3])


def _note_number(acts: Acts, what: str) -> None:
    """Name a pipe that is used by its number, past the recording; refuse it in a replay."""
    frame = sys._getframe(2)
    scope = current()
    if scope is None or scope.hidden or frame.f_globals.get("__name__") in ("subprocess", "io", __name__):
        return
    title = acts.command.title
    if scope.run.replaying and not acts.real:
        raise scope.run.handler.refuse(
            f"{scope.path}/process:{title}",
            f"the program uses {what} by the number of its pipe, which has no recorded answers ({title})",
            "read and write the streams themselves, or let it run: live=['process']",
        )
    if not scope.run.replaying:
        scope.run.handler.note(
            "unrecorded", f"the program uses a pipe of {title} by its number: a replay needs --live process"
        )
