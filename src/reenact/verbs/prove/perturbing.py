"""The conditions of a replay that a faithful recording does not depend on."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any

from reenact.core import system
from reenact.core.model.header import program_of
from reenact.core.query.recorded_run import RecordedRun
from reenact.run.plan import SHIFTED, SWITCH
from reenact.verbs.prove.folders import MOST, elsewhere
from reenact.verbs.reproduce.rerun import Conditions


class Condition(str, Enum):
    """A condition that a replay can change."""

    SEED = "another hash seed"
    CORE = "a busy core"
    FOLDER = "another working folder"
    DELAYS = "shifted delays"
    SWITCH = "threads switched every microsecond"

    @property
    def advice(self) -> str:
        """The likely cause of a departure under this condition, and its remedy."""
        return _ADVICE[self]


_THREADS = (
    "threads or tasks change one thing without a lock, or a result depends on time: use a lock or a queue"
)
_ADVICE = {
    Condition.SEED: "the order of a set, or a hash(), reaches a call or the output: sort it",
    Condition.FOLDER: "the path of the working folder, or a file outside of it, reaches a call or the output: "
    "find files by __file__, and leave the path out",
    Condition.CORE: _THREADS,
    Condition.DELAYS: _THREADS,
    Condition.SWITCH: _THREADS,
}

_INTERVAL = 1e-6
_NICE = 2
_BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    pass"
"""A program that keeps a core busy until its parent ends."""


def shared_out(times: int) -> list[tuple[Condition, ...]]:
    """Return the conditions of each of so many replays.

    Each condition is used: one in each replay if there are enough; replays after the first five have all at once.
    """
    every = tuple(Condition)
    one_each = [every[number::times] for number in range(min(times, len(every)))]
    return one_each + [every] * (times - len(one_each))


class Perturbed(Conditions):
    """Other conditions than the recorded ones, for one replay; made by `perturbed`.

    Attributes:
        missed: The conditions that could not be made, with the reasons.
        process: The program, once it runs.
    """

    def __init__(self, wanted: Sequence[Condition], recording: RecordedRun, number: int, place: Path) -> None:
        self.missed: dict[Condition, str] = {}
        self.process: subprocess.Popen[bytes] | None = None
        self._wanted, self._place, self._number = wanted, place, number
        self._busy: list[subprocess.Popen[bytes]] = []
        words: dict[str, Any] = {}
        if Condition.SWITCH in wanted:
            words[SWITCH] = _INTERVAL
        if Condition.DELAYS in wanted:
            words["pace"] = f"{SHIFTED} {number}"
        self.words = words
        if Condition.SEED in wanted:
            self.seed = self._other_seed(recording)

    @property
    def applied(self) -> tuple[Condition, ...]:
        """The conditions that were made."""
        return tuple(each for each in self._wanted if each not in self.missed)

    def stays(self, why: str) -> None:
        """Keep the working folder, for this reason."""
        if Condition.FOLDER in self._wanted:
            self.missed[Condition.FOLDER] = why

    def folder(self, recorded: str | None) -> str | None:
        """Return another folder with the same files."""
        if Condition.FOLDER not in self._wanted:
            return recorded
        source = Path(recorded) if recorded else Path.cwd()
        try:
            other = elsewhere(source, self._place)
        except OSError as error:
            self.missed[Condition.FOLDER] = f"{source} could not be linked ({error.strerror})"
            return recorded
        if other is None:
            self.missed[Condition.FOLDER] = f"{source} has more than {MOST:,} entries, or cannot be listed"
            return recorded
        return str(other)

    def started(self, process: subprocess.Popen[bytes]) -> None:
        """Bind the started program to a busy core, if that condition is wanted."""
        self.process = process
        if Condition.CORE not in self._wanted:
            return
        if not hasattr(os, "sched_setaffinity") or system.PORTABLE:
            self.missed[Condition.CORE] = "this system does not bind processes to a core"
        else:
            self._bind(process)

    def _bind(self, process: subprocess.Popen[bytes]) -> None:
        """Bind the program to a core, beside a process that is always busy."""
        if sys.platform == "linux":
            try:
                cores = sorted(os.sched_getaffinity(0))
                core = {cores[self._number % len(cores)]}
                os.sched_setaffinity(process.pid, core)
                os.setpriority(
                    os.PRIO_PROCESS, process.pid, os.getpriority(os.PRIO_PROCESS, process.pid) + _NICE
                )
                busy = subprocess.Popen(  # noqa: S603 - the same Python
                    [sys.executable, "-I", "-S", "-c", _BUSY], stdin=subprocess.DEVNULL
                )
                self._busy.append(busy)
                os.sched_setaffinity(busy.pid, core)
            except ProcessLookupError:
                self.missed[Condition.CORE] = "the program had ended before"
            except OSError as error:
                self.missed[Condition.CORE] = f"a process could not be bound to a core ({error.strerror})"

    def close(self) -> None:
        """End the busy processes."""
        for process in self._busy:
            process.kill()
            process.wait()

    def _other_seed(self, recording: RecordedRun) -> str | None:
        if os.environ.get("PYTHONHASHSEED") is not None:
            self.missed[Condition.SEED] = "PYTHONHASHSEED is set here, so every run has that one"
            return None
        recorded = str(program_of(recording.header).get("hash_seed"))
        digest = hashlib.sha256(f"{recording.id} {self._number}".encode()).digest()
        seed = str(int.from_bytes(digest[:4]) or 1)
        return seed if seed != recorded else str(int(seed) ^ 1)


@contextmanager
def perturbed(wanted: Sequence[Condition], recording: RecordedRun, number: int) -> Iterator[Perturbed]:
    """Make conditions for the body, which runs the program once."""
    place = tempfile.mkdtemp(prefix="reenact-")
    conditions = Perturbed(wanted, recording, number, Path(place))
    try:
        yield conditions
    finally:
        conditions.close()
        with suppress(OSError):
            shutil.rmtree(place)
