"""Each subject works in a process of its own, since they patch the same libraries. One works at a time."""

from __future__ import annotations

import itertools
import multiprocessing
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.jobs import Job
from benchmarks.measure import Sample
from benchmarks.subjects import SUBJECTS, Subject
from benchmarks.workloads import run

_PATIENCE = 600


class Broken(Exception):
    """A subject could not do its job. The text says why, in one line."""


class Worker:
    """One subject's process."""

    def __init__(self, subject: Subject, folder: Path) -> None:
        self.subject = subject
        self._folder = folder
        self._numbers = itertools.count()
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(subject.name, theirs), daemon=True)
        self._process.start()

    def do(self, workload: str, mode: str, calls: int, **options: Any) -> Sample:
        """Make one batch of calls. A recording goes to a new place unless `path` says where. Raises Broken."""
        path = options.pop("path", None) or self.fresh()
        self._pipe.send(Job(workload, mode, calls, path, **options))
        if not self._pipe.poll(_PATIENCE):
            raise Broken(f"no answer within {_PATIENCE} s")
        try:
            answer = self._pipe.recv()
        except EOFError:
            raise Broken("its process ended") from None
        if isinstance(answer, str):
            raise Broken(answer)
        assert isinstance(answer, Sample)
        return answer

    def fresh(self) -> Path:
        """A place for a new recording."""
        return self._folder / f"{self.subject.name}-{next(self._numbers)}"

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.join()


@contextmanager
def working(subjects: Iterable[Subject]) -> Iterator[list[Worker]]:
    """A worker for each subject, and a folder for their recordings that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="reenact-bench-") as folder:
        workers = [Worker(subject, Path(folder)) for subject in subjects]
        try:
            yield workers
        finally:
            for worker in workers:
                worker.close()


def _work(name: str, pipe: Connection) -> None:
    warnings.simplefilter("ignore")
    subject = SUBJECTS[name]()
    while True:
        job = pipe.recv()
        try:
            pipe.send(run(subject, job))
        except BaseException as error:
            line = (str(error).splitlines() or [""])[0][:160]
            sys.stderr.write(f"\n{name}: {traceback.format_exc()}\n")
            pipe.send(f"{type(error).__name__}: {line}")
