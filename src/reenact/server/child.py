"""The process of a job, seen from the server."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from reenact.core import private, system
from reenact.core.trust import consent

_LOGGED = 1_000_000
"""Most bytes that are kept of the process's output."""

_PATIENCE = 3.0
"""Seconds for a process to clean up before it is killed."""


class JobProcess:
    """The process that works on a job; the constructor starts it.

    Args:
        folder: The job's folder.
        home: The folder of the recordings.
        log: The file for the output.
        run_foreign: True if programs of foreign recordings may run.
    """

    def __init__(self, folder: Path, home: Path, log: Path, *, run_foreign: bool = False) -> None:
        self.told_to_end = False
        environ = {**os.environ, "REENACT_HOME": str(home), "PYTHONUNBUFFERED": "1"}
        foreign = [consent.OPTION] if run_foreign else []
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "reenact.server.work", str(folder), str(home), *foreign],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            # In a group of its own, so that all processes that it starts can be ended with it.
            start_new_session=True,
        )
        self._logging = threading.Thread(target=self._log, args=(log,), daemon=True)
        self._logging.start()

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the messages of the process until it ends."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):
                yield orjson.loads(line)

    def wait(self) -> int:
        """Wait for the exit status; a signal counts as its negative number.

        The rest of the process group is killed.
        """
        status = self._process.wait()
        self._kill()
        # A program in another process group may keep the pipe open for longer.
        self._logging.join(1)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        return status

    def end(self, patience: float = _PATIENCE) -> None:
        """Tell the process to end, and kill it if it does not."""
        self.told_to_end = True
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        ending = threading.Timer(patience, self._end)
        ending.daemon = True
        ending.start()

    def _end(self) -> None:
        if self._process.poll() is None:
            self._kill()

    def _kill(self) -> None:
        system.kill_group(self._process.pid)

    def _log(self, path: Path) -> None:
        assert self._process.stderr is not None
        left = _LOGGED
        with (
            contextlib.suppress(OSError),
            self._process.stderr as printed,
            open(path, "wb", opener=private.opener) as file,
        ):
            while part := os.read(printed.fileno(), 65536):
                file.write(part[:left])
                file.flush()
                left -= min(len(part), left)
