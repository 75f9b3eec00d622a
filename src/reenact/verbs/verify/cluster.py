"""Replay a fleet on a Ray cluster: each actor has a process that forks for each replay.

Ray ships the code of the working folder. Each task has its recording, as one file, so that no node needs the store; a
node that can read a team's store fetches it from there. The tasks of a lost worker or node run again: the first outcome
of each recording counts.

    this process  --lines of JSON-->  verify.dispatch (a driver of Ray)  --batches-->  verify.actor, on the nodes
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

import orjson

from reenact.core.store.local import load
from reenact.core.trust import consent
from reenact.errors import ForeignRecording, MissingExtra, ProgramError, RecordingError, UsageError
from reenact.team.location import TeamPlace
from reenact.verbs.verify.crew import CrewOptions
from reenact.verbs.verify.dispatch import answers
from reenact.verbs.verify.engine import Done, Task
from reenact.verbs.verify.outcome import REFUSED

PLACED = 300.0
"""Seconds for the first actor to start: an autoscaler brings nodes in minutes."""
SLACK = 120.0
"""Seconds that a batch may exceed its replays' limits, before its actor counts as stopped."""
START = 240.0
"""Seconds until Ray has started, or has connected and packed the folder."""
SILENT = 90.0
"""Seconds in which the driver must have given a sign of life."""
_END = 15.0

Say = Callable[[str], None]


class Cluster:
    """A Ray cluster.

    Args:
        address: Its address (`ray://head:10001`, `auto`, `host:6379`); without, a cluster of this machine alone.
        workers: The number of actors; 0 is one for each core of the cluster, also of later nodes.
        folder: The folder to ship to the nodes as their working folder; by default the current one.
        excludes: The files not to ship, as in a .gitignore.
        team: The team's store that the recordings are in, unless they are here.
        placed: Seconds in which some node must have room.
        slack: Seconds beyond the time limits of its replays, after which an actor counts as lost.
        say: Called with a line about the present activity.
    """

    def __init__(
        self,
        address: str = "",
        workers: int = 0,
        folder: Path | None = None,
        *,
        excludes: Sequence[str] = (),
        team: TeamPlace | None = None,
        placed: float = PLACED,
        slack: float = SLACK,
        say: Say | None = None,
    ) -> None:
        self._address = address
        self._folder, self._excludes = (folder or Path.cwd()).absolute(), [*excludes]
        self._team = team
        self._asked = {
            "address": address,
            "workers": workers,
            "folder": str(self._folder),
            "team": {**asdict(team), "cache": str(team.cache)} if team else None,
            "placed": placed,
            "slack": slack,
        }
        self._say = say or (lambda _: None)

    def run(self, tasks: Sequence[Task], job: CrewOptions, done: Done) -> None:
        """Replay them all. Raises ProgramError or UsageError."""
        if find_spec("ray") is None:
            raise MissingExtra("reenact verify --engine ray", "ray")
        if not job.entry and self._team is None:
            tasks = _allowed(tasks, job, done)
        host = self._address.removeprefix("ray://")
        if ":" in host and not answers(host, 10.0):
            # Ray would try for minutes.
            raise UsageError(f"the Ray cluster {self._address} cannot be reached: no answer")
        homes = {
            Path(task.path).absolute().parent for task in tasks if task.path and Path(task.path).is_dir()
        }
        asked = {
            **self._asked,
            "excludes": [
                *self._excludes,
                *(f"/{home.relative_to(self._folder)}/" for home in self._within(homes)),
            ],
            # Foreign recordings have been sorted out here, where the keys are: a node may run all that it gets.
            "job": {**asdict(job), "home": "", "run_foreign": job.run_foreign or self._team is None},
            "tasks": [
                (task.place, str(Path(task.path).absolute()) if task.path else task.ref) for task in tasks
            ],
        }
        said = f"connecting to Ray at {self._address}" if self._address else "starting Ray on this machine"
        for again in (False, True):
            self._say(said)
            exchange = _ClusterExchange({task.place: task for task in tasks}, done, self._say)
            with _driver(asked) as driver:
                why = exchange.run(driver)
            if not why:
                return
            # On a busy machine, a start sometimes exceeds Ray's own time limits.
            if exchange.connected or self._address or again:
                raise UsageError(exchange.lost(self._address, why))
            said = "starting Ray again"

    def _within(self, homes: Iterable[Path]) -> list[Path]:
        """Return the homes in the folder: their recordings are sent on demand, not to all nodes."""
        return sorted(
            home for home in homes if home.name == "recordings" and home.is_relative_to(self._folder)
        )


def _allowed(tasks: Sequence[Task], job: CrewOptions, done: Done) -> list[Task]:
    """Return the recordings whose commands may run; report the others as refused."""
    found = []
    for task in tasks:
        try:
            recording = load(task.here())
            if consent.steers(recording):
                consent.check(recording, Path(job.home), run_foreign=job.run_foreign)
        except ForeignRecording as error:
            done(task, {REFUSED: str(error)})
        except RecordingError as error:
            done(task, {"failed": str(error)})
        else:
            found.append(task)
    return found


class _Driver:
    """The process that speaks with Ray."""

    def __init__(self, asked: dict[str, Any], noise: Any) -> None:
        self._noise = noise
        self.line, theirs = socket.socketpair()
        command = [sys.executable, "-m", "reenact.verbs.verify.dispatch", str(theirs.fileno())]
        self.process = subprocess.Popen(  # noqa: S603 - the same Python
            command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=noise, stderr=noise,
            # Ctrl-C must not reach the driver: Ray would write tracebacks.
            start_new_session=True,
            # In the program's folder, a file could be imported in place of one of Ray's modules.
            cwd=os.sep,
        )  # fmt: skip
        theirs.close()
        with suppress(OSError):  # it is gone: the first read says so
            self.line.sendall(orjson.dumps(asked, default=repr) + b"\n")

    def last_words(self) -> str:
        """Return the last output of the driver or Ray."""
        self._noise.seek(0)
        lines = self._noise.read().decode("utf-8", "replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "no word")[:300]

    def close(self, within: float) -> None:
        """End the process, at the latest after so many seconds."""
        self.line.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(within)
        self.process.kill()
        self.process.wait()


@contextmanager
def _driver(asked: dict[str, Any]) -> Iterator[_Driver]:
    with tempfile.TemporaryFile() as noise:
        driver = _Driver(asked, noise)
        try:
            yield driver
        except BaseException:
            driver.process.terminate()
            raise
        finally:
            driver.close(_END)


class _ClusterExchange:
    """Reads the driver's messages until the last one.

    Attributes:
        connected: True once the driver has reached the cluster.
    """

    def __init__(self, tasks: dict[int, Task], done: Done, say: Say) -> None:
        self._tasks, self._done, self._say = tasks, done, say
        self._came: set[int] = set()
        self.connected = False

    def run(self, driver: _Driver) -> str:
        """Process its messages; return the reason of an early end.

        Raises ProgramError or UsageError.
        """
        for said in _lines(driver.line, lambda: SILENT if self.connected else START):
            if "place" in said:
                self._came.add(said["place"])
                self._done(self._tasks[said["place"]], said["report"])
            elif "program" in said:
                raise ProgramError(said["program"])
            elif "usage" in said:
                if not self.connected:
                    return str(said["usage"])
                raise UsageError(said["usage"] + self._kept())
            elif "over" in said:
                return ""
            elif "said" in said:
                self._say(said["said"])
            elif "connected" in said:
                self.connected = True
        if driver.process.poll() is None:
            return "it has not answered for too long"
        return driver.last_words()

    def lost(self, address: str, why: str) -> str:
        """Return the message about a lost cluster, with the number of kept outcomes."""
        if not self.connected:
            return why if "Ray" in why else f"Ray could not be started: {why}"
        return f"the Ray cluster {address or 'of this machine'} is lost: {why}{self._kept()}"

    def _kept(self) -> str:
        return f"; {len(self._came)} of {len(self._tasks)} were replayed and are kept: --resume runs the rest"


def _lines(line: socket.socket, patience: Callable[[], float]) -> Iterator[dict[str, Any]]:
    """Yield messages until the end of the connection, or until none has come for a time."""
    data = b""
    until = monotonic() + patience()
    while select.select([line], [], [], max(0.0, until - monotonic()))[0]:
        block = line.recv(1 << 18)
        if not block:
            return
        *whole, data = (data + block).split(b"\n")
        for one in whole:
            yield orjson.loads(one)
        until = monotonic() + patience()
