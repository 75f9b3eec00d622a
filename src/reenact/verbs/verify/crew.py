"""Replay in child processes: forks of one that has imported the program, or fresh ones."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

import orjson

from reenact.core import system
from reenact.core.dataclass import dataclass
from reenact.core.store.local import LocalStore, load
from reenact.core.trust import consent
from reenact.errors import ForeignRecording, ProgramError, ReenactError
from reenact.verbs.verify.outcome import REFUSED

Report = dict[str, Any]
"""The report on one replay, as `outcome_of` reads it."""


@dataclass(frozen=True, slots=True)
class CrewOptions:
    """The options of all replays.

    Attributes:
        entry: The function that runs the program, `pkg.module:function`; without, the recorded commands are run.
        words: The replay's options, as `Options.tree` gives them.
        timeout: Seconds for each one.
        home: The folder of the recordings, with the keys that decide which are foreign; empty for the default one.
        run_foreign: The user lets the commands of foreign recordings run.
    """

    entry: str
    words: dict[str, Any]
    timeout: float
    home: str = ""
    run_foreign: bool = False


class Worker(Protocol):
    """Replays one recording at a time."""

    def ready(self) -> None:
        """Prepare for replays. Raises ProgramError."""

    def run(self, path: str) -> Report:
        """Replay the recording at that path."""

    def close(self) -> None:
        """End the worker's processes."""


def worker(job: CrewOptions) -> Worker:
    """Return a worker for the options of a job."""
    return ForkServer(job) if job.entry else Starting(job)


class ForkServer:
    """One process that has imported the program, and forks for each recording."""

    def __init__(self, job: CrewOptions) -> None:
        self._entry, self._timeout = job.entry, job.timeout
        words = job.words
        self._options = {
            "live": words["live"],
            "ignore": words["ignore"],
            "on_divergence": words["policy"],
            "inserted": words["inserted"],
            "pace": words["pace"],
            "tools": words["tools"],
        }
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, path: str) -> Report:
        """Replay one. Try a killed process once more: the cause may have been another process."""
        report = self._tried(path)
        return self._tried(path) if report.get("killed") else report

    def _tried(self, path: str) -> Report:
        self.ready()
        process, began = self._process, monotonic()
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        message = {"path": path, "options": self._options, "timeout": self._timeout}
        reply = b""
        late = threading.Timer(self._timeout, system.kill, [process.pid])
        if not system.FORKS:
            # The process replays the recording itself, and cannot end itself.
            late.start()
        with suppress(OSError):
            process.stdin.write(orjson.dumps(message) + b"\n")
            process.stdin.flush()
            reply = process.stdout.readline()
        late.cancel()
        seconds = round(monotonic() - began, 4)
        if not system.FORKS:
            self.close()
            if not reply:
                over = seconds >= self._timeout
                failed = (
                    f"no end after {self._timeout:g} seconds" if over else system.ending(process.returncode)
                )
                # Like a killed fork, it is tried once more.
                return {"failed": failed, "seconds": seconds, "killed": not over and process.returncode == -9}
        if not reply:
            self.close()
            return {"failed": "the process that imported the program is gone", "killed": True}
        found: Report = orjson.loads(reply)
        return found

    def ready(self) -> None:
        """Start a process that imports the program. Raises ProgramError if that fails."""
        if self._process is not None:
            return
        command = [sys.executable, "-m", "reenact.verbs.verify.zygote", self._entry]
        self._process = subprocess.Popen(  # noqa: S603 - the same Python
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None
        first = self._process.stdout.readline()
        said = orjson.loads(first) if first else {"failed": f"{self._entry}: its import ended the process"}
        if "failed" in said:
            self.close()
            raise ProgramError(said["failed"])

    def close(self) -> None:
        """End the worker's processes."""
        if self._process is not None:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            with suppress(OSError):
                self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(2)
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()
        self._process = None


class Starting:
    """Runs the recorded command of each recording."""

    def __init__(self, job: CrewOptions) -> None:
        self._words, self._timeout = job.words, job.timeout
        self._home, self._run_foreign = job.home, job.run_foreign

    def ready(self) -> None:
        """Do nothing: each command imports its program itself."""

    def run(self, path: str) -> Report:
        """Replay one; one whose command may not run is refused."""
        try:
            recording = load(Path(path))
            if consent.steers(recording):
                root = LocalStore(self._home or None).root
                consent.check(recording, root, run_foreign=self._run_foreign)
        except ForeignRecording as error:
            return {REFUSED: str(error)}
        except ReenactError as error:
            return {"failed": str(error)}
        words = self._words
        # Consent has been checked here, with the keys of the right home.
        command = [sys.executable, "-m", "reenact", "replay", path, "--json", "--run-foreign"]
        command += [each for word in words["live"] for each in ("--live", word)]
        command += [each for word in words["tools"] for each in ("--tools", word)]
        command += [each for word in words["ignore"] for each in ("--ignore", word)]
        command += [
            "--on-divergence",
            words["policy"],
            "--inserted",
            words["inserted"],
            "--pace",
            words["pace"],
        ]
        began = monotonic()
        try:
            done = subprocess.run(  # noqa: S603 - the same Python
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=self._timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"no end after {self._timeout:g} seconds", "seconds": self._timeout}
        took = round(monotonic() - began, 4)
        try:
            tree = orjson.loads(done.stdout)
        except ValueError:
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()
            tree = {"failed": last[-1].removeprefix("reenact: ") if last else "no verdict"}
        known = {"id": tree.get("recording"), "verdict": tree.get("verdict"), "failed": tree.get("failed")}
        return {**known, "seconds": took}

    def close(self) -> None:
        """Do nothing: no process is left."""
