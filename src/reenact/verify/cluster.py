"""A fleet on a Ray cluster: the same isolated replays, each actor with a process of its own that forks for each.

The code of the working folder is shipped by Ray, the recordings go along with the tasks as one file each, so no node
needs the store. Ray runs again what a lost worker or node had under way: outcomes are taken by their recording, once.
"""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from reenact.errors import ProgramError, ReenactError, UsageError
from reenact.store import bundle
from reenact.store.local import SUFFIX, LocalStore
from reenact.verify.crew import Job, Report, Worker, worker
from reenact.verify.engine import Done, Task

BATCH = 8
"""Recordings that an actor is given at once: a message costs more than a short replay."""
AHEAD = 2
"""Batches that an actor has before it, so that it never waits."""
PLACED = 180.0
"""Seconds in which some node must have taken an actor."""
TRIES = 4
"""How often a recording is begun in all, where the actors that had it were lost."""
_EXCLUDED = [".git", ".reenact", ".venv*", "node_modules", "__pycache__", "*.reenact"]

Parcel = tuple[int, bytes]


class Cluster:
    """A Ray cluster.

    Args:
        address: Its address (`ray://head:10001`, `auto`, `host:6379`); without, a cluster of this machine alone.
        workers: How many actors; 0 is one for each core of the cluster.
        folder: What is shipped to the nodes and is their working folder; by default the one that one stands in.
    """

    def __init__(self, address: str = "", workers: int = 0, folder: Path | None = None) -> None:
        self._address = address
        self._workers = workers
        self._folder = folder or Path.cwd()

    def run(self, tasks: Sequence[Task], job: Job, done: Done) -> None:
        """Replay them all. Raises ProgramError or UsageError."""
        with self._connected() as ray:
            count = self._workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
            count = max(1, min(count, -(-len(tasks) // BATCH)))
            _Dispatch(ray, job, count, done).run(tasks)

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            ray: Any = import_module("ray")
        except ImportError:
            raise UsageError("--engine ray needs Ray: pip install 'reenact[ray]'") from None
        ours = not ray.is_initialized()
        if ours:
            try:
                ray.init(
                    address=self._address or None,
                    runtime_env={"working_dir": str(self._folder), "excludes": _EXCLUDED},
                    log_to_driver=False,
                    logging_level="error",
                    **({} if self._address else {"include_dashboard": False}),
                )
            except (ConnectionError, RuntimeError, ValueError, OSError) as error:
                where = self._address or "of this machine"
                line = next(iter(str(error).strip().splitlines()), type(error).__name__)
                raise UsageError(f"the Ray cluster {where} is not to be had: {line}") from None
        try:
            yield ray
        finally:
            if ours:
                ray.shutdown()


class Actor:
    """What runs on a node: one process that has imported the program, and forks for each recording."""

    def __init__(self, job: Job) -> None:
        self._worker: Worker = worker(job)

    def ready(self) -> str:
        """Import the program; says why it cannot be, or nothing."""
        try:
            self._worker.ready()
        except ReenactError as error:
            return str(error)
        return ""

    def run(self, parcels: list[Parcel]) -> list[tuple[int, Report]]:
        """Replay some."""
        with tempfile.TemporaryDirectory(prefix="reenact-") as folder:
            return [(place, self._one(Path(folder), place, data)) for place, data in parcels]

    def _one(self, folder: Path, place: int, data: bytes) -> Report:
        path = folder / f"{place}{SUFFIX}"
        path.write_bytes(data)
        try:
            return self._worker.run(str(path))
        except ReenactError as error:
            return {"failed": str(error)}
        finally:
            path.unlink()


class _Dispatch:
    """Hands batches to actors, and to others what the lost ones had."""

    def __init__(self, ray: Any, job: Job, count: int, done: Done) -> None:
        self._ray = ray
        self._job = job
        self._done = done
        # A lost actor is replaced here, not by Ray: what it had is then known.
        self._remote = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(Actor)
        self._load: dict[Any, int] = {}
        """The actors that have imported the program, and how many batches each has."""
        self._coming: dict[Any, Any] = {}
        """By what tells that it is ready, an actor that is not yet: perhaps no node has room for it."""
        self._under_way: dict[Any, tuple[Any, list[Task]]] = {}
        self._tries: dict[int, int] = {}
        self._batches: deque[list[Task]] = deque()
        for _ in range(count):
            self._hire()

    def _hire(self) -> None:
        actor = self._remote.remote(self._job)
        self._coming[actor.ready.remote()] = actor

    def run(self, tasks: Sequence[Task]) -> None:
        """Replay them all."""
        size = max(1, min(BATCH, len(tasks) // (AHEAD * len(self._coming)) or 1))
        self._batches.extend([*tasks[start : start + size]] for start in range(0, len(tasks), size))
        while self._batches or self._under_way:
            self._hand_out()
            for reference in self._heard():
                if reference in self._coming:
                    self._welcome(reference)
                else:
                    self._take(reference)

    def _heard(self) -> list[Any]:
        """What has come. Raises UsageError where nobody is at work, and no node takes an actor."""
        waiting = [*self._under_way, *self._coming]
        if not waiting:  # the rest could not even be read
            return []
        ready, _ = self._ray.wait(waiting, num_returns=1, timeout=None if self._load else PLACED)
        if not ready:
            raise UsageError(f"no node of the cluster had room for a replay within {PLACED:g} seconds")
        found: list[Any] = ready
        return found

    def _welcome(self, reference: Any) -> None:
        """An actor has imported the program, or cannot. Raises ProgramError."""
        actor = self._coming.pop(reference)
        try:
            said = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._unplaced(_line(error))
            return
        if said:
            raise ProgramError(said)
        self._load[actor] = 0

    def _unplaced(self, why: str) -> None:
        self._tries[-1] = self._tries.get(-1, 0) + 1
        if self._tries[-1] > TRIES * (len(self._load) + len(self._coming) + 1):
            raise UsageError(f"no node of the cluster can run this: {why}")
        self._hire()

    def _hand_out(self) -> None:
        for actor in [*self._load]:
            while self._batches and self._load[actor] < AHEAD:
                batch = self._batches.popleft()
                if parcels := self._parcels(batch):
                    self._load[actor] += 1
                    self._under_way[actor.run.remote(parcels)] = (actor, batch)

    def _parcels(self, batch: list[Task]) -> list[Parcel]:
        found = []
        for task in [*batch]:
            try:
                found.append((task.place, _packed(Path(task.path))))
            except (ReenactError, OSError) as error:
                batch.remove(task)
                self._done(task, {"failed": str(error)})
        return found

    def _take(self, reference: Any) -> None:
        actor, batch = self._under_way.pop(reference)
        try:
            found = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._again(actor, batch, _line(error))
            return
        self._load[actor] -= 1
        known = {task.place: task for task in batch}
        for place, report in found:
            self._done(known[place], report)

    def _again(self, actor: Any, batch: list[Task], why: str) -> None:
        """An actor was lost, with its worker or its node: another takes its place, and gets what it had one by one."""
        if self._load.pop(actor, None) is not None:
            with suppress(Exception):
                self._ray.kill(actor)
            self._hire()
        for task in batch:
            self._tries[task.place] = self._tries.get(task.place, 0) + 1
            if self._tries[task.place] < TRIES:
                self._batches.append([task])
            else:
                self._done(task, {"failed": f"{TRIES} workers were lost over it: {why}"})


def _packed(path: Path) -> bytes:
    """A recording as one file."""
    if path.is_file():
        return path.read_bytes()
    with tempfile.TemporaryDirectory(prefix="reenact-") as folder:
        home = path.parent.parent if path.parent.name == "recordings" else path.parent
        return bundle.export(LocalStore(home), str(path), Path(folder) / f"one{SUFFIX}").read_bytes()


def _line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
