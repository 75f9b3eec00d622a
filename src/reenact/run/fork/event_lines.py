"""The line numbers of events in the parent's file, so that a fork can refer to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import orjson

from reenact.core.model.event import Event
from reenact.core.store import chain, shared
from reenact.core.store.lines import read_events
from reenact.core.store.local import EVENTS

_ANSWERS = ("returned", "raised", "cancelled")
_ENDS = ("ended", "closed", "cancelled", "raised")
_FILES = b'{"event":"files"'
_OTHERWISE = {*_ANSWERS, *_ENDS, "chunk", "noted", "opened", "printed", "sealed"}


class EventLines:
    """The lines of one process's events.

    Args:
        folder: The parent's folder.

    Attributes:
        called, outcome, end: The line of each call's question, outcome, and stream's end.
        pieces: The lines of each call's chunks.
        printed: The lines of the text that each call's own code printed.
        draws: The lines of the scalars that were read, by scope and source.
        fired: The first line of each wake-up, by scope and name.
        locked: The line of each take of a lock by another thread than before, by lock and count.
        spawned: The line of each process that was started.
        noted: The lines of remarks that belong to no call.
        holes: The lines of the remarks that a part of each call is missing.
        before: The lines of other events (snapshots, for example) before each call's question.
    """

    def __init__(self, folder: Path) -> None:
        data = shared.whole((folder / EVENTS).read_bytes(), folder)
        self._raw = data.split(b"\n")
        self._times: dict[int, float] = {}
        self._within: dict[int | None, list[int]] = {}
        self._calls: dict[int, int] = {}
        self.called: dict[int, int] = {}
        self.outcome: dict[int, int] = {}
        self.end: dict[int, int] = {}
        self.pieces: dict[int, list[int]] = {}
        self.printed: dict[int, list[int]] = {}
        self.draws: dict[tuple[str, str], list[int]] = {}
        self.fired: dict[tuple[str, str], int] = {}
        self.locked: dict[tuple[str, int], int] = {}
        self.spawned: dict[str, int] = {}
        self.noted: list[int] = []
        self.holes: dict[int, list[int]] = {}
        self.before: dict[int, list[int]] = {}
        self._others: list[int] = []
        owners: dict[int, int | None] = {}
        for event in read_events(data, str(folder / EVENTS), []):
            self._take(event, owners)

    def snapshots(self, calls: Iterable[int]) -> Counter[str]:
        """Return the number of snapshots before the questions of these calls, by name."""
        lines = (line for number in calls for line in self.before.get(number, ()))
        events = (orjson.loads(self.raw(line)) for line in lines)
        return Counter(str(event["name"]) for event in events if event["event"] == "snapshot")

    def raw(self, line: int) -> bytes:
        """Return that line without its sum."""
        return chain.bare(self._raw[line - 1])

    def time(self, line: int) -> float | None:
        """Return the time of the event on that line in seconds, or None without one."""
        return self._times.get(line)

    def call_at(self, line: int) -> int | None:
        """Return the call whose question is on that line, or None."""
        return self._calls.get(line)

    def files_before(self, call: int) -> list[int]:
        """Return the lines before a call's question that tell of files."""
        return [line for line in self.before.get(call, ()) if self.raw(line).startswith(_FILES)]

    def inside(self, call: int) -> list[int]:
        """Return all lines inside a call, at any depth, in order."""
        found: list[int] = []
        for line in self._within.get(call, ()):
            found.append(line)
            inner = self._calls.get(line)
            if inner is not None:
                found += self.inside(inner)
        return sorted(found)

    def _take(self, event: Event, owners: dict[int, int | None]) -> None:
        data, line, kind, call = event.data, event.line, event.event, event.call
        if "t" in data:
            self._times[line] = float(data["t"])
        if kind == "called":
            owners[data["call"]] = data["in"]
            if self._others:
                self.before[data["call"]], self._others = self._others, []
            self.called[data["call"]], self._calls[line] = line, data["call"]
        elif kind == "chunk" and call in self.called:
            self.pieces.setdefault(call, []).append(line)
        elif kind == "printed" and call in self.called:
            self.printed.setdefault(call, []).append(line)
        elif kind in _ANSWERS and call in self.called and call not in self.outcome:
            self.outcome[call] = line
        elif kind in _ENDS and call in self.called:
            self.end[call] = line
        elif kind == "drew":
            self.draws.setdefault((data["at"], data["source"]), []).append(line)
        elif kind == "fired":
            self.fired.setdefault((data["at"], data["name"]), line)
        elif kind == "locked":
            self.locked[data["lock"], data["count"]] = line
        elif kind == "spawned":
            self.spawned[data["process"]] = line
        elif kind == "noted" and call is None:
            self.noted.append(line)
        elif kind == "noted" and data["what"] == "hole" and call in self.called:
            self.holes.setdefault(call, []).append(line)
        elif kind not in _OTHERWISE:
            self._others.append(line)
        owner = data["in"] if "in" in data else owners.get(call) if call is not None else None
        if owner is not None:
            self._within.setdefault(owner, []).append(line)
