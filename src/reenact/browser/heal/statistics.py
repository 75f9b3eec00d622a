"""Read every heal of all recordings, and count for each step its runs and its heals.

The index finds the recordings; only those with heals are read.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from reenact.browser.heal.heal_record import HealRecord, Selectors
from reenact.browser.heal.learned_selectors import learned
from reenact.browser.heal.source import UnchangeableSelector
from reenact.browser.script.good_runs import header_of, same_script
from reenact.core.model.plain import compact
from reenact.core.query.filter import Filter
from reenact.core.store.base import Library, Progress
from reenact.core.store.local import load
from reenact.errors import RecordingError

_HEALS = Filter("heal:record")


@dataclass(frozen=True, slots=True)
class RecordedHeal:
    """A heal, and its place in a recording.

    Attributes:
        heal: The record.
        recording: The recording's id; `step` is the number of the record's step in it.
        started: Start of that run, in ISO 8601; `moment` in seconds since 1970.
        path: The recording's folder.
        folder: The folder to read it from: a copy if the recording is in a team's store.
    """

    heal: HealRecord
    recording: str
    step: int
    started: str
    moment: float
    path: str
    folder: Path


@dataclass(frozen=True, slots=True)
class StepStatistics:
    """One step of a script, over all runs.

    Attributes:
        heals: Its heals, the newest last; never empty.
        runs: Recordings of that script in which the step ran with the healed selector; None if unknown.
        since: Recordings after the last heal in which it ran with the learned selector.
    """

    heals: tuple[RecordedHeal, ...]
    runs: int | None
    since: int

    @property
    def last(self) -> RecordedHeal:
        """The newest heal."""
        return self.heals[-1]

    @property
    def helped(self) -> int:
        """Number of recordings in which it needed help."""
        return len({one.recording for one in self.heals})

    @property
    def rungs(self) -> dict[str, int]:
        """Number of heals by rung, the most frequent first."""
        return dict(Counter(one.heal.rung for one in self.heals).most_common())

    @property
    def state(self) -> Literal["mended", "verified", "unverified", "failed"]:
        """The state: `mended` (it runs with the learned selector), or the result of the last heal.

        That result is `verified`, `unverified` or `failed`.
        """
        if self.since:
            return "mended"
        heal = self.last.heal
        return "verified" if heal.verified else "unverified" if heal.healed else "failed"


def heals(index: Library, wanted: Filter, progress: Progress | None = None) -> list[RecordedHeal]:
    """Return the heals in the recordings that a filter matches, oldest first.

    Damaged records are skipped.
    """
    meant = None
    if wanted.text.strip():
        meant = {hit.summary.path for hit in index.search(wanted, progress=progress)}
    found = []
    for hit in index.search(_HEALS, progress=progress):
        line = hit.summary
        if meant is not None and line.path not in meant:
            continue
        try:
            folder = index.folder_of(line)
            recording = load(folder)
            for number in hit.steps:
                tree = recording.step(number).output
                if isinstance(tree, Mapping):
                    found.append(
                        RecordedHeal(
                            HealRecord.from_tree(tree),
                            line.id,
                            number,
                            line.started,
                            line.moment,
                            line.path,
                            folder,
                        )
                    )
        except (RecordingError, OSError, ValueError):
            continue
    return sorted(found, key=lambda one: (one.moment, one.step))


def of_script(found: Sequence[RecordedHeal], script: Path) -> list[RecordedHeal]:
    """Return the heals of one script, by its path.

    A heal recorded on another machine names a file that does not exist here: then only the last parts of its path are
    compared, as many as `script` has.
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


def stories(index: Library, found: Sequence[RecordedHeal]) -> list[StepStatistics]:
    """Group heals by step of a script, the step with the newest heal first."""
    steps: dict[tuple[str, str], list[RecordedHeal]] = {}
    for one in found:
        steps.setdefault((one.heal.file, one.heal.key), []).append(one)
    runs = _Runs(index)
    told = []
    for own in steps.values():
        last = own[-1]
        told.append(
            StepStatistics(
                tuple(own), runs.of(last, last.heal.old), runs.of(last, _learned(own), later=True) or 0
            )
        )
    return sorted(told, key=lambda story: story.last.moment, reverse=True)


def _learned(own: Sequence[RecordedHeal]) -> Selectors | None:
    """Return the selector that a patch would write, or None."""
    for one in reversed(own):
        if one.heal.verified and one.heal.new and one.heal.new != one.heal.old:
            try:
                return learned(one.heal)
            except UnchangeableSelector:
                continue
    return None


class _Runs:
    """Counts the recordings of a script in which an action ran."""

    def __init__(self, index: Library) -> None:
        self._index = index
        self._headers: dict[str, Mapping[str, Any]] = {}

    def of(self, heal: RecordedHeal, selector: Selectors | None, *, later: bool = False) -> int | None:
        """Count the recordings of the heal's script in which its action ran with that selector.

        `later` counts only the recordings after that heal.
        """
        if selector is None:
            return None
        text = compact(selector).replace("\\", "\\\\").replace('"', '\\"')
        asked = Filter(
            f'browser:{heal.heal.action} and args.selector == "{text}" and output.actor == "script"'
        )
        own = self._header(heal.path)
        return sum(
            same_script(own, self._header(str(self._index.folder_of(hit.summary))))
            for hit in self._index.search(asked)
            if not later or hit.summary.moment > heal.moment
        )

    def _header(self, path: str) -> Mapping[str, Any]:
        if path not in self._headers:
            self._headers[path] = header_of(Path(path)) or {}
        return self._headers[path]
