"""A real server in a process of its own, to be killed and started again at the same address."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from reenact.server.keys import Keys

PROGRAM = "import sys; from reenact.cli import main; sys.exit(main())"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


class Server:
    """`reenact serve --keys` in a folder.

    Args:
        home: Its home.
        port: Where it listens.
        more: What it is given in its environment besides.
        words: Its options besides.
    """

    def __init__(self, home: Path, port: int, more=None, words=()):
        self.home = home
        self.port = port
        self._more = more or {}
        self.words = words
        self.url = f"http://127.0.0.1:{port}"
        self.key = Keys(home).make(role="write", name="test")[1]
        self.process = None

    @property
    def recordings(self):
        return self.home / "recordings"

    def start(self):
        environ = {name: value for name, value in os.environ.items() if not name.startswith("REENACT")}
        words = ["serve", "--keys", "--port", str(self.port), "--home", str(self.home), *self.words]
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words],
            env=environ | self._more,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"{self.url}/api/v1/health", timeout=30):
                    return self
            except OSError:
                assert self.process.poll() is None, "the server ended"
                time.sleep(0.05)
        raise AssertionError("the server does not answer")

    def kill(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def environ(self, home, key=None):
        """What a program is given that records into `home` and sends it here."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("REENACT", "PYTEST", "COV_"))
        }
        told = {"REENACT_HOME": str(home), "REENACT_SERVER": self.url, "REENACT_API_KEY": key or self.key}
        return {**kept, **told}


def files(folder):
    """What is in a folder of recordings: path to bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".reserve" and path.name != "received"
    }


def eventually(true, seconds=120.0):
    """Wait until something is so."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it never came to be"
        time.sleep(0.05)
