"""Descriptors of the program's ends of pipes and terminals to its commands.

Reads and writes by such a number are recorded as those of the command's streams are. In a replay, no command is at the
other end of the pipe or terminal, so it must not be read for real.
"""

from __future__ import annotations

import errno
import os
import select
import sys
from contextlib import suppress
from typing import Any, Protocol

from reenact.core.boundary import current


class CommandEnd(Protocol):
    """The program's end of a pipe or terminal of a command."""

    @property
    def answered(self) -> bool:
        """True in a replay: no command is at the other end."""
        ...

    def take(self, most: int) -> bytes:
        """Return the next bytes, as `os.read`. Raises OSError as that does."""
        ...

    def give(self, data: bytes) -> int:
        """Write bytes, as `os.write`; return their number. Raises OSError as that does."""
        ...

    def watched(self) -> None:
        """Note that an event loop watches it, which is not recorded."""
        ...


_Identity = tuple[int, int, int]
_ends: dict[int, tuple[_Identity, CommandEnd]] = {}
_terminals: dict[int, int] = {}
"""The program's numbers of terminals, by the devices that their commands see."""


def register(number: int, end: CommandEnd) -> None:
    """Note that the program uses this end by its number from now on."""
    _ends[number] = _identity(number), end


def forget(number: int) -> None:
    """Note that the number is now that of another file."""
    _ends.pop(number, None)


def paired(ours: int, theirs: int) -> None:
    """Note that the program has made a terminal, with its own end and that for a command."""
    forget(ours)
    _terminals[_identity(theirs)[2]] = ours


def terminal_of(handle: Any) -> int | None:
    """Return the program's number of a terminal that a command gets; None for other handles."""
    with suppress(OSError, ValueError, AttributeError, TypeError):
        number = handle if isinstance(handle, int) else handle.fileno()
        if _terminals and number > 2 and os.isatty(number):
            return _terminals.get(_identity(number)[2])
    return None


def end_of(thing: Any) -> CommandEnd | None:
    """Return the end of a command with that number, or of a stream with it; None for others."""
    scope = current() if _ends or not isinstance(thing, int) else None
    if scope is None or scope.hidden:
        return None
    found = None
    with suppress(OSError, ValueError, AttributeError, TypeError):
        # A command's stream registers itself when its number is asked for.
        number = thing if isinstance(thing, int) else thing.fileno()
        found = _ends.get(number)
        if found is not None and found[0] != _identity(number):
            forget(number)
            found = None
    return None if found is None else found[1]


def blocks(number: int) -> bool:
    """Return True if a read of this number waits for something to read."""
    if sys.platform != "win32":
        with suppress(OSError):
            return os.get_blocking(number)
    return True


_poll: Any = getattr(select, "poll", None)
_select = select.select


def can_read(thing: Any, seconds: float | None) -> bool:
    """Wait for the given seconds, None: without end; return True if there is something to read."""
    if sys.platform != "win32" and hasattr(select, "poll"):
        poll = _poll()
        poll.register(thing, select.POLLIN)
        return bool(poll.poll(None if seconds is None else seconds * 1000))
    return bool(_select([thing], [], [], seconds)[0])


def would_block() -> BlockingIOError:
    """Return the error of a read that finds nothing."""
    return BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def _identity(number: int) -> _Identity:
    status = os.fstat(number)
    return status.st_dev, status.st_ino, getattr(status, "st_rdev", 0)
