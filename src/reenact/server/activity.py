"""Find out if a recording is still being written."""

from __future__ import annotations

import re
import time
from pathlib import Path

from reenact.core import system
from reenact.core.store.intake import RECEIVED
from reenact.core.store.local import EVENTS

FRESH = 10.0
"""Seconds after its last event for which an unsealed recording counts as live."""

DAY = 86400.0
"""Seconds for which a running process counts as the recording's writer."""

HEARD = 30.0
"""Seconds after a sender's last sign (`RECEIVED`) for which a recording counts as live."""

_PID = re.compile(rb'"pid":(\d+)')
_HEAD = 4096


def alive(folder: Path, written: float, now: float | None = None) -> bool:
    """Return True if the program of an unsealed recording still runs.

    It does if it has written recently, or its process exists.

    Args:
        folder: The recording.
        written: The time of its last write, in seconds since 1970.
        now: The time; by default now.
    """
    now = time.time() if now is None else now
    age = now - written
    if age < FRESH:
        return True
    try:
        # An upload: its process runs on another machine, and its sender reports that it is running.
        return now - (folder / RECEIVED).stat().st_mtime < HEARD
    except OSError:
        return age < DAY and _process(folder)


def _process(folder: Path) -> bool:
    try:
        with (folder / EVENTS).open("rb") as file:
            head = file.read(_HEAD)
        found = _PID.search(head)
    except OSError:
        return False
    return found is not None and system.runs(int(found[1]))
