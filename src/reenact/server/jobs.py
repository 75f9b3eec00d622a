"""Jobs: verbs that take longer than a request may, each in its own process.

A few run at once; all are stored on disk.

    HOME/jobs/ID/order.json    the order
                 job.json      the state, written at each change
                 log.txt       the output of the verb and its programs
                 files/        the files that it made

A starting server marks the unfinished jobs of an earlier server as failed. A server locks each of its own jobs; the
system releases the locks when the server ends in any way.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Literal

import orjson

from reenact.core import private, system
from reenact.core.store.local import new_id
from reenact.errors import RecordingNotFound, UsageError
from reenact.server.child import JobProcess
from reenact.server.orders import ORDERS, Order
from reenact.server.permission import allowed_at
from reenact.server.projects import Projects
from reenact.server.work import FILES, ORDER

fcntl: Any
try:
    fcntl = importlib.import_module("fcntl")
except ImportError:  # on Windows, a server treats the jobs of another one as its own
    fcntl = None

Status = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED: tuple[Status, ...] = ("done", "failed", "cancelled")

AT_ONCE = 2
"""Most running jobs; the others wait."""

WAITING = 100
"""Most waiting jobs."""

_STATE, _LOG, _LOCK = "job.json", "log.txt", "lock"

Told = Callable[[str, "RunningJob"], None]
"""A function that is called with a project and its changed job, from any thread."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a job: parts done, parts in total if known, and a label."""

    done: int = 0
    total: int | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class RunningJob:
    """The state of a job.

    Attributes:
        id: Its id.
        kind: The verb.
        recordings: The ids of its recordings.
        status: Its status.
        progress: Its progress.
        result: The result, in the form of the verb's `--json`.
        error: The reason of its failure, in one line.
        files: The names of the files that it made.
        title: Its name for people: a single replay is *Run again*, as in the console.
        created, began, ended: ISO 8601 in UTC, or None for not yet.
    """

    id: str
    kind: str
    recordings: tuple[str, ...]
    status: Status = "queued"
    progress: Progress = field(default_factory=Progress)
    result: Any = None
    error: str | None = None
    files: tuple[str, ...] = ()
    title: str = ""
    created: str = ""
    began: str | None = None
    ended: str | None = None


class Jobs:
    """The jobs of a server's projects. May be used by several threads.

    Args:
        projects: The projects, whose folders contain the jobs.
        at_once: Most running jobs.
        run_foreign: True if jobs may run programs of foreign recordings.
    """

    def __init__(self, projects: Projects, at_once: int = AT_ONCE, *, run_foreign: bool = False) -> None:
        self._run_foreign = run_foreign
        self._projects = projects
        self._lock = threading.RLock()
        self._own: dict[str, RunningJob] = {}
        self._known: dict[str, RunningJob] = {}
        self._children: dict[str, JobProcess] = {}
        self._held: dict[str, BinaryIO] = {}
        self._places: dict[str, str] = {}
        self._told: list[Told] = []
        self._closing = False
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="reenact-job")

    # -- orders and questions --------------------------------------------------------------------------------

    def start(self, project: str, order: Order) -> RunningJob:
        """Start a job, or queue it.

        Raises:
            RecordingNotFound: There is no such recording.
            ForeignRecording: It would run the program of a foreign recording.
            UsageError: Too many jobs wait already.
        """
        library = self._projects.library(project)
        store = library.store
        for id in order.ids:
            if not (store.folder(id) / "events.jsonl").is_file():
                raise RecordingNotFound(f"there is no recording {id}")
            if order.runs and not order.sorts_foreign and not self._run_foreign:
                library.apart(id, allowed_at, store.folder(id), store.root)
        with self._lock:
            if self._closing or sum(job.status == "queued" for job in self._own.values()) >= WAITING:
                raise UsageError(f"{WAITING} jobs wait already")
            job = RunningJob(new_id(), order.kind, tuple(order.ids), title=order.title, created=_now())
            folder = self._folder(project, job.id)
            private.folder(folder)
            private.write(folder / ORDER, ORDERS.dump_json(order))
            self._held[job.id] = _lock(folder)
            self._own[job.id] = job
            self._keep(project, job)
            self._places[job.id] = project
            self._pool.submit(self._run, project, job.id)
        return job

    def all(self, project: str) -> list[RunningJob]:
        """Return the jobs of a project, the latest first."""
        try:
            names = [path.name for path in (self._projects.folder(project) / "jobs").iterdir()]
        except FileNotFoundError:
            return []
        found = [job for name in names if (job := self.find(project, name)) is not None]
        return sorted(found, key=lambda job: (job.created, job.id), reverse=True)

    def find(self, project: str, id: str) -> RunningJob | None:
        """Return a job of a project, or None. The id must be safe in a path; routes check it."""
        folder = self._folder(project, id)
        with self._lock:
            if not (folder / _STATE).is_file():
                return None
            known = self._own.get(id) or self._known.get(id)
            return known if known is not None else self._read(project, folder)

    def order(self, project: str, id: str) -> Order | None:
        """Return the order of a job, or None if it cannot be read."""
        with contextlib.suppress(OSError, ValueError):
            return ORDERS.validate_json((self._folder(project, id) / ORDER).read_bytes())
        return None

    def cancel(self, project: str, id: str) -> None:
        """Cancel an unfinished job. Files that it has made stay."""
        with self._lock:
            job = self._own.get(id)
            if job is None or job.status in ENDED:
                return
            if (child := self._children.get(id)) is not None:
                child.end()
            else:
                self._end(project, id, status="cancelled")

    def remove(self, project: str, id: str) -> None:
        """Delete an ended job with its files."""
        with self._lock:
            self._own.pop(id, None)
            self._known.pop(id, None)
            shutil.rmtree(self._folder(project, id), ignore_errors=True)

    def files(self, project: str, job: RunningJob) -> list[tuple[str, Path]]:
        """Return the names and paths of a job's files, and of its log once it has ended."""
        folder = self._folder(project, job.id)
        found = [(name, folder / FILES / name) for name in job.files]
        log = folder / _LOG
        with contextlib.suppress(OSError):
            if job.status in ENDED and log.stat().st_size:
                found.append((_LOG, log))
        return found

    def under_way(self) -> dict[str, int]:
        """Return the numbers of this server's queued and running jobs."""
        with self._lock:
            have = [job.status for job in self._own.values()]
        return {status: have.count(status) for status in ("queued", "running")}

    def listen(self, told: Told) -> Callable[[], None]:
        """Call a function at every change; return a function that ends this."""
        with self._lock:
            self._told.append(told)
        return lambda: self._told.remove(told)

    def close(self) -> None:
        """Stop all running jobs. May be called again."""
        with self._lock:
            self._closing = True
            children = list(self._children.values())
        for child in children:
            child.end(patience=0.5)
        self._pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            for id in list(self._held):
                self._end(self._places[id], id, status="failed", error=_GONE)

    # -- one job ---------------------------------------------------------------------------------------------

    def _run(self, project: str, id: str) -> None:
        """Run a job to its end, in a thread of the pool."""
        folder = self._folder(project, id)
        with self._lock:
            if self._closing or self._own[id].status != "queued":
                return
            try:
                child = JobProcess(
                    folder, self._projects.folder(project), folder / _LOG, run_foreign=self._run_foreign
                )
            except OSError as error:
                self._end(project, id, status="failed", error=str(error))
                return
            self._children[id] = child
            self._change(project, id, status="running", began=_now())
        last: dict[str, Any] = {}
        for said in child.lines():
            last = said
            if "done" in said:
                self._change(project, id, write=False, progress=Progress(**said))
        status = child.wait()
        with self._lock:
            del self._children[id]
            self._end(project, id, **self._came(child, last, status), files=_files(folder))

    def _came(self, child: JobProcess, last: dict[str, Any], status: int) -> dict[str, Any]:
        """Return the outcome of a job, from its last message and its exit status."""
        if "result" in last:
            return {"status": "done", "result": last["result"]}
        if "error" in last:
            return {"status": "failed", "error": last["error"]}
        if self._closing:
            return {"status": "failed", "error": _GONE}
        if child.told_to_end:
            return {"status": "cancelled"}
        how = f"was ended by signal {-status}" if status < 0 else f"ended with exit status {status}"
        return {"status": "failed", "error": f"its process {how}; see its log"}

    def _end(self, project: str, id: str, **changed: Any) -> None:
        self._change(project, id, ended=_now(), **changed)
        self._held.pop(id).close()

    def _change(self, project: str, id: str, *, write: bool = True, **changed: Any) -> None:
        with self._lock:
            job = self._own[id] = replace(self._own[id], **changed)
            if write:
                self._keep(project, job)
            told = list(self._told)
        for tell in told:
            tell(project, job)

    # -- on the disk -----------------------------------------------------------------------------------------

    def _folder(self, project: str, id: str) -> Path:
        return self._projects.folder(project) / "jobs" / id

    def _keep(self, project: str, job: RunningJob) -> None:
        path = self._folder(project, job.id) / _STATE
        # A full disk must not change the outcome of a job.
        with contextlib.suppress(OSError):
            private.write(path, orjson.dumps(asdict(job), option=orjson.OPT_NON_STR_KEYS))

    def _read(self, project: str, folder: Path) -> RunningJob | None:
        """Read a job of another server, earlier or still running."""
        try:
            tree = orjson.loads((folder / _STATE).read_bytes())
            job = RunningJob(**{**tree, "progress": Progress(**tree["progress"])})
        except (OSError, ValueError, TypeError, KeyError):
            return None
        job = replace(job, recordings=tuple(job.recordings), files=tuple(job.files))
        if job.status not in ENDED:
            if not _is_free(folder):
                return job
            job = replace(job, status="failed", error=_GONE, files=_files(folder), ended=_now())
            self._keep(project, job)
        self._known[job.id] = job
        return job


_GONE = "the server ended"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _files(folder: Path) -> tuple[str, ...]:
    files = folder / FILES
    return tuple(sorted(path.relative_to(files).as_posix() for path in _within(files)))


def _within(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _lock(folder: Path) -> BinaryIO:
    """Take a job's lock; return its open file."""
    file = os.fdopen(private.opener(str(folder / _LOCK), os.O_WRONLY | os.O_CREAT), "wb")
    system.lock(file.fileno())
    return file


def _is_free(folder: Path) -> bool:
    """Return True if no running server holds a job's lock."""
    try:
        with (folder / _LOCK).open("rb") as file:
            system.lock(file.fileno(), wait=False)
            return True
    except BlockingIOError:
        return False
    except OSError:
        return True
