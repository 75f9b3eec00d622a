"""Find anomalies of recordings: of one on request, of all in the background, newest first."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from reenact.analysis.anomalies import Choice, examine
from reenact.analysis.views.findings import FindingsView, findings, findings_of, findings_tree
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store.findings import Findings, Found
from reenact.core.store.local import EVENTS, load
from reenact.errors import RecordingError, ReenactError
from reenact.server.project_lines import ProjectLine, ProjectLines
from reenact.server.readers import Closing, ReaderCall, Readers, state_of
from reenact.verbs.diagnose import chosen

_LARGEST = 1 << 26
_LOOK = 1.0
_REST = 4.0
_POLITE = 1.5
_LONGEST = 60.0


class Examiner:
    """Runs the anomaly rules that are enabled in this folder.

    Args:
        lines: The recordings; findings are added to their lines.
        findings: The store of findings.
        tell: Called with the id of a recording whose line has changed.
        readers: The processes that examine large recordings; without them, they are examined here.
    """

    def __init__(
        self,
        lines: ProjectLines,
        findings: Findings,
        tell: Callable[[str], None],
        readers: Readers | None = None,
    ) -> None:
        self._readers = readers
        self._lines = lines
        self._findings = findings
        self._tell = tell
        self._ended = threading.Event()
        self._wake = threading.Event()
        self._asked: deque[str] = deque()
        self._thread: threading.Thread | None = None

    @cached_property
    def choice(self) -> Choice:
        """The rules that `reenact.toml` or `pyproject.toml` enables. Raises UsageError."""
        return chosen()

    def examined(self, recording: RecordedRun) -> FindingsView:
        """Return the anomalies of a recording, or the problem if it cannot be examined."""
        return _examined(recording, self.choice)

    def known(self, entry: ProjectLine) -> FindingsView | None:
        """Return the stored findings of a recording, or None."""
        stored = self._findings.told(entry.summary.id, entry.signature)
        try:
            return findings_of(stored) if stored is not None else None
        except (KeyError, TypeError):  # the cache is damaged: examine again
            return None

    def ask(self, id: str) -> None:
        """Examine that recording next."""
        if id not in self._asked:
            self._asked.append(id)
            self._wake.set()

    def start(self, loaded: threading.Event) -> None:
        """Start to examine all recordings once they are loaded. May be called again."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._run, args=(loaded,), name="reenact-examiner", daemon=True
            )
            self._thread.start()

    def close(self) -> None:
        """Stop soon."""
        self._ended.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(5)

    # -- in the background -----------------------------------------------------------------------------------

    def _run(self, loaded: threading.Event) -> None:
        loaded.wait()
        try:
            rules = repr([(asked.rule.name, sorted(asked.options.items())) for asked in self.choice.rules])
        except ReenactError:
            return  # a request for one recording's findings reports the error
        self._findings.under(hashlib.sha256(rules.encode()).hexdigest()[:16])
        self._recall()
        version = -1
        while not self._ended.is_set():
            if version != self._lines.version or self._asked:
                version = self._lines.version
                for entry in self._open():
                    begun = time.thread_time()
                    self._look(entry)
                    # Leave the processor to others, except when a request waits.
                    self._wake.wait(min(_REST * (time.thread_time() - begun), _LONGEST))
                    if self._ended.is_set():
                        return
            self._wake.wait(_LOOK)
            self._wake.clear()

    def _recall(self) -> None:
        """Load all stored findings at once."""
        with self._lines.lock:
            entries = list(self._lines.entries.values())
        found = {entry.summary.id: self._findings.of(entry.summary.id, entry.signature) for entry in entries}
        self._lines.find(found)

    def _open(self) -> Iterator[ProjectLine]:
        """Yield the recordings to examine: finished, not yet examined, newest first."""
        with self._lines.lock:
            ids = [id for _, id in self._lines.order]
        for id in ids:
            while self._asked:
                self._wake.clear()
                # A page has just opened a long recording. Serve the page first, because both need the processor.
                if self._ended.wait(_POLITE):
                    return
                yield from self._there(self._asked.popleft())
            yield from self._there(id)

    def _there(self, id: str) -> Iterator[ProjectLine]:
        entry = self._lines.entries.get(id)
        if entry is not None and entry.found is None and not entry.live and not entry.summary.broken:
            yield entry

    def _look(self, entry: ProjectLine) -> None:
        id, path = entry.summary.id, Path(entry.summary.path)
        found = self._findings.of(id, entry.signature)
        if found is None:
            try:
                if (path / EVENTS).stat().st_size > _LARGEST:
                    return
                if self._readers is not None and state_of(path):
                    told = self._readers.later(ReaderCall(_examine, (path,))).result()
                else:
                    told = self.examined(load(path))
            except Closing:
                return
            except (ReenactError, OSError) as error:
                told = _problem(error)
            found = tuple((one.rule, one.step) for one in told.items)
            self._findings.keep(id, entry.signature, found, findings_tree(told))
        self._put(entry, found)

    def _put(self, entry: ProjectLine, found: Found) -> None:
        id = entry.summary.id
        with self._lines.lock:
            now = self._lines.entries.get(id)
            if now is None or now.signature != entry.signature:
                return
            self._lines.put(replace(now, found=found))
        self._tell(id)


def _examine(path: Path) -> FindingsView:
    """Examine a recording, in another process with the server's working directory."""
    return _examined(load(path), chosen())


def _examined(recording: RecordedRun, choice: Choice) -> FindingsView:
    try:
        return findings(examine(recording, choice))
    except RecordingError as error:
        return _problem(error)


def _problem(error: Exception) -> FindingsView:
    return FindingsView(items=(), problem=str(error), complete=True)
