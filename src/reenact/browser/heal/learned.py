"""What was learned over all recordings: every heal, and by step of a script how often it ran and needed help.

The index finds the recordings; only those with heals are read.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact.browser.heal import memory
from reenact.browser.heal.calls import Beyond
from reenact.browser.heal.patch import replacement
from reenact.browser.heal.record import Heal, Selectors
from reenact.core.model.plain import compact
from reenact.core.query.filter import Filter
from reenact.core.store.base import Library
from reenact.core.store.index import Progress
from reenact.core.store.local import load
from reenact.errors import RecordingError

_HEALS = Filter("heal:record")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A heal, and where it is recorded.

    Attributes:
        heal: The record.
        recording: The recording's id, and `step` the record's number in it.
        started: When that run began, in ISO 8601; `moment` in seconds since 1970.
        path: The recording's folder.
    """

    heal: Heal
    recording: str
    step: int
    started: str
    moment: float
    path: str


@dataclass(frozen=True, slots=True)
class Story:
    """One step of a script, over all runs.

    Attributes:
        heals: What helped it, the newest last; never empty.
        runs: In how many recordings of that script the step ran as it needed help; None where it cannot be known.
        since: In how many, later than the last heal, it ran with the selector that was learned.
    """

    heals: tuple[Recorded, ...]
    runs: int | None
    since: int

    @property
    def last(self) -> Recorded:
        """The newest heal."""
        return self.heals[-1]

    @property
    def helped(self) -> int:
        """In how many recordings it needed help."""
        return len({one.recording for one in self.heals})

    @property
    def rungs(self) -> dict[str, int]:
        """How often each rung helped, the most frequent first."""
        return dict(Counter(one.heal.rung for one in self.heals).most_common())

    @property
    def state(self) -> str:
        """How it stands: `mended` (it runs with what was learned), or what became of the last heal: `verified`,
        `unverified`, `failed`.
        """
        if self.since:
            return "mended"
        heal = self.last.heal
        return "verified" if heal.verified else "unverified" if heal.healed else "failed"


def heals(index: Library, wanted: Filter, progress: Progress | None = None) -> list[Recorded]:
    """The heals in the recordings that a filter means, the oldest first. A damaged record is passed over."""
    meant = None
    if wanted.text.strip():
        meant = {hit.summary.path for hit in index.search(wanted, progress=progress)}
    found = []
    for hit in index.search(_HEALS, progress=progress):
        line = hit.summary
        if meant is not None and line.path not in meant:
            continue
        try:
            recording = load(index.folder_of(line))
            for number in hit.steps:
                tree = recording.step(number).output
                if isinstance(tree, Mapping):
                    found.append(
                        Recorded(Heal.from_tree(tree), line.id, number, line.started, line.moment, line.path)
                    )
        except (RecordingError, OSError, ValueError):
            continue
    return sorted(found, key=lambda one: (one.moment, one.step))


def of_script(found: Sequence[Recorded], script: Path) -> list[Recorded]:
    """The heals of one script: by its path; or, where they are of a file that is not here (recorded on another
    machine), by as much of the path as is given.
    """
    here = Path(os.path.abspath(script))  # noqa: PTH100 - it also takes the `..` out
    tail = [part for part in script.parts if part != ".."] if not script.is_absolute() else [script.name]
    chosen = []
    for one in found:
        file = Path(one.heal.file)
        same = file in (here, script.resolve())
        if one.heal.file and (same or (not file.exists() and list(file.parts[-len(tail) :]) == tail)):
            chosen.append(one)
    return chosen


def stories(index: Library, found: Sequence[Recorded]) -> list[Story]:
    """Those heals by step of a script, the last one that needed help first."""
    steps: dict[tuple[str, str], list[Recorded]] = {}
    for one in found:
        steps.setdefault((one.heal.file, one.heal.key), []).append(one)
    runs = _Runs(index)
    told = []
    for own in steps.values():
        last = own[-1]
        told.append(
            Story(tuple(own), runs.of(last, last.heal.old), runs.of(last, _learned(own), later=True) or 0)
        )
    return sorted(told, key=lambda story: story.last.moment, reverse=True)


def _learned(own: Sequence[Recorded]) -> Selectors | None:
    """The selector that a patch would write."""
    for one in reversed(own):
        if one.heal.verified and one.heal.new and one.heal.new != one.heal.old:
            try:
                return replacement(one.heal.new)
            except Beyond:
                continue
    return None


class _Runs:
    """Counts in how many recordings of a script an action ran."""

    def __init__(self, index: Library) -> None:
        self._index = index
        self._headers: dict[str, Mapping[str, Any]] = {}

    def of(self, heal: Recorded, selector: Selectors | None, *, later: bool = False) -> int | None:
        """The recordings of a heal's script in which its action ran with that selector; `later`: since that heal."""
        if selector is None:
            return None
        text = compact(selector).replace("\\", "\\\\").replace('"', '\\"')
        asked = Filter(
            f'browser:{heal.heal.action} and args.selector == "{text}" and output.actor == "script"'
        )
        own = self._header(heal.path)
        return sum(
            memory._same(own, self._header(str(self._index.folder_of(hit.summary))))
            for hit in self._index.search(asked)
            if not later or hit.summary.moment > heal.moment
        )

    def _header(self, path: str) -> Mapping[str, Any]:
        if path not in self._headers:
            self._headers[path] = memory._header(Path(path)) or {}
        return self._headers[path]
