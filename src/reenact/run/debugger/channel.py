"""Connect the debugger and the program: by a Unix socket on Linux, or loopback and a key.

A program that connects over loopback proves by the first half of the key that this debugger has started it, and sends
its process id; the debugger answers with the second half. The second connection of a process only carries interrupts:
Windows cannot send the signal.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass

from reenact.core import system

_HALF = 32
_PATIENCE = 2.0
_PEER = struct.Struct("3i")
_GREETING = struct.Struct(f"{_HALF}sI?")
"""Half of the key, the process id, and true for the connection that carries interrupts."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A process that has connected."""

    socket: socket.socket
    process: int
    interrupts: bool = False


class DebuggerListener:
    """The debugger's end.

    Args:
        path: The Unix socket to make on Linux.
    """

    def __init__(self, path: str) -> None:
        self._key = b""
        if sys.platform == "linux" and not system.PORTABLE:
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.bind(path)
            self.socket.listen()
            self.address = path
        else:
            self._key = secrets.token_hex(_HALF).encode()
            self.socket = socket.create_server(("127.0.0.1", 0))
            self.address = f"{self.socket.getsockname()[1]}:{self._key.decode()}"

    def accept(self) -> Caller | None:
        """Accept the next connection; return None if it is not the program's."""
        known, _ = self.socket.accept()
        if sys.platform == "linux" and not system.PORTABLE:
            credentials = known.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
            return Caller(known, _PEER.unpack(credentials)[0])
        known.settimeout(_PATIENCE)
        half, process, interrupts = _GREETING.unpack(_exactly(known, _GREETING.size))
        if not hmac.compare_digest(half, self._key[:_HALF]):
            known.close()
            return None
        with suppress(OSError):
            known.sendall(self._key[_HALF:])
        known.settimeout(None)
        return Caller(known, process, interrupts)

    def close(self) -> None:
        """Stop accepting connections."""
        self.socket.close()


def connect(address: str, *, interrupts: bool = False) -> socket.socket:
    """Connect to the debugger. Raises OSError."""
    if sys.platform == "linux" and not system.PORTABLE:
        known = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        known.connect(address)
    else:
        port, _, key = address.partition(":")
        known = socket.create_connection(("127.0.0.1", int(port)), timeout=_PATIENCE)
        known.sendall(_GREETING.pack(key[:_HALF].encode(), os.getpid(), interrupts))
        if not hmac.compare_digest(_exactly(known, _HALF), key[_HALF:].encode()):
            known.close()
            raise ConnectionRefusedError("another program listens in the debugger's place")
        known.settimeout(None)
    return known


def _exactly(known: socket.socket, size: int) -> bytes:
    """Read `size` bytes; fill up a shorter message with zeros."""
    data = b""
    with suppress(OSError):
        while len(data) < size and (more := known.recv(size - len(data))):
            data += more
    return data.ljust(size, b"\0")
