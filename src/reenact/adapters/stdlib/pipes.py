"""The program's ends of the pipes of a command: what is read and written is recorded."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import descriptors, file_uses
from reenact.adapters.stdlib.command import Acts
from reenact.core import system
from reenact.core.boundary import Call, entered


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

    @property
    def answered(self) -> bool:
        """True in a replay: no command writes to it."""
        return not self._acts.real

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        number = int(self._raw.fileno())
        _by_number(self, number)
        return number

    def readinto(self, buffer: Any) -> int | None:
        view = memoryview(buffer).cast("B")
        data = self._some(len(view))
        if data is None:
            return None
        view[: len(data)] = data
        return len(data)

    def take(self, most: int) -> bytes:
        """Return the next bytes, as `os.read`. Raises BlockingIOError."""
        data = self._some(most)
        if data is None:
            raise descriptors.would_block()
        return data

    def watched(self) -> None:
        """An event loop watches the pipe: name it, and refuse it in a replay."""
        _in_loop(self._acts, f"its {self._part}")

    def give(self, data: bytes) -> int:
        """Raise the error of a write to the end of a pipe that is read."""
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def _some(self, most: int) -> bytes | None:
        """Return the next bytes; None if there are none yet and the program does not wait."""
        if not self._left and not self._over:
            if not self._came():
                return None
            self._left = self._next(most)
        data, self._left = self._left[:most], self._left[most:]
        return data

    def _came(self) -> bool:
        number = self._raw.fileno()
        if descriptors.blocks(number):
            return True
        return bool(self._acts.draw(f"{self._part} came", lambda: descriptors.can_read(number, 0)))

    def _next(self, most: int) -> bytes:
        if self._call is None:
            self._call = self._acts.begin(self._part)
            if self._call is None:
                # Within another effect, which is answered whole.
                return self._read(most)
            if self._call.answer is not None:
                self._recorded = _pieces(self._call)
            else:
                self._call.returned(None, stream=True)
        if self._recorded is not None:
            try:
                data = next(self._recorded, b"")
            except BaseException:
                # A signal's handler raised it: the program may read on.
                self._recorded = _pieces(self._call)
                raise
        else:
            # The program waits: other threads may go on, and signals be delivered.
            self._call.scope.run.turnstile.settle()
            with entered(self._call.inner):
                data = self._read(most)
            if data:
                self._call.chunk(data)
                file_uses.command_printed(self._call)
            else:
                self._call.over()
        self._over = not data
        return data

    def _read(self, most: int) -> bytes:
        return os.read(self._raw.fileno(), most)

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

    @property
    def answered(self) -> bool:
        """True in a replay: no command reads from it."""
        return not self._acts.real

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        number = int(self._raw.fileno())
        _by_number(self, number)
        return number

    def write(self, data: Any) -> int:
        return self.give(bytes(data))

    def watched(self) -> None:
        """An event loop watches the pipe: name it, and refuse it in a replay."""
        _in_loop(self._acts, "its input")

    def take(self, most: int) -> bytes:
        """Raise the error of a read from the end of a pipe that is written."""
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def give(self, data: bytes) -> int:
        """Write bytes, as `os.write`; return their number. Raises OSError."""
        number = self._raw.fileno()
        written: int = self._acts.perform("input", lambda: os.write(number, data), data=data)
        return written

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _Number:
    """A descriptor that is the program's to close."""

    def __init__(self, number: int) -> None:
        self._number = number

    def fileno(self) -> int:
        return self._number

    def close(self) -> None:
        """Leave it open."""


class _TerminalOutput(CommandOutput):
    """The output of a terminal: on Linux its end is an error."""

    def _read(self, most: int) -> bytes:
        try:
            return super()._read(most)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return b""


class TerminalEnd:
    """The program's end of a terminal at which a command works.

    Args:
        number: The program's descriptor.
        acts: The command's acts.
    """

    def __init__(self, number: int, acts: Acts) -> None:
        self._output = _TerminalOutput(_Number(number), acts, "output")
        self._input = CommandInput(_Number(number), acts)
        self._acts = acts

    @property
    def answered(self) -> bool:
        """True in a replay: no command works at it."""
        return self._output.answered

    def take(self, most: int) -> bytes:
        """Return the next bytes, as `os.read`. Raises OSError."""
        data = self._output.take(most)
        if not data and system.LINUX:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return data

    def give(self, data: bytes) -> int:
        """Write bytes, as `os.write`; return their number. Raises OSError."""
        return self._input.give(data)

    def watched(self) -> None:
        """An event loop watches the terminal: name it, and refuse it in a replay."""
        _in_loop(self._acts, "its terminal")

    def mode(self, now: Callable[[], Any]) -> Any:
        """Return the terminal's mode, which the command may change."""
        return self._acts.draw("mode", now)


def _pieces(call: Call) -> Iterator[bytes]:
    call.recorded.serve()
    yield from call.recorded.pieces()


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


def _by_number(end: descriptors.CommandEnd, number: int) -> None:
    """The program takes the number of a pipe: it may read or write by it, and wait for it."""
    name = str(sys._getframe(2).f_globals.get("__name__", ""))
    if name in ("subprocess", "io", __name__):
        return
    if name.partition(".")[0] == "asyncio":
        end.watched()
    else:
        descriptors.register(number, end)


def _in_loop(acts: Acts, what: str) -> None:
    """Name a pipe that an event loop watches, past the recording; refuse it in a replay."""
    if (scope := listening()) is None:
        return
    title = acts.command.title
    if scope.run.replaying and not acts.real:
        raise scope.run.handler.refuse(
            f"{scope.path}/process:{title}",
            f"an event loop watches {what}, which has no recorded answers ({title})",
            "start it by asyncio.create_subprocess_exec, or let it run: live=['process']",
        )
    if not scope.run.replaying:
        scope.run.handler.note(
            "unrecorded", f"an event loop watches a pipe of {title}: a replay needs --live process"
        )
