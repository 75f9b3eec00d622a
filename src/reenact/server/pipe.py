"""Exchange messages between a server and a process that it started, over stdin and stdout.

All systems have these two pipes, so no descriptor must be passed, and no socket is open to others.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

_LENGTH = struct.Struct("!Q")


class MessagePipe:
    """One end.

    Args:
        reading: The descriptor of the pipe to read from. Both are closed by `close`.
        writing: The descriptor of the pipe to write to.
    """

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing

    @classmethod
    def of_this_process(cls) -> MessagePipe:
        """Use standard input and output; from now on, print to standard error."""
        pipe = cls(os.dup(0), os.dup(1))
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        return pipe

    def send(self, data: bytes) -> None:
        """Send a message. Raises OSError if the other end is closed."""
        for part in (_LENGTH.pack(len(data)), data):
            rest = memoryview(part)
            while rest:
                rest = rest[os.write(self._writing, rest) :]

    def receive(self) -> bytes:
        """Wait for a message. Raises EOFError at the end, or OSError."""
        return self._read(_LENGTH.unpack(self._read(_LENGTH.size))[0])

    def close(self) -> None:
        """Close both pipes."""
        os.close(self._reading)
        os.close(self._writing)

    def _read(self, size: int) -> bytes:
        parts = []
        while size:
            part = os.read(self._reading, min(size, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
