"""Searches of a project's recordings, which run in the background and are kept up to date."""

from __future__ import annotations

import sqlite3
import threading
import time
from bisect import insort
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from reenact.core.query.filter import Filter
from reenact.core.query.sorting import ordered
from reenact.core.query.summary import Summary
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.errors import ReenactError, SearchEnded
from reenact.server.project_lines import ALSO, Place, ProjectLine, ProjectLines

_KEPT = 16
_TOLD = 64
_PATIENCE = 1.5
_BRIEF = 0.25
_LONGEST = 60.0  # most seconds for one search
_REPEATED = 8.0
"""Seconds for which a failure answers all requests: pages repeat a refused request."""


class Search:
    """The recordings that match a filter.

    Args:
        store: The recordings.
        lines: Their lines.
        text: The filter. Raises FilterError if it does not parse.
    """

    def __init__(self, store: LocalStore, lines: ProjectLines, text: str) -> None:
        self.filter = Filter(text, also=ALSO)
        self._store = store
        self._lines = lines
        self._here = threading.Condition()
        self._all = not self.filter.text.strip()
        self._found_order: list[Place] = []
        self._hits: dict[str, tuple[int, ...]] = {}
        self._version = -1
        self._sorted: dict[str, tuple[int, list[str]]] = {}
        self._stopped = False
        self._until = 0.0
        self._failed: ReenactError | None = None
        self._failed_until = 0.0
        self.complete = False
        self.kept: dict[str, tuple[int, float, float, Any]] = {}
        """Results derived from the hits: version, moment, seconds of computation, and value."""

    def begin(self) -> None:
        """Search all recordings, in a thread if that may take long."""
        if self._all:
            self.complete = True
            return
        with self._lines.lock:
            self._version = self._lines.version
            order, entries = list(self._lines.order), dict(self._lines.entries)
        self._until = time.monotonic() + _LONGEST
        chosen = [(place, entry) for place in order if (entry := entries.get(place[1])) is not None]
        threading.Thread(target=self._run, args=(chosen,), name="reenact-search", daemon=True).start()

    def stop(self) -> None:
        """Stop the search."""
        self._stopped = True

    @property
    def stopped(self) -> bool:
        """True if the search was stopped before it was complete."""
        return self._stopped

    @property
    def failed(self) -> bool:
        """True if the search failed, and the next request is to search again."""
        return self._failed is not None and time.monotonic() >= self._failed_until

    def page(
        self, offset: int, limit: int, sort: str, patience: float = _PATIENCE
    ) -> tuple[list[tuple[str, tuple[int, ...]]], int]:
        """Return a page of hits, each with its matching steps, and the number of all hits.

        Wait until there are enough.

        Raises FilterError if the filter proves invalid.
        """
        plain = sort == "started"
        until = time.monotonic() + patience
        with self._here:
            while (
                not self.complete and not self._stopped and not (plain and len(self._order) >= offset + limit)
            ):
                # Show the first hits soon; the others come with the next page.
                left = until - time.monotonic() - (patience - _BRIEF if self._order else 0.0)
                if left <= 0:
                    break
                self._here.wait(left)
            if self._failed is not None:
                raise self._failed
        self.renew()
        with self._here:
            if plain:
                with self._lines.lock:
                    ids, total = [id for _, id in self._order[offset : offset + limit]], len(self._order)
            else:
                every = self._ids(sort)
                ids, total = every[offset : offset + limit], len(every)
            return [(id, self._hits.get(id, ())) for id in ids], total

    def wait(self, patience: float = _PATIENCE) -> None:
        """Wait until the search is complete, at most `patience` seconds.

        Raises FilterError if the filter proves invalid.
        """
        with self._here:
            self._here.wait_for(lambda: self.complete or self._stopped, patience)
            if self._failed is not None:
                raise self._failed

    def __len__(self) -> int:
        return len(self._order)

    def entries(self) -> list[ProjectLine]:
        """Return all hits so far."""
        known = self._lines.entries
        with self._here:
            return [entry for _, id in self._order if (entry := known.get(id)) is not None]

    @property
    def version(self) -> int:
        """The version of the lines that the hits include."""
        return self._lines.version if self._all else self._version

    @property
    def _order(self) -> list[Place]:
        return self._lines.order if self._all else self._found_order

    def renew(self) -> None:
        """Update the hits with the changes since the last call."""
        if not self.complete or self._all:
            return
        with self._here:
            changed = self._lines.since(self._version)
            if changed is None:
                self._again()
            elif changed:
                with self._lines.lock:
                    self._version = self._lines.version
                    entries = {id: self._lines.entries.get(id) for id in changed}
                self._replace(entries)

    # -- within ----------------------------------------------------------------------------------------------

    def _again(self) -> None:
        with self._lines.lock:
            self._version = self._lines.version
            entries: dict[str, ProjectLine | None] = dict(self._lines.entries)
        self._found_order.clear()
        self._hits.clear()
        self._replace(entries)

    def _replace(self, entries: dict[str, ProjectLine | None]) -> None:
        gone = entries.keys() & self._hits.keys()
        if gone:
            self._found_order = [place for place in self._found_order if place[1] not in gone]
            for id in gone:
                del self._hits[id]
        there = sorted((entry.place, entry) for entry in entries.values() if entry is not None)
        for place, steps in self._found(there):
            self._insert(place, steps)

    def _insert(self, place: Place, steps: tuple[int, ...]) -> None:
        if not self._found_order or self._found_order[-1] < place:
            self._found_order.append(place)
        else:
            insort(self._found_order, place)
        self._hits[place[1]] = steps

    def _run(self, chosen: list[tuple[Place, ProjectLine]]) -> None:
        try:
            waiting: list[tuple[Place, tuple[int, ...]]] = []
            for found in self._found(chosen):
                if self._stopped:
                    return
                waiting.append(found)
                # The first hits are shown at once.
                if len(waiting) >= _TOLD or len(self._order) < _TOLD:
                    self._tell(waiting)
            self._tell(waiting)
        except ReenactError as error:
            self._failed = error
        except (sqlite3.Error, RuntimeError):
            if self._late():
                self._failed = _ended()
                return
            # The index was rebuilt meanwhile, or the server ends, so the hits are not complete.
            self._stopped = True
        finally:
            with self._here:
                self._failed_until = time.monotonic() + _REPEATED
                self.complete = not self._stopped
                self._here.notify_all()

    def _tell(self, waiting: list[tuple[Place, tuple[int, ...]]]) -> None:
        with self._here:
            for place, steps in waiting:
                self._insert(place, steps)
            self._here.notify_all()
        waiting.clear()

    def _found(self, chosen: list[tuple[Place, ProjectLine]]) -> Iterator[tuple[Place, tuple[int, ...]]]:
        meant = ((place, entry) for place, entry in chosen if self.filter.head(entry))
        if not self.filter.about_steps:
            for place, _ in meant:
                yield place, ()
            return
        places: dict[str, Place] = {}

        def lines() -> Iterator[tuple[int, Summary]]:
            for place, entry in meant:
                if self._late():
                    raise _ended()
                places[place[1]] = place
                yield entry.key, entry.summary

        index = Index(self._store)
        index.stop_when(lambda: self._stopped or self._late())
        try:
            if index.in_memory:
                # An index in memory has other keys than the file.
                index.refresh()
                keys = {known.folder: known.key for known in index.known_lines()}
                meant = ((place, replace(entry, key=keys.get(place[1], 0))) for place, entry in meant)
            for hit in index.among(lines(), self.filter):
                if hit.summary.id in places:
                    yield places[hit.summary.id], hit.steps
        finally:
            index.close()

    def _late(self) -> bool:
        """Return True if the search exceeds its time. Later updates are small and have no limit."""
        return not self.complete and time.monotonic() > self._until

    def _ids(self, sort: str) -> list[str]:
        known = self._sorted.get(sort)
        if known is not None and known[0] == self.version:
            return known[1]
        version = self.version
        entries = self._lines.entries
        lines = [entry.summary for _, id in self._order if (entry := entries.get(id)) is not None]
        ids = [line.id for line in ordered(lines, sort, lambda line: line)]
        self._sorted[sort] = version, ids
        return ids


def _ended() -> SearchEnded:
    return SearchEnded(
        f"the search was ended after {_LONGEST:.0f} seconds: narrow it "
        "by tag, name or status, or use a simpler pattern"
    )


class Searches:
    """The latest searches; the least recently used are stopped and dropped."""

    def __init__(self, store: LocalStore, lines: ProjectLines) -> None:
        self._store = store
        self._lines = lines
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Search] = OrderedDict()

    def close(self) -> None:
        """Stop the running searches."""
        with self._lock:
            for search in self._known.values():
                search.stop()

    def of(self, text: str) -> Search:
        """Return the search for a filter. Raises FilterError if it does not parse."""
        text = text.strip()
        with self._lock:
            found = self._known.get(text)
            if found is None or found.stopped or found.failed:
                found = Search(self._store, self._lines, text)
                self._known[text] = found
                found.begin()
                while len(self._known) > _KEPT:
                    self._known.popitem(last=False)[1].stop()
            self._known.move_to_end(text)
        return found
