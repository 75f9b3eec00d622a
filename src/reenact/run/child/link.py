"""The connection of a program under the debugger to the debugger."""

from __future__ import annotations

import fcntl
import os
import socket
from contextlib import suppress
from types import FrameType
from typing import Any

from reenact.run.debugger import wire

_exit = os._exit
# The one of the system: Reenact's own would report the end of the program.


class DebuggerLink:
    """The connection to the debugger."""

    def __init__(self, known: socket.socket) -> None:
        self._socket = known
        self._rest = b""

    @classmethod
    def to(cls, path: str) -> DebuggerLink:
        """Call the debugger."""
        known = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        known.connect(path)
        return cls(known)

    def switch(self, known: socket.socket) -> None:
        """Go on over another connection: this process is a copy of the one that had this."""
        self._socket.close()
        self._socket, self._rest = known, b""

    def watch(self) -> None:
        """Request a signal when the connection changes.

        The debugger may be killed, and a program that never asks again would not notice.
        """
        handle = self._socket.fileno()
        with suppress(OSError):
            fcntl.fcntl(handle, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(handle, fcntl.F_SETFL, fcntl.fcntl(handle, fcntl.F_GETFL) | os.O_ASYNC)

    def moved(self, number: int, frame: FrameType | None) -> None:
        """That signal has come."""
        try:
            gone = self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return
        except OSError:
            gone = True
        if gone:
            _exit(1)

    def send(self, data: bytes, *handles: int) -> None:
        """Send data, with open connections if given."""
        try:
            if handles:
                socket.send_fds(self._socket, [data], handles)
            else:
                self._socket.sendall(data)
        except OSError:
            _exit(1)

    def hear(self) -> dict[str, Any]:
        """Wait for the next message. Where the debugger is gone, so is the program."""
        while b"\n" not in self._rest:
            data = b""
            with suppress(OSError):
                data = self._socket.recv(1 << 16)
            if not data:
                _exit(1)
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\n")
        return wire.parsed(message)
