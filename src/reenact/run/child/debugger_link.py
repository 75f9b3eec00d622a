"""The connection of a program under the debugger to the debugger."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from _thread import interrupt_main
from contextlib import suppress
from types import FrameType
from typing import Any

from reenact.core import system
from reenact.core.boundary import entered
from reenact.run.debugger import debugger_protocol
from reenact.run.debugger.channel import connect

if sys.platform != "win32":
    import fcntl


_exit = os._exit
# The system's `_exit`: Reenact's would report the end of the program.


class DebuggerLink:
    """The connection to the debugger."""

    def __init__(self, known: socket.socket, interrupts: socket.socket | None) -> None:
        self._socket = known
        self._interrupts = interrupts
        self._rest = b""

    @classmethod
    def to(cls, address: str) -> DebuggerLink:
        """Call the debugger."""
        known = connect(address)
        return cls(known, None if system.LINUX else connect(address, interrupts=True))

    def switch(self, known: socket.socket) -> None:
        """Use another connection: this process is a copy of the one that had the old one."""
        self._socket.close()
        self._socket, self._rest = known, b""

    def watch(self) -> None:
        """Let the process end with the debugger, also if the debugger is killed.

        On Linux a signal comes when the connection changes; elsewhere a thread waits for interrupts and the end.
        """
        if self._interrupts is not None:
            waiting = threading.Thread(target=self._wait, name="reenact-debugger", daemon=True)
            waiting.reenact_own = True  # type: ignore[attr-defined]
            with entered(None):
                waiting.start()
        elif sys.platform == "linux":
            signal.signal(signal.SIGIO, self._moved)
            handle = self._socket.fileno()
            with suppress(OSError):
                fcntl.fcntl(handle, fcntl.F_SETOWN, os.getpid())
                fcntl.fcntl(handle, fcntl.F_SETFL, fcntl.fcntl(handle, fcntl.F_GETFL) | os.O_ASYNC)

    def _moved(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal: an interrupt, or the end of the debugger."""
        if sys.platform == "linux":
            try:
                gone = self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
            except BlockingIOError:
                return
            except OSError:
                gone = True
            if gone:
                _exit(1)

    def _wait(self) -> None:
        """Interrupt the main thread for each byte that comes."""
        assert self._interrupts is not None
        while True:
            data = b""
            with suppress(OSError):
                data = self._interrupts.recv(1)
            if not data:
                _exit(1)
            interrupt_main(system.INTERRUPT)

    def send(self, data: bytes, *handles: int) -> None:
        """Send data, with open connections if given."""
        try:
            if sys.platform != "win32" and handles:
                socket.send_fds(self._socket, [data], handles)
            else:
                self._socket.sendall(data)
        except OSError:
            _exit(1)

    def hear(self) -> dict[str, Any]:
        """Return the next message. Without the debugger, end the program."""
        while b"\n" not in self._rest:
            data = b""
            with suppress(OSError):
                data = self._socket.recv(1 << 16)
            if not data:
                _exit(1)
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\n")
        return debugger_protocol.parsed(message)
