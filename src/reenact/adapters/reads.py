"""Reads from sockets and pipes that other threads write to: each has its turn."""

from __future__ import annotations

import io
import os
import select
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from sys import _getframe
from types import FrameType
from typing import Any
from weakref import WeakSet

from reenact.adapters.deadlines import Deadline, TooLate
from reenact.adapters.hooks import Replace
from reenact.adapters.readiness import own_wait, resting
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers, early
from reenact.adapters.stdlib.descriptors import can_read, end_of
from reenact.adapters.stdlib.pipes import again
from reenact.core.boundary.running_loop import running_loop

_LENGTH = "threads:length"
"""The source of the lengths of what was read from a pipe."""

_read, _write, _fdopen = os.read, os.write, os.fdopen

Heard = Callable[..., int]
"""Performs a write; gets the function that writes, the bytes, and the frame of the `caller`."""

_accepted: WeakSet[Any] = WeakSet()
"""The connections that servers of libraries have accepted in runs of several processes.

Another process may write to them at any time: how many reads a request takes depends on that.
"""

_heard: list[tuple[int, Heard]] = []


def install() -> None:
    """Patch reads of pipes."""
    if hasattr(select, "poll"):
        early.replace(os, "read", _of_number)
        early.replace(os, "write", _written)
        early.replace(os, "fdopen", _opened)


def install_in_sockets(replace: Replace, kind: Any) -> None:
    """Patch the reads of a class of sockets.

    Args:
        replace: Replaces an owner's attribute by `wrapper(original, *args)`.
        kind: The class.
    """
    for name in ("recv", "recv_into", "recvfrom", "recvfrom_into", "accept"):
        replace(kind, name, partial(_of_socket, name))


def _of_socket(what: str, original: Callable[..., Any], thing: Any, *args: Any, **options: Any) -> Any:
    """`recv` and `accept` of a socket."""
    scope = listening()
    if running_loop() is not None or scope is None:
        return original(thing, *args, **options)
    limit = thing.gettimeout()
    own = limit != 0 and thing.fileno() >= 0 and thing not in _accepted
    limited = own_wait(what, limit, _getframe(2)) if own else None
    if limited is None:
        with resting():
            found = original(thing, *args, **options)
        if what == "accept" and scope.run.family is not None and scope.run.family.several:
            _accepted.add(found[0])
        return found
    try:
        _readable(limited, thing, limit)
    except TooLate:
        raise TimeoutError("timed out") from None
    return original(thing, *args, **options)


def _of_number(fd: int, length: int, /) -> bytes:
    if listening() is None:
        return _read(fd, length)
    end = end_of(fd)
    if end is not None:
        return end.take(length)
    if running_loop() is not None or not _blocks(fd):
        return _read(fd, length)
    return _of_pipe(fd, length, _getframe(1))


def hear(number: int, heard: Heard) -> None:
    """Call `heard` for each `os.write` to this number."""
    _heard.append((number, heard))


def leave(heard: Heard) -> None:
    """Stop calling `heard`."""
    _heard[:] = [each for each in _heard if each[1] != heard]


def _written(fd: int, data: Any, /) -> int:
    end = end_of(fd)
    if end is not None:
        return end.give(bytes(data))
    write: Callable[[Any], int] = partial(_write, fd)
    for number, heard in _heard:
        if number == fd:
            write = partial(heard, write, caller=_getframe().f_back)
    return write(data)


def _of_pipe(fd: int, length: int, caller: FrameType | None) -> bytes:
    limited = own_wait("read", None, caller)
    if limited is None:
        with resting():
            return _read(fd, length)
    _readable(limited, fd, None)
    handler, scope = limited.scope.run.handler, limited.scope
    if not scope.run.replaying or handler.gone_live:
        data = _read(fd, length)
        handler.draw(scope, _LENGTH, lambda: len(data))
        return data
    # Read as many bytes as were recorded, in however many pieces the other end writes them.
    wanted = handler.draw(scope, _LENGTH, lambda: None)
    if not isinstance(wanted, int) or not 0 < wanted <= length:
        return _read(fd, length)
    data = b""
    with resting():
        while len(data) < wanted and (piece := _read(fd, wanted - len(data))):
            data += piece
    return data


class _PipeFile(io.RawIOBase):
    """The raw stream of a file that the program opens on a pipe (`os.fdopen`)."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def readable(self) -> bool:
        return bool(self._raw.readable())

    def writable(self) -> bool:
        return bool(self._raw.writable())

    def fileno(self) -> int:
        return int(self._raw.fileno())

    def readinto(self, buffer: Any) -> int | None:
        view = memoryview(buffer).cast("B")
        end = end_of(self._raw.fileno())
        if end is not None:
            try:
                data = end.take(len(view))
            except BlockingIOError:
                return None
        elif listening() is None or running_loop() is not None:
            data = _read(self._raw.fileno(), len(view))
        else:
            data = _of_pipe(self._raw.fileno(), len(view), _getframe(1))
        view[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int:
        return _written(self._raw.fileno(), data)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


def _opened(fd: int, mode: str = "r", buffering: int = -1, *args: Any, **options: Any) -> Any:
    """`os.fdopen`."""
    stream = _fdopen(fd, mode, buffering, *args, **options)
    if end_of(fd) is not None:
        return again(stream, _PipeFile, buffering)
    reads = listening() is not None and "r" in mode and "+" not in mode and callers.program(_getframe(1))
    return again(stream, _PipeFile, buffering) if reads and _blocks(fd) else stream


def _blocks(fd: int) -> bool:
    if sys.platform != "win32":
        with suppress(OSError, TypeError):
            mode = os.fstat(fd).st_mode
            return (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)) and os.get_blocking(fd)
    return False


def _readable(limited: Deadline, thing: Any, limit: float | None) -> None:
    """Wait until there is something to read, in this thread's turn. Raises `TooLate`."""

    def attempt(seconds: float | None) -> None:
        if not can_read(thing, seconds):
            raise TooLate

    met = limited.recorded()
    if met is None:
        with resting():
            came = can_read(thing, limit)
        limited.over(came)
        met = came
    elif met:
        limited.until(attempt)
    if not met:
        raise TooLate
