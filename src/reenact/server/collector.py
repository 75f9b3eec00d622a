"""Traces sent to a server: each becomes a recording in the project of its key.

An acknowledged trace is on the server's disk. After a restart or a crash the server resumes with the traces left there.
A server with a team's store uploads the recordings as they are made.
"""

from __future__ import annotations

import errno
import logging
import threading
from collections.abc import Iterator
from time import monotonic

from prometheus_client.core import Metric

from reenact.analysis.interchange.importers.otel.span import Span
from reenact.core.store.intake import LocalIntake
from reenact.server.keys import DEFAULT
from reenact.server.library import ProjectLibrary
from reenact.server.operations.checks import room
from reenact.server.operations.logs import event
from reenact.server.projects import Projects
from reenact.server.traces.measuring import families
from reenact.server.traces.receiver import Gate
from reenact.server.traces.traces import FOLDER, Traces

_PACE = 0.5


class Collecting:
    """The traces of a server's projects.

    Args:
        projects: The projects for the recordings.
    """

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._lock = threading.Lock()
        self._traces: dict[str, Traces] = {}
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._room = room(projects.folder(DEFAULT))
        self._gates: dict[str, Gate] = {}

    def resume(self) -> None:
        """Resume with the traces of an earlier server."""
        for project in self._projects.names():
            if (self._projects.folder(project) / FOLDER).is_dir():
                self._of(project)

    def gate(self, project: str) -> Gate:
        """Return the limit of data that a project sends at once."""
        return self._gates.setdefault(project, Gate(self._room))

    def take(self, project: str, spans: list[Span]) -> int:
        """Store spans on the disk. Returns the number of left out ones.

        Raises OSError, also for a full project.
        """
        traces, intake = self._of(project), self._projects.library(project).intake
        if isinstance(intake, LocalIntake):
            full = intake.project_full(*traces.expected(spans))
            if full is not None:
                raise OSError(errno.ENOSPC, full.detail)
        return traces.take(spans, monotonic())

    def close(self) -> None:
        """Stop. Spans without a recording stay on the disk."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(5)

    def collect(self) -> Iterator[Metric]:
        """Yield the counts, for Prometheus."""
        with self._lock:
            known = sorted(self._traces.items())
        return families(known)

    def _of(self, project: str) -> Traces:
        library = self._projects.library(project)
        with self._lock:
            found = self._traces.get(project)
            if found is None:
                found = self._traces[project] = Traces(library.store, now=monotonic())
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="reenact-traces", daemon=True)
                    self._thread.start()
        return found

    def _run(self) -> None:
        while not self._ended.wait(_PACE):
            with self._lock:
                known = list(self._traces.items())
            for project, traces in known:
                self._settle(self._projects.library(project), traces, project)

    def _settle(self, library: ProjectLibrary, traces: Traces, project: str) -> None:
        def failed(text: str) -> None:
            # The text may quote a span, so only the trace's id is logged.
            event("trace_failed", logging.WARNING, trace=text.split()[1], project=project)

        try:
            made = traces.settle(monotonic(), failed=failed)
        except OSError:
            # The disk may be full; the files of the spans stay.
            return
        for kept in made:
            library.touched(kept.id)
            if library.team is not None:
                library.team.made(kept.id)
            event("recorded", recording=kept.id, steps=kept.steps, again=kept.again, project=project)
