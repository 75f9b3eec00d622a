"""Waits of threads for sockets and pipes that other threads of the program write to.

What a selector reports to the program, and each time that the program reads from a socket or pipe, has its turn among
all other events: the reader goes on after what was written before, and sees no more. The line is that of a wait with a
time limit. A replay takes the recorded turn first, and then waits until the recorded things are ready.

Waits in libraries (a server's loop, a pool's watcher) have no turn; such a thread counts as one that rests.
"""

from __future__ import annotations

import asyncio
import io
import os
import select
import selectors
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from sys import _getframe
from types import FrameType
from typing import Any

from reenact.adapters.deadlines import Deadline, TooLate, deadline, pause
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers, early
from reenact.adapters.stdlib.pipes import again

_READY = "threads:ready"
"""The source of the places of what was ready."""

_LENGTH = "threads:length"
"""The source of the lengths of what was read from a pipe."""

_UNLIMITED = 2.0
_MOMENT = 0.02
_MOST = 4096
_select, _read, _fdopen = select.select, os.read, os.fdopen

Replace = Callable[[Any, str, Callable[..., Any]], None]


def install(replace: Replace) -> None:
    """Patch selectors, and reads of sockets and pipes.

    Args:
        replace: Puts `wrapper(original, *args)` in the place of an owner's attribute.
    """
    for name in ("SelectSelector", "_PollLikeSelector", "EpollSelector", "KqueueSelector"):
        kind = getattr(selectors, name, None)
        if kind is not None:
            replace(kind, "select", _of_selector)
    for name in ("recv", "recv_into", "recvfrom", "recvfrom_into", "accept"):
        replace(socket.socket, name, partial(_of_socket, name))
    early.replace(select, "select", _of_lists)
    if hasattr(select, "poll"):
        early.replace(os, "read", _of_number)
        early.replace(os, "fdopen", _opened)


@contextmanager
def resting() -> Iterator[None]:
    """Count this thread as one that rests while the body runs."""
    scope = listening()
    if scope is None:
        yield
        return
    scope.run.turnstile.blocks()
    try:
        yield
    finally:
        scope.run.turnstile.unblocks()


def _wait(what: str, limit: float | None, caller: FrameType | None) -> Deadline | None:
    """Return the wait if it is the program's own; its scope is that of the thread."""
    while caller is not None and caller.f_code.co_filename == socket.__file__:
        caller = caller.f_back
    if caller is None:
        return None
    return deadline(what, _UNLIMITED if limit is None else max(limit, 0.0), caller, callers.program)


# -- selectors -----------------------------------------------------------------------------------------------


def _of_selector(original: Callable[..., Any], selector: Any, timeout: float | None = None) -> Any:
    """`select` of a selector."""
    if asyncio._get_running_loop() is not None or listening() is None:
        return original(selector, timeout)
    limited = _wait("select", timeout, _getframe(2))
    if limited is None:
        with resting():
            return original(selector, timeout)
    keys = list(selector.get_map().values())
    places = {key.fd: place for place, key in enumerate(keys)}

    def now(seconds: float | None) -> dict[tuple[int, int], Any]:
        return {(places[key.fd], mask): (key, mask) for key, mask in original(selector, seconds)}

    return _ready(limited, timeout, now, list)


def _of_lists(
    reading: Any, writing: Any, exceptional: Any, timeout: float | None = None, /
) -> tuple[list[Any], list[Any], list[Any]]:
    if asyncio._get_running_loop() is not None or listening() is None:
        return _select(reading, writing, exceptional, timeout)
    limited = _wait("select", timeout, _getframe(1))
    if limited is None:
        with resting():
            return _select(reading, writing, exceptional, timeout)
    given = [list(part) for part in (reading, writing, exceptional)]

    def now(seconds: float | None) -> dict[tuple[int, int], Any]:
        found = _select(given[0], given[1], given[2], seconds)
        return {
            (_place(given[number], item), number): (number, item)
            for number, part in enumerate(found)
            for item in part
        }

    def lists(found: Any) -> tuple[list[Any], list[Any], list[Any]]:
        split: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
        for number, item in found:
            split[number].append(item)
        return split

    return _ready(limited, timeout, now, lists)  # type: ignore[no-any-return]


def _place(items: list[Any], sought: Any) -> int:
    return next(place for place, item in enumerate(items) if item is sought)


def _ready(
    limited: Deadline,
    timeout: float | None,
    now: Callable[[float | None], dict[tuple[int, int], Any]],
    answer: Callable[[Any], Any],
) -> Any:
    """Wait for what is ready; in a replay for what was.

    Args:
        limited: The wait.
        timeout: The time limit that the program gives.
        now: Waits for the given seconds; returns what is ready by its place and kind.
        answer: Makes the result.
    """
    scope, handler = limited.scope, limited.scope.run.handler
    met = limited.recorded()
    if met is None:
        with resting():
            found = now(timeout)
        text = ",".join(f"{place}:{kind}" for place, kind in found)
        write = (lambda: handler.draw(scope, _READY, lambda: text)) if found else None
        limited.over(bool(found), write)
        return answer(found.values())
    if not met:
        return answer([])
    wanted = _parsed(handler.draw(scope, _READY, str))

    def attempt(seconds: float) -> dict[tuple[int, int], Any]:
        found = now(seconds)
        if not found.keys() >= set(wanted):
            # Other things are ready, and would be at once again.
            pause(_MOMENT)
            raise TooLate
        return found

    found = limited.until(attempt)
    return answer([found[key] for key in wanted])


def _parsed(text: Any) -> list[tuple[int, int]]:
    """Read the places of a recording; ignore what is none."""
    found = []
    for word in text.split(",")[:_MOST] if isinstance(text, str) else ():
        place, _, kind = word.partition(":")
        if all(part.isascii() and part.isdigit() and len(part) < 10 for part in (place, kind)):
            found.append((int(place), int(kind)))
    return found


# -- reading -------------------------------------------------------------------------------------------------


def _of_socket(what: str, original: Callable[..., Any], thing: Any, *args: Any, **options: Any) -> Any:
    """`recv` and `accept` of a socket."""
    if asyncio._get_running_loop() is not None or listening() is None:
        return original(thing, *args, **options)
    limit = thing.gettimeout()
    limited = _wait(what, limit, _getframe(2)) if limit != 0 and thing.fileno() >= 0 else None
    if limited is None:
        with resting():
            return original(thing, *args, **options)
    try:
        _readable(limited, thing, limit)
    except TooLate:
        raise TimeoutError("timed out") from None
    return original(thing, *args, **options)


def _of_number(fd: int, length: int, /) -> bytes:
    if listening() is None or asyncio._get_running_loop() is not None or not _blocks(fd):
        return _read(fd, length)
    return _of_pipe(fd, length, _getframe(1))


def _of_pipe(fd: int, length: int, caller: FrameType | None) -> bytes:
    limited = _wait("read", None, caller)
    if limited is None:
        with resting():
            return _read(fd, length)
    _readable(limited, fd, None)
    handler, scope = limited.scope.run.handler, limited.scope
    if not scope.run.replaying or handler.gone_live:
        data = _read(fd, length)
        handler.draw(scope, _LENGTH, lambda: len(data))
        return data
    # What the other end writes in several pieces comes in the recorded ones, whatever their moments.
    wanted = handler.draw(scope, _LENGTH, lambda: None)
    if not isinstance(wanted, int) or not 0 < wanted <= length:
        return _read(fd, length)
    data = b""
    with resting():
        while len(data) < wanted and (piece := _read(fd, wanted - len(data))):
            data += piece
    return data


class _PipeFile(io.RawIOBase):
    """The raw stream of a file that the program makes of a pipe it reads from (`os.fdopen`)."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._raw.fileno())

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        if listening() is None or asyncio._get_running_loop() is not None:
            data = _read(self._raw.fileno(), len(view))
        else:
            data = _of_pipe(self._raw.fileno(), len(view), _getframe(1))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


def _opened(fd: int, mode: str = "r", buffering: int = -1, *args: Any, **options: Any) -> Any:
    """`os.fdopen`."""
    stream = _fdopen(fd, mode, buffering, *args, **options)
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
        if not _can_read(thing, seconds):
            raise TooLate

    met = limited.recorded()
    if met is None:
        with resting():
            came = _can_read(thing, limit)
        limited.over(came)
        met = came
    elif met:
        limited.until(attempt)
    if not met:
        raise TooLate


def _can_read(thing: Any, seconds: float | None) -> bool:
    if sys.platform != "win32" and hasattr(select, "poll"):
        poll = select.poll()
        poll.register(thing, select.POLLIN)
        return bool(poll.poll(None if seconds is None else seconds * 1000))
    return bool(_select([thing], [], [], seconds)[0])
