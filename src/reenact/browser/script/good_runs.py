"""Find the newest good recordings of a script, and read the answers of their browsers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from reenact.core.query.overview import script_of
from reenact.core.store.local import EVENTS, LocalStore

LOOKED = 300
"""Number of recordings whose header is read."""

_TAIL = 2048
_UNNAMED = {"", "browser session"}


def good_runs(folder: Path, most: int) -> Iterator[Path]:
    """Yield the newest good recordings of the same script, from the same store."""
    own = header_of(folder)
    if own is None:
        return
    store = LocalStore(folder.parent.parent)
    found = 0
    for id in store.ids()[:LOOKED]:
        other = store.folder(id)
        if id == folder.name or not _ended_well(other):
            continue
        header = header_of(other)
        if header is not None and same_script(own, header):
            found += 1
            yield other
        if found == most:
            return


def header_of(folder: Path) -> dict[str, Any] | None:
    """Return the header of a recording, or None where it cannot be read."""
    try:
        with folder.joinpath(EVENTS).open("rb") as file:
            header = orjson.loads(file.readline())
    except (OSError, ValueError):
        return None
    return header if isinstance(header, dict) else None


def _ended_well(folder: Path) -> bool:
    try:
        with folder.joinpath(EVENTS).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _TAIL, 0))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    except OSError:
        return False
    return last.startswith(b'{"event":"sealed","status":"ok"')


def same_script(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return True if two recordings, given by their headers, are of the same script."""
    script = script_of(one)
    if script is not None and script == script_of(other):
        return True
    name = str(one.get("name") or "")
    return name not in _UNNAMED and name == other.get("name")


def answers(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the answers of a recording's browser and of its mends, as trees."""
    try:
        data = folder.joinpath(EVENTS).read_bytes()
    except OSError:
        return
    for line in data.split(b"\n"):
        if not line.startswith(b'{"event":"returned"') or (
            b'"tab":' not in line and b'"verified_by"' not in line
        ):
            continue
        try:
            value = orjson.loads(line).get("value")
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value
