"""Record standard input as an effect, so that a replay needs no typing."""

from __future__ import annotations

import builtins
import io
import sys
from collections.abc import Callable
from typing import Any, Protocol

from reenact.core import boundary
from reenact.core.model.event import Effect

_READ = Effect("input", "stdin", {}, leaf=True)


class InputComparison(Protocol):
    """Compares recorded input with the present input of the process."""

    def compare(self, raw: Any, recorded: bytes, call: boundary.Call) -> None:
        """Compare the input that a recorded call has read. Raises `Halt` for a difference."""


class _Raw(io.RawIOBase):
    """The bytes below `sys.stdin`, read through the boundary."""

    name = "<stdin>"
    mode = "rb"

    def __init__(self, raw: Any, *, tty: bool, compare: InputComparison | None) -> None:
        super().__init__()
        self._raw = raw
        self._tty = tty
        self._rest = b""
        self._compare = compare

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._raw.fileno())

    def isatty(self) -> bool:
        return self._tty

    def readinto(self, buffer: Any) -> int | None:
        size = len(buffer)
        if not self._rest:
            data = self._read(size)
            if data is None:
                return None
            self._rest = data
        now, self._rest = self._rest[:size], self._rest[size:]
        buffer[: len(now)] = now
        return len(now)

    def _read(self, size: int) -> bytes | None:
        calls: list[boundary.Call] = []
        data: bytes | None = boundary.perform(_READ, lambda: self._raw.read(size), begun=calls.append)
        if self._compare is not None and data is not None and calls and calls[0].answer is not None:
            self._compare.compare(self._raw, data, calls[0])
        return data


def install(
    show: Callable[[str], Any], *, tty: bool | None = None, compare: InputComparison | None = None
) -> None:
    """Read standard input through the boundary.

    Args:
        show: Writes the recorded input to the screen.
        tty: It was a terminal in the recording.
        compare: In a replay, compares the recorded input with the present one.
    """
    given = sys.stdin
    raw = getattr(getattr(given, "buffer", None), "raw", None)
    if raw is None:
        return
    here = given.isatty() if tty is None else tty
    stream = io.TextIOWrapper(
        io.BufferedReader(_Raw(raw, tty=here, compare=compare)),
        encoding=given.encoding,
        errors=given.errors,
        line_buffering=bool(given.line_buffering),
    )
    stream.mode = "r"  # type: ignore[misc]
    sys.stdin = stream
    ask = builtins.input

    def asked(prompt: object = "", /) -> str:
        if sys.stdin is not stream or boundary.current() is None:
            return ask(prompt)
        return _typed(ask, str(prompt), show) if here else _line(str(prompt))

    asked.__doc__, asked.__module__ = ask.__doc__, ask.__module__
    asked.__name__ = asked.__qualname__ = "input"
    builtins.input = asked


def _line(prompt: str) -> str:
    """Read a line as the built-in `input` does without a terminal."""
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError("EOF when reading a line")
    return line.removesuffix("\n")


def _typed(ask: Callable[[object], str], prompt: str, show: Callable[[str], Any]) -> str:
    live = False

    def really() -> str:
        nonlocal live
        live = True
        return ask(prompt)

    try:
        text = boundary.perform(Effect("input", "terminal", {"prompt": prompt}, leaf=True), really)
    except EOFError:
        if not live:
            show(prompt)
        raise
    if not live:
        show(f"{prompt}{text}\n")
    return text


def is_terminal() -> bool:
    """Return True if standard input is a terminal."""
    try:
        return sys.stdin is not None and sys.stdin.isatty()
    except ValueError:
        return False
