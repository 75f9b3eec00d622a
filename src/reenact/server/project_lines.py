"""Every recording of a project as one line in memory, by id and in order of start."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact.analysis.anomalies.registry import is_pill
from reenact.analysis.views import listing
from reenact.analysis.views.listing import ParentView, ServedLineView
from reenact.core.query.summary import Summary
from reenact.core.store import shared
from reenact.core.store.findings import Found
from reenact.core.trust import Book

_LOG = 20_000

Place = tuple[float, str]
"""The sort key of a recording: the latest start first, then the id."""

Marks = tuple[str, str, tuple[str, ...], tuple[str, ...], frozenset[str], int | None]
"""Agent, status, models, tags, rules that matched, and the number of the cost range."""

ALSO = ("agent", "anomaly", "total_cost", "live")
"""Filter fields that only the server knows, besides those of every filter."""


@dataclass(slots=True)
class ProjectLine:
    """One recording.

    Attributes:
        key: Its key in the index; 0 if it is not indexed yet.
        signature: The state of its files at the last indexing.
        summary: Its line.
        found: The findings of rules, each by rule and step; None until it was examined.
        live: True if its program still writes it.
        extras: Its parent and the number of its sessions, read from its folder when first shown.
    """

    key: int
    signature: str
    summary: Summary
    found: Found | None = None
    live: bool = False
    extras: tuple[ParentView | None, int] | None = None

    @property
    def place(self) -> Place:
        """The sort key of the recording in the list."""
        return -self.summary.moment, self.summary.id

    def get(self, field: str) -> Any:
        """Return the value of a filter's field, or None."""
        if field == "anomaly":
            return list({rule for rule, _ in self.found or ()})
        if field == "agent":
            return self.summary.agent
        if field == "total_cost":
            return self.summary.cost
        if field == "live":
            return self.live
        return listing.status(self.summary) if field == "status" else self.summary.get(field)

    @property
    def marks(self) -> Marks:
        """The values of its facets.

        Many recordings share the same values.
        """
        line = self.summary
        rules = frozenset(rule for rule, _ in self.found) if self.found else frozenset()
        cost = None if line.cost is None else bisect_right(COSTS, line.cost)
        return line.agent, listing.status(line), tuple(line.models), tuple(line.tags), rules, cost

    def view(self, book: Book, found_in: Collection[int] = ()) -> ServedLineView:
        """Return its line without the path of the server's home; `book` has the trusted keys."""
        return ServedLineView(**self.fields(book, found_in))

    def fields(self, book: Book, found_in: Collection[int] = ()) -> dict[str, Any]:
        """Return the fields of its line as keyword arguments of its view."""
        parent, sessions = self.more()
        origin = listing.origin_view(book.of_line(self.summary))
        found = listing.fields_of_line(
            self.summary, parent=parent, origin=origin, found_in=found_in, hide_path=True
        )
        anomalies = len(self.found) if self.found is not None else None
        pills = tuple(sorted({rule for rule, _ in self.found or () if is_pill(rule)}))
        return {**found, "anomalies": anomalies, "pills": pills, "sessions": sessions, "live": self.live}

    def more(self) -> tuple[ParentView | None, int]:
        """Return its parent, and the number of its browser sessions."""
        if self.extras is None:
            folder = Path(self.summary.path)
            said = shared.origins(folder.parent, [folder.name]).get(folder.name)
            self.extras = listing.parent_view(said), len(sessions(folder))
        return self.extras


def sessions(folder: Path) -> list[int]:
    """Return the numbers of a recording's browser sessions."""
    numbers = (path.name.split(".")[1] for path in folder.glob("session.*.jsonl"))
    return sorted(int(number) for number in numbers if number.isdigit())


COSTS = (0.01, 0.1, 1.0, 10.0)
"""The upper ends of the ranges of the facet `cost`, in US dollars."""


RANGES = tuple(
    f"{low:g}-{high}" for low, high in zip((0.0, *COSTS), (*(f"{one:g}" for one in COSTS), ""), strict=True)
)
"""The ranges of the facet `cost`: `0-0.01`, `10-`."""


def facets(marks: Marks) -> Iterator[tuple[str, str]]:
    """Yield a recording's facet values, as pairs of facet and value."""
    agent, status, models, tags, rules, cost = marks
    if agent:
        yield "agent", agent
    yield "status", status
    for facet, values in (("model", models), ("tag", tags), ("anomaly", rules)):
        for value in values:
            yield facet, value
    if cost is not None:
        yield "cost", RANGES[cost]


class ProjectLines:
    """The lines of a project.

    Only the project's `Keeper` changes them; readers hold the lock only for a moment.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.entries: dict[str, ProjectLine] = {}
        self.order: list[Place] = []
        self.version = 0
        self.broken = 0
        """The number of broken recordings."""
        self._changes: deque[tuple[int, str]] = deque(maxlen=_LOG)

    def fill(self, entries: Iterable[ProjectLine]) -> None:
        """Add many lines at once, except known ones."""
        fresh = {entry.summary.id: entry for entry in entries}
        order = sorted(entry.place for entry in fresh.values())
        with self.lock:
            known, self.entries = self.entries, fresh
            self.order = order
            self.broken = sum(bool(entry.summary.broken) for entry in fresh.values())
            self.version += 1
            self._changes.clear()
            for entry in known.values():
                self.put(entry)

    def put(self, entry: ProjectLine) -> None:
        """Add a new line, or replace a changed one."""
        id = entry.summary.id
        with self.lock:
            old = self.entries.get(id)
            if old is not None and old.place != entry.place:
                self._unplace(old.place)
            if old is None or old.place != entry.place:
                insort(self.order, entry.place)
            self.broken += bool(entry.summary.broken) - bool(old is not None and old.summary.broken)
            self.entries[id] = entry
            self._changed(id)

    def drop(self, id: str) -> None:
        """Remove a line."""
        with self.lock:
            old = self.entries.pop(id, None)
            if old is not None:
                self._unplace(old.place)
                self.broken -= bool(old.summary.broken)
                self._changed(id)

    def find(self, found: Mapping[str, Found | None]) -> None:
        """Set the findings of many recordings at once."""
        with self.lock:
            for id, of_one in found.items():
                entry = self.entries.get(id)
                if entry is not None and of_one is not None:
                    entry.found = of_one
            self.version += 1
            self._changes.clear()

    def since(self, version: int) -> set[str] | None:
        """Return the ids changed since a version, or None if these are no longer known."""
        with self.lock:
            if version == self.version:
                return set()
            if not self._changes or self._changes[0][0] > version + 1:
                return None
            return {id for number, id in self._changes if number > version}

    def _changed(self, id: str) -> None:
        self.version += 1
        self._changes.append((self.version, id))

    def _unplace(self, place: Place) -> None:
        at = bisect_left(self.order, place)
        if at < len(self.order) and self.order[at] == place:
            del self.order[at]
