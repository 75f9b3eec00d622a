"""The route of a recording's stored events, line by line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query

from reenact.analysis.views.whole_recording import EventsView
from reenact.core.query.facts import StepFacts
from reenact.core.store import shared
from reenact.core.store.local import EVENTS
from reenact.server.access import Reader
from reenact.server.cache import Loaded
from reenact.server.routes.common import MISSING, Id, RecordingRoute

router = APIRouter(tags=["events"], route_class=RecordingRoute)


@router.get("/recordings/{id}/events", responses=MISSING)
def events(
    access: Reader,
    id: Id,
    process: Annotated[
        str, Query(max_length=2000, description="A process's name; `main` is the first.")
    ] = "main",
    first: Annotated[int, Query(alias="from", ge=1, le=1 << 31, description="The first line, from 1.")] = 1,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> EventsView:
    """Return lines of a process's events, including those that a fork shares with its parent."""
    with access.library.opened(id) as loaded:
        names = [name for name, log, _ in loaded.following.files() if process in (log.process, name)]
        if not names:
            raise HTTPException(404, f"recording {id} has no process '{process}'")
        lines = _lines(loaded.following.folder, names[0])
    items = [line.decode("utf-8", "replace") for line in lines[first - 1 : first - 1 + limit]]
    return EventsView(process=process, first=first, items=tuple(items), total=len(lines))


def lines_of(loaded: Loaded, step: StepFacts) -> list[bytes]:
    """Return the lines of one step."""
    name = next(name for name, log, _ in loaded.following.files() if log is step.step.log)
    data = _data(loaded.following.folder, name)
    found = []
    for needle in (b'","call":%d,' % step.call.number, b'","call":%d}' % step.call.number):
        at = data.find(needle)
        while at >= 0:
            start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
            # Only the name of the event precedes the number.
            if data.startswith(b'{"event":"', start) and b'"' not in data[start + 10 : at]:
                found.append((start, data[start : end if end >= 0 else None]))
            at = data.find(needle, at + 1)
    return [line for _, line in sorted(found)]


def _lines(folder: Path, name: str) -> list[bytes]:
    lines = _data(folder, name).split(b"\n")
    return lines[:-1] if lines and not lines[-1] else lines


def _data(folder: Path, name: str) -> bytes:
    data = (folder / name).read_bytes()
    return shared.whole(data, folder) if name == EVENTS else data
