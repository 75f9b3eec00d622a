"""A project's recordings for the routes: the store, and an index in memory."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.concurrency import run_in_threadpool

from reenact.analysis.views.findings import FindingsView
from reenact.analysis.views.listing import IndexingView, ServedLineView
from reenact.core.store.base import Intake
from reenact.core.store.findings import Findings
from reenact.core.store.index import Index
from reenact.core.store.intake import LocalIntake
from reenact.core.store.local import EVENTS, LocalStore
from reenact.core.store.quotas import IntakeLimits
from reenact.core.trust import Book
from reenact.errors import RecordingNotFound
from reenact.server.cache import Loaded, Shelf
from reenact.server.examiner import Examiner
from reenact.server.feed import Feed
from reenact.server.project_lines import ProjectLine, ProjectLines
from reenact.server.readers import ReaderCall, Readers, state_of
from reenact.server.refresh import Keeper
from reenact.server.request_memory import RequestMemory
from reenact.server.searching import Search, Searches

if TYPE_CHECKING:
    from reenact.server.share import Share
    from reenact.team.location import TeamPlace

T = TypeVar("T")

ID = re.compile(r"[\w-]{1,64}", re.ASCII)
"""The pattern of a recording's id."""

_PATIENCE = 0.15
_LONG = 2000


class ProjectLibrary:
    """The recordings of one project, which are read when first needed.

    Args:
        home: Its folder.
        team: The project in the team's store, or None.
        limits: The limits of uploads, for a project that is stored here.
        readers: The processes that read large recordings; without them, they are read here.
    """

    def __init__(
        self,
        home: Path,
        team: TeamPlace | None = None,
        limits: IntakeLimits | None = None,
        readers: Readers | None = None,
    ) -> None:
        self._readers = readers
        self.store = LocalStore(home)
        self.feed = Feed()
        self._lines = ProjectLines()
        self._findings = Findings(self.store.root)
        self._keeper = Keeper(self.store, self._lines, self.feed, self._findings, readers)
        self._searches = Searches(self.store, self._lines)
        self._shelf = Shelf(self.store)
        self._examiner = Examiner(self._lines, self._findings, self._keeper.tell, readers)
        self._starting = threading.Lock()
        self._share = self._shared(team) if team is not None else None
        self.intake: Intake = LocalIntake(self.store, limits) if self._share is None else self._share.intake
        """The intake of recordings made elsewhere."""
        self.uploads = RequestMemory()
        """The limit of uploaded bytes in memory."""

    def start(self) -> None:
        """Begin to follow the files. May be called again."""
        with self._starting:
            self._keeper.start()
            self._examiner.start(self._keeper.loaded)
        self._keeper.ready.wait(_PATIENCE)

    def close(self) -> None:
        """Stop the background threads."""
        self._searches.close()
        if self._share is not None:
            self._share.close()
        self.intake.close()
        self._examiner.close()
        self._keeper.close()

    def touched(self, id: str) -> None:
        """Read and count a recording at once, after this server has written to it."""
        if isinstance(self.intake, LocalIntake):
            self.intake.written(id)
        self._keeper.touch(id)

    # -- all of them -----------------------------------------------------------------------------------------

    def search(self, filter: str = "") -> Search:
        """Return the search for a filter. Raises FilterError if it does not parse."""
        self.start()
        return self._searches.of(filter)

    def views(self, found: list[tuple[str, tuple[int, ...]]]) -> list[ServedLineView]:
        """Return the lines of recordings, from their ids and the steps that match the filter."""
        known, book = self._lines.entries, Book(self.store.root)
        return [entry.view(book, steps) for id, steps in found if (entry := known.get(id)) is not None]

    @property
    def version(self) -> int:
        """Grows with every change."""
        return self._lines.version

    @property
    def caught_up(self) -> bool:
        """True if all recordings that were present at the start have been read."""
        return self._keeper.caught_up.is_set()

    def catch_up(self, patience: float) -> bool:
        """Wait up to `patience` seconds for the first reading; return True if it is complete."""
        self.start()
        return self._keeper.caught_up.wait(patience)

    @property
    def behind(self) -> tuple[int, float]:
        """The number of unread recordings, and the age of the oldest in seconds."""
        return self._keeper.behind

    @property
    def broken(self) -> int:
        """The number of broken recordings."""
        return self._lines.broken

    @property
    def team(self) -> Share | None:
        """Its part of the team's store, or None."""
        return self._share

    @property
    def indexing(self) -> IndexingView:
        """The progress of reading new recordings."""
        done, total = self._keeper.indexing
        return IndexingView(done=done, total=total)

    # -- one of them -----------------------------------------------------------------------------------------

    def folder(self, id: str) -> Path:
        """Return a recording's folder. Raises RecordingNotFound."""
        folder = self.store.folder(id)
        if not ID.fullmatch(id) or not (folder / EVENTS).is_file():
            raise RecordingNotFound(f"no recording '{id[:64]}'; GET /api/v1/recordings lists all")
        return folder

    def entry(self, id: str) -> ProjectLine | None:
        """Return the line of a recording, or None if it has not been read yet."""
        return self._lines.entries.get(id)

    def indexed(self, id: str) -> ProjectLine | None:
        """Return the index's line of a recording that is not in memory yet, or None."""
        index = Index(self.store)
        try:
            known = index.known_line(id)
            return ProjectLine(known.key, known.signature, known.summary) if known is not None else None
        except sqlite3.Error:
            return None
        finally:
            index.close()

    def know(self, entry: ProjectLine) -> None:
        """Store a line from the server for which this process reads."""
        self._lines.put(entry)

    def large(self, *ids: str) -> str:
        """Return the state of recordings' files if one is large, else ""."""
        states = [state_of(self.store.folder(id)) for id in ids] if self._readers is not None else []
        return " ".join(states) if any(states) else ""

    def prepare(self, ids: Iterable[str]) -> None:
        """Start the processes that will read the large ones of these recordings."""
        readers = self._readers
        if readers is None:
            return
        for id in ids:
            if not readers.prepared(id) and self.large(id):
                readers.prepare(id)

    def apart(self, id: str, work: Callable[..., T], *args: Any, state: str = "") -> T:
        """Return `work(*args)` about a recording, for a large one from another process.

        Raises SearchEnded if that takes longer than two seconds; a repeated call gets the result.

        Args:
            id: The recording.
            work: A function of a module.
            args: Its arguments; they and the result can be pickled.
            state: The state of its files, if other files than its lines make it large.
        """
        state = state or self.large(id)
        if not state or self._readers is None:
            return work(*args)
        result: T = self._readers.soon(id, state, ReaderCall(work, args))
        return result

    async def read(self, id: str, work: Callable[..., T], *args: Any) -> T:
        """Return `work(library, *args)` as `apart` does, however long it takes."""
        state = await run_in_threadpool(self.large, id)
        if not state or self._readers is None:
            return await run_in_threadpool(work, self, *args)
        job = ReaderCall(work, args, self.store.root)
        result: T = await asyncio.wrap_future(self._readers.submit(id, job))
        return result

    def opened(self, id: str) -> AbstractContextManager[Loaded]:
        """Open a recording in its current state. Raises RecordingError."""
        self.folder(id)
        return self._shelf.opened(id)

    def findings(self, id: str) -> FindingsView:
        """Return a recording's anomalies, or the problem if it cannot be examined.

        A very long one is examined in the background; until then the result is not `complete`.
        """
        self.start()
        entry = self.entry(id)
        known = self._examiner.known(entry) if entry is not None and not entry.live else None
        if known is not None:
            return known
        if self.large(id):
            self._examiner.ask(id)
            return FindingsView(items=(), problem=None, complete=False)
        with self.opened(id) as loaded:
            if len(loaded.facts.steps) > _LONG:
                self._examiner.ask(id)
                return FindingsView(items=(), problem=None, complete=False)
            if loaded.findings is None or loaded.findings[0] != loaded.state:
                loaded.findings = loaded.state, self._examiner.examined(loaded.recording)
            return loaded.findings[1]

    def rules(self, id: str) -> dict[int, tuple[str, ...]] | None:
        """Return the rules that matched, by step; None if the recording was not examined yet."""
        entry = self.entry(id)
        if entry is None or entry.found is None:
            return None
        matched: dict[int, tuple[str, ...]] = {}
        for rule, step in entry.found:
            if step is not None and rule not in (known := matched.get(step, ())):
                matched[step] = (*known, rule)
        return matched

    def remove(self, id: str, *, why: str = "removed", who: str = "") -> None:
        """Delete a recording.

        Raises RecordingError, StoreAway, or UsageError if a running fork needs it.

        Args:
            id: Its id.
            why: The reason, for its tombstone.
            who: The person or key that requests it.
        """
        self.folder(id)
        if self._share is not None:
            self._share.remove(id, why=why, who=who)
        # The local recording is a copy, and the team's store has the tombstone.
        self.store.remove(id, why="" if self._share is not None else why, who=who)
        self._shelf.forget(id)
        self._lines.drop(id)
        self._keeper.touch(id)

    def _shared(self, team: TeamPlace) -> Share:
        # Imported here because only a server with a team's store needs its drivers.
        from reenact.server.share import Share  # noqa: PLC0415

        share = Share(team, self.store, self.touched)
        share.start()
        return share
