"""The processes of a recording under way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from reenact.adapters.scopes import pool_worker
from reenact.core.boundary import Family, Run, Scope
from reenact.core.model.event import LISTENS, RULES
from reenact.core.record.recorder import Recorder
from reenact.core.store.writer import warn
from reenact.run.plan import Plan
from reenact.run.reports import has_file

RECORDED: set[str] = set()
"""The ids of the recordings that this process has made."""


def of_pool(path: str, rules: int = RULES) -> bool:
    """Return True for a worker of a `multiprocessing.Pool`, or a process that it has started."""
    return f"/proc:{pool_worker(rules)}." in path


class Unset:
    """The type of `UNSET`: a value that was not given."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Any = Unset()
"""The value of an output that was never set; None is an output."""


class RecordedProcesses(Family):
    """The processes of a recording under way.

    Args:
        join: Lets this process, a fork of the program's, take the part of a plan in the run; returns its scope.
    """

    def __init__(self, run: Run, recorder: Recorder, plan: Plan, join: Callable[[Plan, Run], Scope]) -> None:
        self._run = run
        self._recorder = recorder
        self.plan = plan
        self._join = join
        self._spawned: dict[str, str] = {}
        self.several = "/" in run.root.path

    @property
    def folder(self) -> Path | None:
        return Path(self.plan.folder) if self.plan.folder else None

    def listens(self, port: int, actual: int) -> None:
        self._recorder.locked(self._run.root, f"{LISTENS}{port}", None)

    def before_signal(self, pid: int, number: int) -> None:
        """Do nothing: the signal comes when it comes."""

    def rests(self) -> None:
        """Do nothing: its file is whole after each line."""

    def ends_block(self, output: Any) -> None:
        """Do nothing: no block is replayed."""

    def spawning(self, scope: Scope, name: str, command: Sequence[str]) -> str | None:
        path = scope.child(name).path
        self.several = True
        self._recorder.spawned(scope, path, command)
        if command:
            # A fork without events was killed before its first one.
            self._spawned[path] = command[0]
        return path

    def handover(self, path: str, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the environment variables with which the process joins."""
        return self.plan.child(path).environ(environ)

    def running(self, path: str | None, pid: int | None) -> None:
        """Forget about a process that could not be started."""
        if pid is None and path is not None:
            self._spawned.pop(path, None)

    def forked(self, path: str) -> Scope:
        """Go on in a file of its own."""
        return self._join(self.plan.child(path), self._run)

    def finish(self) -> None:
        """End the run: note the processes that were started and wrote no events."""
        joined = {path: has_file(self.plan.folder, path) for path in self._spawned}
        pools = any(joined[path] for path in joined if of_pool(path))
        outside = Counter(
            command
            for path, command in self._spawned.items()
            # If other workers of pools have joined, a worker that has not was ended by its pool before.
            if not joined[path] and not (pools and of_pool(path))
        )
        for command, count in outside.items():
            times = f" ({count} times)" if count > 1 else ""
            self._recorder.note(
                "unrecorded", f"the program ran {command}{times}: what it did is not recorded"
            )
            program = PurePath(command).name
            warn(
                f"the program ran {command}{times}, which is not recorded: a replay needs --live process:{program}"
            )
        self._spawned.clear()
