"""A cache of recordings in memory, which are read further as they grow."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from reenact.analysis.views.base import changed
from reenact.analysis.views.findings import FindingsView
from reenact.analysis.views.lanes import LanesView, lanes
from reenact.analysis.views.steps import RowView, row
from reenact.analysis.views.transcript import Talk
from reenact.core.query.facts import RecordingFacts
from reenact.core.store.following import Following, Rewritten
from reenact.core.store.local import LocalStore
from reenact.errors import RecordingError, RecordingNotFound

ROOM = 1 << 29
"""Most bytes of memory for all recordings (an estimate)."""

_SWELL = 6
"""Approximate bytes of memory for each byte of a file."""


class Loaded:
    """One recording and data derived from it. Hold its lock while you use it.

    Args:
        folder: The recording.
    """

    def __init__(self, folder: Path) -> None:
        self.lock = threading.RLock()
        self.following = Following(folder)
        self.recording = self.following.recording
        self.facts = RecordingFacts(self.recording)
        self.talk = Talk(self.facts)
        self.rows: dict[int, RowView] = {}
        self.depths: list[int] = []
        self.lanes: LanesView | None = None
        self.findings: tuple[int, FindingsView] | None = None
        self.state = time.monotonic_ns()
        """Grows with every change; different from the numbers of earlier readings."""
        self._deepen()

    @property
    def size(self) -> int:
        """Its approximate memory in bytes."""
        return self.following.size * _SWELL + 4096 * len(self.facts.steps)

    def renew(self) -> list[int]:
        """Read new data; return the numbers of new and changed steps. Raises Rewritten."""
        changed = self.following.read()
        if not changed:
            return []
        numbers = self.facts.renew(changed)
        self.state += 1
        self.lanes = None
        if numbers:
            for number in numbers:
                self.rows.pop(number, None)
            self.talk.forget(numbers[0])
            del self.depths[numbers[0] - 1 :]
        self._deepen()
        return numbers

    def row(self, number: int, rules: Mapping[int, tuple[str, ...]] | None) -> RowView:
        """Return a step's row.

        Args:
            number: The step.
            rules: The anomaly rules that matched, by step; None if the recording was not examined.
        """
        found = self.rows.get(number)
        if found is None:
            found = self.rows[number] = row(self.facts.steps[number - 1], self.depths[number - 1])
        matched = None if rules is None else rules.get(number, ())
        if found.anomalies != matched:
            found = self.rows[number] = changed(found, anomalies=matched)
        return found

    def nested(self, number: int) -> list[int]:
        """Return the numbers of the steps directly inside of a step."""
        step = self.facts.steps[number - 1]
        return [
            other.step.number
            for other in self.facts.steps[number:]
            if other.call.within == step.call.number and other.step.log is step.step.log
        ]

    def timeline(self) -> LanesView:
        """Return all lanes and bars."""
        if self.lanes is None:
            self.lanes = lanes(self.facts, self.depths)
        return self.lanes

    def _deepen(self) -> None:
        for step in self.facts.steps[len(self.depths) :]:
            within = self.facts.within(step)
            # An enclosing call precedes the calls inside it.
            self.depths.append(
                self.depths[within - 1] + 1 if within is not None and within <= len(self.depths) else 0
            )


class Shelf:
    """The recordings that were used last.

    Args:
        store: The recordings.
    """

    def __init__(self, store: LocalStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._loading: dict[str, threading.Lock] = {}
        self._known: OrderedDict[str, Loaded] = OrderedDict()

    @contextmanager
    def opened(self, id: str) -> Iterator[Loaded]:
        """Open a recording in its current state, locked during its use.

        Raises:
            RecordingError: It does not exist, or cannot be read.
        """
        with self._lock:
            turn = self._loading.setdefault(id, threading.Lock())
        with turn:
            found = self._fresh(id)
        with self._lock:
            self._known[id] = found
            self._known.move_to_end(id)
            self._loading.pop(id, None)
            self._make_room()
        with found.lock:
            yield found

    def forget(self, id: str) -> None:
        """Remove a recording from the cache."""
        with self._lock:
            self._known.pop(id, None)

    def _fresh(self, id: str) -> Loaded:
        known = self._known.get(id)
        if known is not None:
            try:
                with known.lock:
                    known.renew()
            except (Rewritten, OSError):
                self.forget(id)
            else:
                return known
        try:
            return Loaded(self._store.folder(id))
        except (FileNotFoundError, NotADirectoryError):
            raise RecordingNotFound(f"no recording '{id}'; GET /api/v1/recordings lists all") from None
        except RecordingError as error:
            folder = str(self._store.folder(id))
            raise type(error)(str(error).replace(f"{folder}/", "").replace(folder, id)) from None

    def _make_room(self) -> None:
        taken = sum(loaded.size for loaded in self._known.values())
        while taken > ROOM and len(self._known) > 1:
            _, oldest = self._known.popitem(last=False)
            taken -= oldest.size
