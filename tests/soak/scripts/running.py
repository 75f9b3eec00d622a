"""Record and replay scripts through the command line; each script is run in a fresh process."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.forked import forker

LONGEST = 120


class _Late(BaseHTTPRequestHandler):
    """Answers each question late, and otherwise each time."""

    def do_GET(self) -> None:
        time.sleep(random.choice((0.001, 0.006, 0.012, 0.02)) * (0.5 + random.random()))
        body = str(random.randrange(10**6)).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def answering() -> Iterator[int]:
    """Serve answers while the body runs; gives the port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Late)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@dataclass(frozen=True)
class Ran:
    """One run of a script: what it printed, and what the command said."""

    output: str
    status: int | None
    said: str


def _run(words: list[str], folder: Path, home: Path) -> Ran:
    environ = {**os.environ, "REENACT_HOME": str(home)}
    command = [sys.executable, "-m", "reenact", *words]
    try:
        done = forker.run(words, folder, environ, "", LONGEST) or subprocess.run(
            command, cwd=folder, env=environ, capture_output=True, text=True, timeout=LONGEST, check=False
        )
    except subprocess.TimeoutExpired as error:
        said = error.stderr or ""
        return Ran("", None, f"stuck: {(said if isinstance(said, str) else said.decode())[-2000:]}")
    return Ran(done.stdout, done.returncode, done.stderr)


def record(script: Path, home: Path, *options: str) -> Ran:
    """Record it; the recording is the only one in its home."""
    return _run(["record", *options, "--", sys.executable, script.name], script.parent, home)


def replay(script: Path, home: Path) -> Ran:
    """Replay the last recording: the code that the file has now."""
    return _run(["replay", "last", "--", sys.executable, script.name], script.parent, home)
