"""Signals to the processes of a replay: each comes when its receiver is as far as recorded."""

from __future__ import annotations

import signal
from collections.abc import Callable

from reenact.adapters.deadlines import pause
from reenact.adapters.process_activity import StandStill, handles, works
from reenact.core import system
from reenact.core.boundary import Run, entered
from reenact.core.model.log import Log
from reenact.core.query.recorded_run import RecordedRun
from reenact.run.recorded import of_pool
from reenact.run.reports import claimed, reported

_HARMLESS = ("SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGWINCH")
"""The signals that end no process without a handler."""

_FIRST, _LONGEST = 0.0005, 0.02
"""Seconds before the second look at a process, and the longest between two looks."""
_RESTS = 3
"""The number of looks in a row in which a process that is to be killed does not work."""


class SignalledProcesses:
    """The processes of a replay that get signals, or were killed when they were recorded.

    Args:
        run: The replay of this process.
        recording: The recorded processes.
        folder: Returns the folder of the reports.
    """

    def __init__(self, run: Run, recording: RecordedRun, folder: Callable[[], str]) -> None:
        self._run = run
        self._recording = recording
        self._folder = folder
        self._paths: dict[int, str] = {}

    def started(self, path: str, pid: int) -> None:
        """Note the number of a process."""
        self._paths[pid] = path

    def before(self, pid: int, number: int) -> None:
        """Wait before a signal is sent to a process until that process is as far as recorded.

        One that handles the signal has set its handler. One that was killed has made its calls, and is at rest. Any
        other has ended, or ignores the signal. The wait is given up if no process goes on.
        """
        path, harmless = self._paths.get(pid), [getattr(signal, name, 0) for name in _HARMLESS]
        if path is None or not number or number in harmless or of_pool(path, self._run.rules):
            return
        logs = logs_of(self._recording, path)
        if any(_handles(log, number) for log in logs) or not any(
            killed(self._recording, log) for log in logs
        ):
            self._wait(pid, lambda: handles(pid, number))
            return
        self._wait(pid, lambda: self.caught_up(logs))
        rests = 0

        def at_rest() -> bool:
            nonlocal rests
            rests = 0 if works(pid) else rests + 1
            return rests >= _RESTS

        self._wait(pid, at_rest)

    def await_calls(self, path: str) -> None:
        """Wait until a process that was killed has made its recorded calls."""
        pid = next((number for number, known in self._paths.items() if known == path), None)
        logs = [log for log in logs_of(self._recording, path) if killed(self._recording, log)]
        if pid is not None and logs and not of_pool(path, self._run.rules):
            self._wait(pid, lambda: self.caught_up(logs))

    def caught_up(self, logs: list[Log]) -> bool:
        """Return True if processes that were killed have made all their recorded calls."""
        folder = self._folder()
        return all(
            reported(folder, log.process) is not None if log.calls else claimed(folder, log.process)
            for log in logs
            if log.sealed is None
        )

    def _wait(self, pid: int, met: Callable[[], bool]) -> None:
        """Wait until a process meets a condition or has ended, or no process goes on."""
        handler, turnstile = self._run.handler, self._run.turnstile
        seconds, still = _FIRST, StandStill(joined="/" in self._run.root.path)
        turnstile.live_begins()
        try:
            while _runs(pid) and not met() and not still.found():
                if handler.gone_live or handler.poison is not None:
                    return
                pause(seconds)
                seconds = min(seconds * 1.5, _LONGEST)
        finally:
            turnstile.live_ends()


def logs_of(recording: RecordedRun, path: str) -> list[Log]:
    """Return the recorded processes of one spawn: usually one, several for several Pythons."""
    return [log for log in recording.logs if log.process == path or log.process.startswith(f"{path}~")]


def killed(recording: RecordedRun, log: Log) -> bool:
    """Return True if a process was killed alone.

    If the whole run was cut off, nothing kills it in a replay.
    """
    return log.sealed is None and recording.logs[0].sealed is not None


def _handles(log: Log, number: int) -> bool:
    name = signal.Signals(number).name
    return any(line.partition(":")[2] == name for _, line in log.fired if line.startswith("signal#"))


def _runs(pid: int) -> bool:
    with entered(None):
        return system.runs(pid)
