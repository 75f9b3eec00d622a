"""Run a program in the foreground: its terminal and its signals stay its own."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reenact.core import system
from reenact.core.dataclass import dataclass
from reenact.errors import UsageError

if TYPE_CHECKING:
    from reenact.run.files.disk import Disk


@dataclass(frozen=True, slots=True)
class Start:
    """The parameters to start a program.

    Attributes:
        disk: The files that it runs on, if they are not the user's own.
    """

    argv: list[str]
    executable: str
    environ: dict[str, str]
    cwd: str | None
    disk: Disk | None = None

    def prepared(self) -> tuple[list[str], str]:
        """Lay the files, and return the command line and the path of the executable."""
        if self.disk is None:
            return self.argv, self.executable
        laid = self.disk.lay(self.cwd, self.argv)
        return self.disk.start(laid, self.argv, self.executable, self.cwd)

    def open(self, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
        """Start it without a terminal, in a session of its own, with output to these descriptors.

        Raises UsageError where it cannot be run.
        """
        argv, executable = self.prepared()
        try:
            return subprocess.Popen(  # noqa: S603 - to run what the user asks for is the point
                argv,
                executable=executable,
                env=self.environ,
                cwd=self.cwd,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"{self.argv[0]} cannot be run: {error.strerror}") from None


def executable_of(command: Sequence[str]) -> str:
    """Return the path of a command's program. Raises UsageError if there is none."""
    if not command:
        raise UsageError("no command given; write it behind two dashes: reenact record -- python agent.py")
    if command[0].startswith("-"):
        raise UsageError(f"no such option: {command[0]}; -h lists them, and a program comes behind `--`")
    found = shutil.which(command[0])
    if found is None:
        raise UsageError(f"no such program: {command[0]}")
    return found


def run(
    command: Sequence[str],
    executable: str,
    environ: dict[str, str],
    *,
    cwd: str | None = None,
    stdout: int | None = None,
    started: Callable[[subprocess.Popen[bytes]], None] | None = None,
) -> tuple[int, int]:
    """Run it to its end; return its exit status and its process id.

    `started` is called once it runs. The terminal sends Ctrl-C to the program and to this process; other signals are
    passed on.
    """
    child: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, frame: object) -> None:
        if child is not None and child.returncode is None:
            child.send_signal(number)

    before = {}
    for number in system.signals("SIGINT", "SIGBREAK", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"):
        if signal.getsignal(number) is signal.SIG_IGN:
            continue
        # A function, not SIG_IGN, which the child would inherit. The terminal itself sends keys' signals to the child.
        typed = number.name in {"SIGINT", "SIGBREAK", "SIGQUIT"}
        before[number] = signal.signal(number, _heard if typed and sys.stdin is not None else pass_on)
    try:
        child = subprocess.Popen(  # noqa: S603 - to run what the user asks for is the point
            list(command),
            executable=executable,
            env=environ,
            cwd=cwd,
            stdout=stdout,
        )
        if started is not None:
            started(child)
        return _wait(child), child.pid
    except OSError as error:
        if cwd is not None and not Path(cwd).is_dir():
            raise UsageError(f"there is no folder {cwd} to run {command[0]} in") from None
        raise UsageError(f"{command[0]} cannot be run: {error.strerror}") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _heard(number: int, frame: object) -> None:
    """Ignore a signal of the terminal's keys: the program gets it, too, and decides."""


def _wait(child: subprocess.Popen[bytes]) -> int:
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue


def aside(quiet: bool) -> int | None:
    """Return the output descriptor of a `quiet` program: standard error."""
    return sys.stderr.fileno() if quiet else None


def ending_of(status: int) -> str:
    """Return the end of a program in words: the signal, or the exit status."""
    return f"ended by {ended_by(status)}" if status < 0 else f"exit status {status}"


def ended_by(status: int) -> str:
    """Return the name of the signal that ended a program, by its negative status."""
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def shown(command: Sequence[str]) -> str:
    """Return a command for a message."""
    text = " ".join(command)
    return text if len(text) <= 80 else text[:79] + "…"


def terminal_here() -> str:
    """Return the path of the terminal to ask on; empty if the user is at none."""
    try:
        if sys.stdin.isatty() and sys.stderr.isatty():
            return system.terminal_of(sys.stdin.fileno())
    except (AttributeError, OSError, ValueError):
        pass
    return ""
