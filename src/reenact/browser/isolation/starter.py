"""Write the program that starts a browser, and receive its pipes and its socket."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

if sys.platform != "win32":
    from reenact.browser.isolation.start import short

START = Path(__file__).with_name("start.py")
_PATIENCE = 20.0


class Starter:
    """A program in a folder that becomes the browser; Playwright starts it as the browser.

    Args:
        folder: Where its files are written; other users must not be able to write there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._channel: socket.socket | None = None

    @property
    def program(self) -> str:
        """The path of the program."""
        return str(self._folder / "start")

    def write(
        self,
        command: Sequence[str],
        environ: Mapping[str, str] | None,
        *,
        user: int | None = None,
        port: int = 0,
        protocol: bool = False,
        channel: bool = True,
    ) -> None:
        """Write the program, or replace it.

        Args:
            command: The browser, and the arguments before Playwright's.
            environ: Its whole environment; None for that of this process.
            user: The number of the user that it becomes; None for this user.
            port: The proxy's port in its own network; 0 if it has none.
            protocol: True if messages between Playwright and the browser pass through this process.
            channel: True if this process waits for descriptors.

        Raises:
            OSError: It cannot be written.
        """
        self.close()
        path = self._folder / "channel"
        if sys.platform != "win32" and channel and (port or protocol):
            self._channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            with short(str(path)) as name:
                self._channel.bind(name)
            self._channel.listen(1)
            self._channel.setblocking(False)
        plan = {
            "channel": str(path) if self._channel is not None else "",
            "user": user,
            "port": port,
            "protocol": protocol,
            "command": list(command),
            "environ": None if environ is None else dict(environ),
        }
        written = self._folder / "plan.json"
        written.write_text(json.dumps(plan), encoding="utf-8")
        words = shlex.join([sys.executable, "-I", "-S", str(START), str(written)])
        program = Path(self.program)
        program.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        program.chmod(0o700)

    async def received(self) -> list[int]:
        """Wait until the browser is about to start; return the descriptors that it passes."""
        assert self._channel is not None
        loop = asyncio.get_running_loop()
        descriptors: list[int] = []
        given, _ = await loop.sock_accept(self._channel)
        with given:
            given.setblocking(True)
            given.settimeout(_PATIENCE)
            if sys.platform != "win32":
                _, descriptors, _, _ = await loop.run_in_executor(None, socket.recv_fds, given, 1, 8)
        for one in descriptors:
            os.set_inheritable(one, False)
        self.close()
        return list(descriptors)

    def close(self) -> None:
        """Stop waiting. May be called again."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        (self._folder / "channel").unlink(missing_ok=True)
