"""Find the newest good recordings of a script, and read the outcomes of their browsers."""

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

MOST = 60
"""Number of good recordings that are searched for a step."""

READ = 64_000_000
"""Bytes of good recordings that are read."""

_TAIL = 2048
_UNNAMED = {"", "browser session"}


def good_runs(folder: Path) -> Iterator[Path]:
    """Yield the newest good recordings of the same script, at most `MOST`, and `READ` bytes.

    A program may open many sessions. If a session has a name, and others have the same one, only those count.
    """
    own = header_of(folder)
    if own is None:
        return
    store = LocalStore(folder.parent.parent)
    name = _name(own)
    alike: list[Path] = []
    namesakes: list[Path] = []
    for id in store.ids()[:LOOKED]:
        other = store.folder(id)
        if id == folder.name or not _ended_well(other):
            continue
        header = header_of(other)
        if header is None or not same_script(own, header):
            continue
        alike.append(other)
        if name and name == _name(header):
            namesakes.append(other)
        if len(namesakes if name else alike) == MOST:
            break
    read = 0
    for other in (namesakes or alike)[:MOST]:
        read += other.joinpath(EVENTS).stat().st_size
        if read > READ:
            return
        yield other


def _name(header: Mapping[str, Any]) -> str:
    name = str(header.get("name") or "")
    return "" if name in _UNNAMED else name


def header_of(folder: Path) -> dict[str, Any] | None:
    """Return the header of a recording, or None if it cannot be read."""
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
    return bool(_name(one)) and _name(one) == _name(other)


def answers(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the outcomes of a recording's browser and of its mends, as trees."""
    return (value for _, value in outcomes(folder))


def outcomes(folder: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the same outcomes, each after the number of its call."""
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
            told = orjson.loads(line)
            call, value = told.get("call"), told.get("value")
        except (ValueError, AttributeError):
            continue
        if isinstance(value, dict) and isinstance(call, int):
            yield call, value
