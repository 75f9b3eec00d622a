"""The engines of the replays: this machine's cores, or a cluster (`verify.cluster`)."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from reenact.core import system
from reenact.core.dataclass import dataclass
from reenact.core.store.local import LocalStore
from reenact.errors import RecordingError, ReenactError, StoreAway
from reenact.verbs.verify.crew import CrewOptions, Report, Worker, worker

Done = Callable[["Task", Report], None]


@dataclass(frozen=True, slots=True)
class Task:
    """One recording to replay.

    Attributes:
        place: Its place in the given list.
        ref: The reference as given.
        path: Its path on this machine; empty if it is in a team's store.
        store: The team's store, if it is in one; then `ref` is the full id.
    """

    place: int
    ref: str
    path: str
    store: LocalStore | None = None

    def here(self) -> Path:
        """Return its path here; fetch it if needed. Raises RecordingError, StoreAway."""
        return Path(self.path) if self.store is None else self.store.find(self.ref)


class Engine(Protocol):
    """Replays many recordings; each is reported once, in any order."""

    def run(self, tasks: Sequence[Task], job: CrewOptions, done: Done) -> None:
        """Replay them all.

        Args:
            tasks: The recordings.
            job: The options of the replays.
            done: Called with each task and its report at its end, by any thread.

        Raises:
            ProgramError: The program cannot be imported.
            UsageError: The engine is not available.
        """


class Local:
    """This machine: as many processes as it has cores.

    Args:
        workers: Their number; 0 is one for each core.
    """

    def __init__(self, workers: int = 0) -> None:
        self._workers = workers

    def run(self, tasks: Sequence[Task], job: CrewOptions, done: Done) -> None:
        """Replay them all."""
        waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
        for task in tasks:
            waiting.put(task)
        failures: list[ReenactError] = []
        over = threading.Event()

        def serve() -> None:
            ours = worker(job)
            try:
                while not failures and not over.is_set():
                    try:
                        task = waiting.get_nowait()
                    except queue.Empty:
                        return
                    done(task, _replayed(ours, task))
            except ReenactError as error:
                failures.append(error)
            finally:
                ours.close()

        count = max(1, min(self._workers or system.cores(), len(tasks)))
        threads = [threading.Thread(target=serve, name="reenact-verify") for _ in range(count)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        finally:
            # After Ctrl-C no replay is begun; those that run got the signal too, from the same terminal.
            over.set()
        if failures:
            raise failures[0]


def _replayed(ours: Worker, task: Task) -> Report:
    try:
        path = task.here()
    except (RecordingError, StoreAway) as error:
        return {"failed": str(error)}
    return ours.run(str(path))
