"""Keep a project's lines up to date with its files: first from the index, then by watching.

Notifications of the file system are not used. The modification time of the folder shows new recordings, and each
unsealed recording is checked for additions. From time to time all folders are checked for unexpected changes. The work
at a time is limited, so that a server that receives many runs at once still answers.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import replace
from itertools import islice
from pathlib import Path

from reenact.analysis.views.listing import ServedLineView
from reenact.core.query.summary import Summary
from reenact.core.store.findings import Findings
from reenact.core.store.glance import Glance
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore, nameable
from reenact.core.store.signature import IndexedRecording, Stale
from reenact.core.store.summarised import Summarised, reason, summarised, unsummarised
from reenact.core.store.writer import warn
from reenact.core.trust import Book
from reenact.errors import SearchEnded
from reenact.server.activity import DAY, alive
from reenact.server.feed import Feed
from reenact.server.project_lines import ProjectLine, ProjectLines
from reenact.server.readers import Closing, ReaderCall, Readers, state_of

TICK = 0.25
_BUDGET = 0.2
_SLICE = 1.0
_REST = 2.0
_SWEEP = 30.0
_BORN = 60.0
_PATIENCE = 10.0
_FIRST = 300
_FEW = 20


class Keeper:
    """The thread that keeps the lines up to date.

    Args:
        store: The recordings.
        lines: The lines to keep.
        feed: Receives events of new, changed and deleted recordings.
        findings: The known findings of rules.
        readers: The processes that read large recordings; without them, they are read here.
    """

    def __init__(
        self,
        store: LocalStore,
        lines: ProjectLines,
        feed: Feed,
        findings: Findings,
        readers: Readers | None = None,
    ) -> None:
        self._findings = findings
        self._readers = readers
        self._apart: dict[str, tuple[Stale, float, Future[Summarised]]] = {}
        self._store = store
        self._lines = lines
        self._feed = feed
        self._ended = threading.Event()
        self._wake = threading.Event()
        self._touched: set[str] = set()
        self._signatures: dict[str, str] = {}
        self._watched: set[str] = set()
        self._empty: set[str] = set()
        self._glances: dict[str, Glance] = {}
        self._seen: dict[str, str] = {}
        self._waiting: dict[str, Stale] = {}
        self._read: dict[str, tuple[float, float]] = {}
        self._folder_time = -1
        self._swept = float("-inf")
        self._took = 0.0
        self.ready = threading.Event()
        """Set when there are lines to show."""
        self.loaded = threading.Event()
        """Set when all lines of the index are loaded."""
        self.caught_up = threading.Event()
        """Set when all readable recordings in the folder are read."""
        self._done = self._total = 0
        self._said = ""
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread. May be called again."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="reenact-keeper", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop the thread soon."""
        self._ended.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(5)

    @property
    def indexing(self) -> tuple[int, int]:
        """New recordings read so far and in total; (0, 0) if there are only a few."""
        return (self._done, self._total) if self._total > _FEW else (0, 0)

    @property
    def behind(self) -> tuple[int, float]:
        """The number of unread recordings, and the age of the oldest in seconds."""
        waiting = list(self._waiting.values())
        oldest = min((one.written for one in waiting), default=0)
        return len(waiting), max(0.0, time.time() - oldest / 1e9) if waiting else 0.0

    def touch(self, id: str) -> None:
        """Read a recording at once, after the server has written to it."""
        self._touched.add(id)
        self._wake.set()

    def _run(self) -> None:
        index = Index(self._store, self._summarised)
        try:
            try:
                if index.in_memory:
                    # The file is not a valid index.
                    index.discard()
                self._load(index)
            except sqlite3.DatabaseError:
                index.discard()
            self.loaded.set()
            while not self._ended.is_set():
                begun = time.monotonic()
                self._look_once(index)
                if not self._waiting:
                    self.caught_up.set()
                took = time.monotonic() - begun
                # Many new recordings are read with short pauses.
                self._wake.wait(took / 4 if len(self._waiting) > _FIRST else max(TICK, _REST * took))
                self._wake.clear()
        finally:
            self.ready.set()
            self.loaded.set()
            self.caught_up.set()
            index.close()

    # -- start -----------------------------------------------------------------------------------------------

    def _load(self, index: Index) -> None:
        for limit in (_FIRST, -1):
            known = index.known_lines(limit)
            self._lines.fill([self._entry(one) for one in known])
            self.ready.set()
            if len(known) < _FIRST:
                break
        now = time.time()
        for one in known:
            self._signatures[one.folder] = one.signature
            self._mind(one.folder, one.summary, now)

    def _entry(self, known: IndexedRecording) -> ProjectLine:
        return ProjectLine(
            known.key, known.signature, known.summary, self._findings.of(known.folder, known.signature)
        )

    def _mind(self, folder: str, line: Summary, now: float) -> None:
        """Watch a recording if it may still grow."""
        # A recording without a header may have been read before its first line was written.
        longest = _BORN if line.broken else DAY if line.status == "unsealed" else 0
        if now - line.written / 1e9 < longest:
            self._watched.add(folder)
        else:
            self._watched.discard(folder)
            self._glances.pop(folder, None)

    def _look_once(self, index: Index) -> None:
        """Check the folder once; ignore a failure, because the next check repeats it."""
        try:
            self._look(index)
        except (OSError, sqlite3.OperationalError):
            # A folder was removed during the check, or another process is writing the index.
            return
        except sqlite3.DatabaseError:
            index.discard()
            self._signatures.clear()
            self._swept = float("-inf")
        except Exception as error:
            # The thread must go on, so that one failure does not keep other recordings from the list.
            if (said := f"{type(error).__name__}: {error}") != self._said:
                self._said = said
                warn(f"a look at the recordings in {self._store.place} failed ({said}); trying again")

    # -- one check -------------------------------------------------------------------------------------------

    def _look(self, index: Index) -> None:
        names: set[str] = set(self._watched)
        while self._touched:
            names.add(self._touched.pop())
        fresh, gone = self._named()
        # A new folder may still be empty.
        self._empty = {*list(self._empty)[-_FEW:], *fresh}
        names |= self._empty
        if time.monotonic() - self._swept > max(_SWEEP, 20 * self._took):
            begun = time.monotonic()
            stale, gone = index.outdated(self._signatures)
            self._swept = time.monotonic()
            self._took = self._swept - begun
        else:
            stale, missing = index.outdated(self._signatures, names)
            gone = [*gone, *(name for name in missing if name in self._signatures)]
        for name in gone:
            self._forget(index, name)
        self._glance(stale)
        self._waiting |= {one.folder: one for one in stale}
        self._empty -= self._waiting.keys() | self._signatures.keys()
        self._read_again(index)
        self._breathe()

    def _named(self) -> tuple[set[str], list[str]]:
        """Return the new and the missing folders, if the folder around them has changed."""
        try:
            state = self._store.recordings.stat().st_mtime_ns
        except FileNotFoundError:
            return set(), list(self._signatures)
        if state == self._folder_time:
            return set(), []
        # The folder may change again within the resolution of its time.
        self._folder_time = state if time.time_ns() - state > 50_000_000 else -1
        with os.scandir(self._store.recordings) as entries:
            names = {entry.name for entry in entries if nameable(entry.name)}
        return names - self._signatures.keys(), [name for name in self._signatures if name not in names]

    def _forget(self, index: Index, name: str) -> None:
        index.renew((), [name])
        for known in (
            self._signatures, self._waiting, self._read, self._glances, self._seen, self._apart,
        ):  # fmt: skip
            known.pop(name, None)
        self._watched.discard(name)
        self._lines.drop(name)
        self._feed.say("gone", name, lambda: {"id": name})

    def _glance(self, stale: Iterable[Stale]) -> None:
        """Update the lines of known recordings without reading them in full."""
        for one in stale:
            entry = self._lines.entries.get(one.folder)
            if (
                entry is None
                or one.folder not in self._watched
                or self._seen.get(one.folder) == one.signature
            ):
                continue
            self._seen[one.folder] = one.signature
            glance = self._glances.get(one.folder)
            if glance is None:
                glance = self._glances[one.folder] = Glance(self._store.folder(one.folder))
            with contextlib.suppress(OSError, ValueError):
                line = replace(glance.look(entry.summary), written=one.written)
                self._put(replace(entry, summary=line, live=line.status == "unsealed"))

    def _read_again(self, index: Index) -> None:
        """Read the due recordings within a time limit, new and ended ones first."""
        now = time.monotonic()
        due = [one for one in self._waiting.values() if self._due(one, now)]
        if not due:
            return
        many = len(due) > _FIRST
        if not many:
            due.sort(key=self._urgency)
        self._total = max(self._total, self._done + len(due))
        until = now + (_SLICE if many else _BUDGET)
        # A recording is announced only when a search can find it.
        ready = (found for one in due if (found := self._ready(one)) is not None)
        for known in index.renew(list(islice(ready, _FIRST)), until=until):
            self._done += 1
            self._take(known)
        if not self._waiting:
            self._done = self._total = 0

    def _ready(self, one: Stale) -> Stale | None:
        """Return a recording that can be indexed now: small, or read by another process."""
        if one.folder in self._apart:
            read, _, rows = self._apart[one.folder]
            return read if rows.done() and not isinstance(rows.exception(), Closing) else None
        folder = self._store.folder(one.folder)
        if self._readers is None or not state_of(folder):
            return one
        job = ReaderCall(summarised, (folder, one.written, self._store.root))
        with contextlib.suppress(SearchEnded):  # many wait already: try again at the next check
            self._apart[one.folder] = one, time.monotonic(), self._readers.later(job)
        return None

    def _summarised(self, path: Path, written: int, home: Path) -> Summarised:
        """Return the index rows of a recording, for a large one from the other process."""
        read = self._apart.get(path.name)
        if read is None:
            return summarised(path, written, home)
        try:
            return read[2].result()
        except Exception as error:
            return unsummarised(path, written, reason(error))

    def _due(self, one: Stale, now: float) -> bool:
        at, cost = self._read.get(one.folder, (0.0, 0.0))
        entry = self._lines.entries.get(one.folder)
        ended = entry is not None and entry.summary.status not in ("unsealed", "")
        return now - at > (cost if ended else _PATIENCE * cost)

    def _urgency(self, one: Stale) -> tuple[bool, float]:
        return one.folder in self._read, self._read.get(one.folder, (0.0, 0.0))[0]

    def _take(self, known: IndexedRecording) -> None:
        now = time.monotonic()
        apart = self._apart.pop(known.folder, None)
        self._signatures[known.folder] = self._seen[known.folder] = known.signature
        self._waiting.pop(known.folder, None)
        self._read[known.folder] = now, known.seconds if apart is None else now - apart[1]
        line = known.summary
        self._mind(known.folder, line, time.time())
        live = known.folder in self._watched and alive(Path(line.path), line.written / 1e9)
        self._put(replace(self._entry(known), live=live))

    def _breathe(self) -> None:
        """Mark unsealed recordings as not live once nothing is written any more."""
        now = time.time()
        for name in list(self._watched):
            entry = self._lines.entries.get(name)
            if entry is None:
                continue
            live = alive(Path(entry.summary.path), entry.summary.written / 1e9, now)
            if live != entry.live:
                self._put(replace(entry, live=live))

    def _put(self, entry: ProjectLine) -> None:
        self._lines.put(entry)
        self.tell(entry.summary.id)

    def tell(self, id: str) -> None:
        """Announce that a recording's line has changed."""
        self._feed.say("recording", id, lambda: self._view(id))

    def _view(self, id: str) -> ServedLineView | None:
        entry = self._lines.entries.get(id)
        return entry.view(Book(self._store.root)) if entry is not None else None
