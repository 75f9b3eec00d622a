"""Count a live run's steps, failures and seconds as they are written, and keep nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson

from reenact.core.model.storable import number, why_not
from reenact.core.query.summary import Summary
from reenact.core.store.local import EVENTS
from reenact.core.store.shared import process_files

_BLOCK = 1 << 24
_SHORT = 1 << 16
_STATUS = 64


class Glance:
    """The counts of a live recording between two full reads.

    Args:
        folder: Its folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, int] = {}
        self._steps = self._failed = 0
        self._last = 0.0
        self._sealed = ""

    def look(self, line: Summary) -> Summary:
        """Return the summary as it is now. Raises OSError if the files are gone."""
        for name in process_files(path.name for path in self._folder.iterdir()):
            self._take(name)
        return replace(
            line,
            steps=max(self._steps, line.steps),
            failed=max(self._failed, line.failed),
            duration=max(self._last, line.duration),
            status=self._sealed or line.status,
        )

    def _take(self, name: str) -> None:
        with (self._folder / name).open("rb") as source:
            place = self._read.get(name, 0)
            source.seek(place)
            while end := (block := source.read(_BLOCK)).rfind(b"\n") + 1:
                self._count(name, block[:end])
                place += end
                source.seek(place)
        self._read[name] = place

    def _count(self, name: str, lines: bytes) -> None:
        self._steps += lines.count(b'{"event":"called"')
        self._failed += lines.count(b'{"event":"raised"')
        last = lines[lines.rfind(b"\n", 0, len(lines) - 1) + 1 :]
        said = orjson.loads(last) if len(last) < _SHORT else {}
        if not isinstance(said, dict):
            return
        self._last = max(self._last, number(said.get("t")) or 0.0)
        if name == EVENTS and said.get("event") == "sealed":
            status = said.get("status")
            self._sealed = str(status) if not why_not(status, _STATUS) else ""
