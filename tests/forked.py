"""Commands of `reenact` as forks of one process that has imported it: the imports take longer than most commands.

A fork has the streams, the folder and the environment that it is given, and ends as a process of its own. What a command
starts, such as the program that it records, is started afresh. So this is for commands that run no program in their own
process.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn, TextIO

ROOT = Path(__file__).parents[1]
PROGRAM = "from tests.forked import serve, {warm}; from reenact.cli import main; serve({line}, main, {warm})"
BY_ITSELF = frozenset({"doctor", "harden", "debug", "browse", "serve", "console", "mcp", "collect"})
"""Commands that look at what is imported, run programs in their own process, or stay."""
AT_THE_START = ("PYTHON", "LD_", "LC_", "LANG", "TZ", "TERMINAL_WIDTH", "FORCE_COLOR", "NO_COLOR")
"""Variables, by how their names begin, that count where Python starts or imports."""


def commands(main: Callable[..., int]) -> None:
    """Import what commands import when they are run."""
    from reenact.cli import render
    from reenact.cli.application import application

    application([])
    for module in pkgutil.iter_modules(render.__path__, "reenact.cli.render."):
        importlib.import_module(module.name)
    with tempfile.TemporaryDirectory() as home, contextlib.redirect_stderr(io.StringIO()):
        main(["list", "--home", home])


def servers(_main: Callable[..., int]) -> None:
    """Import what a server imports when it starts: two seconds of a processor."""
    from reenact.cli.application import application as words
    from reenact.server.app import application
    from reenact.server.hosting import LOOPBACK
    from reenact.server.settings import Settings

    words([])
    with tempfile.TemporaryDirectory() as home:
        state = application(Settings(Path(home), LOOPBACK, keyless=True)).state
        for part in (state.projects, state.jobs, state.keys):
            part.close()
    assert threading.active_count() == 1


def serve(descriptor: int, main: Callable[..., int], warm: Callable[[Callable[..., int]], None]) -> None:
    """Fork for each message on `descriptor` until it is closed, and run the command `main` in the fork."""
    line = socket.socket(fileno=descriptor)
    warm(main)
    gc.collect()
    gc.freeze()
    while True:
        message, streams, _, _ = socket.recv_fds(line, 1 << 20, 3)
        if not message:
            return
        child = os.fork()
        if child == 0:
            line.close()
            for wanted, given in enumerate(streams):
                os.dup2(given, wanted)
                os.close(given)
            asked = json.loads(message)
            os.chdir(asked["cwd"])
            os.environ.clear()
            os.environ.update(asked["env"])
            sys.argv[1:] = asked["words"]
            _ended(main())
        for stream in streams:
            os.close(stream)
        line.send(str(child).encode())
        line.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def _ended(status: int) -> NoReturn:
    """End as a process does, without taking down the modules one by one, which takes longer than most commands."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


def at_the_start(environ: dict[str, str]) -> dict[str, str]:
    """What of an environment counts where Python starts."""
    return {name: value for name, value in environ.items() if name.startswith(AT_THE_START)}


class Forker:
    """Runs commands in forks, one at a time; the process that forks is started for the first, and imports `warm` then."""

    def __init__(self, warm: Callable[[Callable[..., int]], None]) -> None:
        self._warm = warm.__name__
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._environ: dict[str, str] = {}
        self._one_at_a_time = threading.Lock()

    def run(
        self, words: list[str], cwd: Path, environ: dict[str, str], text: str, timeout: float
    ) -> subprocess.CompletedProcess[str] | None:
        """Run a command as `subprocess.run` does; None where it takes a process of its own."""
        if not hasattr(os, "fork") or not words or words[0] in BY_ITSELF:
            return None
        if not self._one_at_a_time.acquire(blocking=False):
            return None
        try:
            if self._line is None:
                self._start()
            if at_the_start(environ) != self._environ:
                return None
            return self._run(words, cwd, environ, text, timeout)
        finally:
            self._one_at_a_time.release()

    def on_a_terminal(self, words: list[str], environ: dict[str, str], columns: int, lines: int = 24) -> str:
        """What a command writes to a terminal of that size, without colours."""
        environ = {
            **environ,
            "COLUMNS": str(columns),
            "LINES": str(lines),
            "TERM": "xterm-256color",
            "PAGER": "cat",
        }
        leader, follower = os.openpty()
        with self._one_at_a_time, open(leader, "rb", buffering=0) as screen, ThreadPoolExecutor(1) as reader:
            if self._line is None:
                self._start()
            written = reader.submit(_shown, screen)
            with open(follower, "r+b", buffering=0) as terminal:
                self._forked(words, Path.cwd(), environ, [terminal] * 3, 300)
            return written.result()

    def stop(self) -> None:
        """End the process that forks."""
        if self._line is not None and self._process is not None:
            self._line.close()
            self._process.communicate()
            self._line = None

    def _start(self) -> None:
        environ = {**os.environ, "PYTHONUTF8": "1"}
        self._environ = at_the_start(environ)
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM.format(line=theirs.fileno(), warm=self._warm)],
                cwd=ROOT,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
            )

    def _run(self, words, cwd, environ, text, timeout):
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            given.write(text.encode())
            given.seek(0)
            try:
                status = self._forked(words, cwd, environ, [given, out, err], timeout)
            except TimeoutError:
                raise subprocess.TimeoutExpired(words, timeout, _read(out), _read(err)) from None
            return subprocess.CompletedProcess(words, status, _read(out), _read(err))

    def start(self, words: list[str], cwd: Path, environ: dict[str, str]) -> ForkedServer | None:
        """Start a command that stays; None where another one runs, or where it takes a process of its own."""
        if not hasattr(os, "fork") or not self._one_at_a_time.acquire(blocking=False):
            return None
        if self._line is None:
            self._start()
        if at_the_start(environ) != self._environ:
            self._one_at_a_time.release()
            return None
        ours, theirs = zip(os.pipe(), os.pipe(), strict=True)
        with open(os.devnull, "rb") as nothing, open(theirs[0], "wb") as out, open(theirs[1], "wb") as err:
            child = self._child(words, cwd, environ, [nothing, out, err])
        return ForkedServer(
            child, self._line, self._one_at_a_time, *(open(one, encoding="utf-8") for one in ours)
        )

    def _child(self, words, cwd, environ, streams):
        """The number of the process of a command whose standard streams are these."""
        assert self._line is not None
        asked = json.dumps({"words": words, "cwd": str(cwd), "env": environ}).encode()
        socket.send_fds(self._line, [asked], [stream.fileno() for stream in streams])
        return int(self._line.recv(100))

    def _forked(self, words, cwd, environ, streams, timeout):
        """The status of a command whose standard streams are these. Raises TimeoutError; the command is over then."""
        child = self._child(words, cwd, environ, streams)
        try:
            self._line.settimeout(timeout)
            return int(self._line.recv(100))
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            self._line.settimeout(None)
            self._line.recv(100)
            raise
        finally:
            self._line.settimeout(None)


class ForkedServer:
    """A command that stays, with those methods of `subprocess.Popen` that tests of servers use.

    Attributes:
        stdout: What it writes to its standard output.
        stderr: The same of its standard error.
        returncode: Its exit status; None until it was waited for.
    """

    def __init__(self, pid: int, line: socket.socket, lock: threading.Lock, stdout: TextIO, stderr: TextIO):
        self.stdout, self.stderr = stdout, stderr
        self.returncode: int | None = None
        self._pid, self._line, self._lock = pid, line, lock

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.returncode is None:
            os.kill(self._pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; its exit status. Raises TimeoutError."""
        if self.returncode is None:
            self._line.settimeout(timeout)
            try:
                self.returncode = int(self._line.recv(100))
            finally:
                self._line.settimeout(None)
            self._lock.release()
        return self.returncode

    def communicate(self) -> tuple[str, str]:
        """Wait for its end; what it wrote and was not read yet."""
        with self.stdout, self.stderr:
            written = self.stdout.read(), self.stderr.read()
            self.wait()
        return written


def _shown(screen):
    """All that is written to a terminal until it is closed, without colours."""
    written = b""
    with contextlib.suppress(OSError):
        while data := screen.read(65536):
            written += data
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written.decode()).replace("\r\n", "\n")


def _read(file):
    file.seek(0)
    return file.read().decode("utf-8").replace("\r\n", "\n")


forker = Forker(commands)
"""The one of this process: of each worker of the tests."""
starter = Forker(servers)
"""The same for servers."""
