"""Metrics of a server's recordings and jobs, and its readiness checks."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric

from reenact.core.store.base import Piece, PieceTaken
from reenact.core.store.quotas import bytes_of
from reenact.errors import ReenactError
from reenact.server.jobs import ENDED, Jobs, RunningJob
from reenact.server.keys import DEFAULT
from reenact.server.operations.checks import OK, Check, Checks, room, writable
from reenact.server.operations.logs import event
from reenact.server.operations.metrics import Requests
from reenact.server.projects import Projects

_ANEW = 30.0
_PATIENCE = 2.0
_BRIEF = 1.0
_BUCKETS = 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0

Sizes = dict[str, tuple[int, int]]
"""By project, the number of recordings and the bytes of their files."""


def checks_of(projects: Projects) -> Checks:
    """Return the readiness checks: disk, home, team's store, and the first reading."""
    library = projects.library(DEFAULT)

    def read() -> str:
        if library.catch_up(_BRIEF):
            return ""
        at = library.indexing
        return "are being read" + (f": {at.done} of {at.total}" if at.total else "")

    share = library.team
    found: dict[str, Check] = {"disk": room(library.store.root), "home": writable(library.store.root)}
    if share is not None:
        found["store"] = lambda: "" if share.answers() else "no"
        found["objects"] = lambda: "" if share.has_objects() else "no"
    return Checks({**found, "recordings": read})


class Measures:
    """The metrics of a server, except those of its requests.

    Args:
        registry: The registry of the metrics.
        projects: Its projects.
        jobs: Its jobs.
        checks: The readiness checks; their last answer is shown.
        requests: The metrics of requests, which count errors, too.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        projects: Projects,
        jobs: Jobs,
        *,
        checks: Checks,
        requests: Requests,
    ) -> None:
        self._projects = projects
        self._jobs = jobs
        self._checks = checks
        self._requests = requests
        self._sizes = _Sizes(projects)
        self._pieces = Counter(
            "reenact_ingest_pieces", "Pieces of recordings that were received, by result.",
            ("project", "outcome"), registry=registry,
        )  # fmt: skip
        self._bytes = Counter(
            "reenact_ingest_bytes", "Bytes of pieces and blobs that were acknowledged.", ("project",),
            registry=registry,
        )  # fmt: skip
        self._events = Counter(
            "reenact_ingest_events",
            "Events in pieces that were acknowledged.",
            ("project",),
            registry=registry,
        )
        self._seconds = Histogram(
            "reenact_ingest_acknowledge_seconds", "Seconds from a request with pieces to its commit.", ("project",),
            buckets=_BUCKETS, registry=registry,
        )  # fmt: skip
        self._ended = Counter(
            "reenact_jobs_ended", "Jobs that have ended, by kind and status.", ("kind", "verdict"),
            registry=registry,
        )  # fmt: skip
        jobs.listen(self._count_job)
        registry.register(self)

    def took(
        self, project: str, pieces: Sequence[Piece], taken: Sequence[PieceTaken], seconds: float
    ) -> None:
        """Count a request with pieces: its pieces, their outcomes, and its seconds."""
        size = lines = 0
        for piece, said in zip(pieces, taken, strict=True):
            self._pieces.labels(project, said.status).inc()
            if said.status == "ok":
                size += len(piece.data)
                lines += 0 if piece.name.startswith("sha256:") else piece.data.count(b"\n")
        self._bytes.labels(project).inc(size)
        self._events.labels(project).inc(lines)
        self._seconds.labels(project).observe(seconds)

    def refused(self, error: Exception) -> None:
        """Count an error that a verb raised."""
        kind = type(error).__name__ if isinstance(error, ReenactError) else "unexpected"
        self._requests.errors.labels(kind).inc()

    def ended(self) -> None:
        """Log that the server has ended."""
        event("ended")

    def _count_job(self, project: str, job: RunningJob) -> None:
        if job.status in ENDED and job.ended is not None:
            self._ended.labels(job.kind, job.status).inc()
            event("job_ended", job=job.id, kind=job.kind, status=job.status, project=project)

    # -- measured on request -------------------------------------------------------------------------------------

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges."""
        yield from self._behind()
        recordings = GaugeMetricFamily(
            "reenact_store_recordings", "Recordings in the store.", labels=["project"]
        )
        size = GaugeMetricFamily(
            "reenact_store_bytes",
            "Bytes of recordings; in a team's store, the bytes of their lines.",
            labels=["project"],
        )
        for project, (count, total) in self._sizes.look().items():
            recordings.add_metric([project], count)
            size.add_metric([project], total)
        yield recordings
        yield size
        jobs = GaugeMetricFamily("reenact_jobs", "Jobs that have not ended.", labels=["status"])
        for status, many in self._jobs.under_way().items():
            jobs.add_metric([status], many)
        yield jobs
        ready = GaugeMetricFamily(
            "reenact_ready", "1 if the check succeeded at the last request of /ready.", labels=["check"]
        )
        for name, said in self._checks.last.items():
            ready.add_metric([name], said == OK)
        yield ready

    def _behind(self) -> Iterator[Metric]:
        unread = GaugeMetricFamily(
            "reenact_unread_recordings", "Recordings on disk that the list does not show in their current state.",
            labels=["project"],
        )  # fmt: skip
        oldest = GaugeMetricFamily(
            "reenact_oldest_unread_seconds", "Seconds since the oldest of those was written.",
            labels=["project"],
        )  # fmt: skip
        unbrought = GaugeMetricFamily(
            "reenact_unbrought_recordings", "Recordings of a team's store that wait to be copied to this server.",
            labels=["project"],
        )  # fmt: skip
        spool = GaugeMetricFamily(
            "reenact_spool_recordings", "Recordings of this server that wait to be sent elsewhere.",
            labels=["project"],
        )  # fmt: skip
        broken = GaugeMetricFamily(
            "reenact_broken_recordings", "Recordings that cannot be summarised: they are listed with the reason.",
            labels=["project"],
        )  # fmt: skip
        for project, library in self._projects.opened().items():
            broken.add_metric([project], library.broken)
            many, seconds = library.behind
            unread.add_metric([project], many)
            oldest.add_metric([project], seconds)
            if library.team is not None:
                unbrought.add_metric([project], library.team.behind)
            spool.add_metric([project], _entries(library.store.root / "ship" / "queue"))
        yield from (unread, oldest, unbrought, spool, broken)


class _Sizes:
    """The size of each project, measured from time to time, so that a scrape never waits long."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._lock = threading.Lock()
        self._known: Sizes = {}
        self._next = float("-inf")
        self._looking: Future[None] | None = None

    def look(self) -> Sizes:
        with self._lock:
            if self._looking is None and time.monotonic() >= self._next:
                self._looking = Future()
                threading.Thread(target=self._run, args=(self._looking,), daemon=True).start()
            looking = self._looking
        if looking is not None:
            with contextlib.suppress(TimeoutError):
                looking.result(_PATIENCE)
        return self._known

    def _run(self, looking: Future[None]) -> None:
        begun = time.monotonic()
        try:
            share = self._projects.library(DEFAULT).team
            self._known = share.sizes() if share is not None else _sizes(self._projects)
        except (ReenactError, OSError):
            # Keep the last sizes until the store answers again.
            pass
        finally:
            took = time.monotonic() - begun
            with self._lock:
                self._next = time.monotonic() + max(_ANEW, 20 * took)
                self._looking = None
            looking.set_result(None)


def _sizes(projects: Projects) -> Sizes:
    found = {}
    for project in projects.names():
        folder = projects.folder(project) / "recordings"
        found[project] = _entries(folder), bytes_of(folder)
    return found


def _entries(folder: Path) -> int:
    try:
        with os.scandir(folder) as entries:
            return sum(1 for _ in entries)
    except OSError:
        return 0
