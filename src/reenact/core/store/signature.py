"""The state of a recording's files: if it differs, an index reads them again."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from reenact.core.dataclass import dataclass
from reenact.core.query.summary import Summary
from reenact.core.store.local import EVENTS


@dataclass(frozen=True, slots=True)
class IndexedRecording:
    """An indexed recording: its key, its folder's name, the state of its files, its summary.

    `seconds` is the time it took to read it just now.
    """

    key: int
    folder: str
    signature: str
    summary: Summary
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Stale:
    """A folder to be read again: the state of its files, and the time its first one was written."""

    folder: str
    signature: str
    written: int


def signature_of(path: str, known: str) -> tuple[str, int] | None:
    """Return the state of a recording's files, and the time its first one was last written.

    None for a folder that is no recording.
    """
    try:
        state = os.stat(f"{path}{os.sep}{EVENTS}")  # noqa: PTH116 - a Path each costs more than the look
        folder = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    parts = known.split("|")
    if parts[0] == str(folder.st_mtime_ns):
        others = [part.partition("=")[0] for part in parts[2:]]
    else:
        names = os.listdir(path)  # noqa: PTH208
        others = sorted(
            name
            for name in names
            if name.startswith("events.") and name.endswith(".jsonl") and name != EVENTS
        )
    marks = [str(folder.st_mtime_ns), _mark(state)]
    with contextlib.suppress(OSError):
        marks += [f"{name}={_mark(Path(path, name).stat())}" for name in others]
    return "|".join(marks), state.st_mtime_ns


def _mark(state: os.stat_result) -> str:
    return f"{state.st_mtime_ns}:{state.st_size}"
