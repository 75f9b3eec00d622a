"""Routes of recordings: the list, facets, trends, and a single one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, BackgroundTasks, Query
from pydantic import BaseModel, Field

from reenact.analysis.views.listing import FacetsView, RecordingsView, TrendsView, origin_view
from reenact.analysis.views.whole_recording import (
    BrowserSessionView,
    ProcessView,
    ServedRecordingView,
    fields_of_head,
)
from reenact.core.query.summary import summarise
from reenact.core.store.labels import LONGEST_NOTE, MOST_LABELS, checked, give
from reenact.core.store.local import EVENTS
from reenact.core.trust import Book
from reenact.core.trust.consent import standing_of
from reenact.server.access import Access, Reader, Writer
from reenact.server.activity import alive
from reenact.server.cache import Loaded
from reenact.server.facets import facets_of, trends_of
from reenact.server.project_lines import ProjectLine, sessions
from reenact.server.refusals import refusals
from reenact.server.routes.common import MISSING, REFUSED, FilterText, Id, Offset, RecordingRoute

router = APIRouter(tags=["recordings"], route_class=RecordingRoute)

Sort = Literal[
    "started", "agent", "name", "status", "prompt", "outcome", "model", "steps", "failed", "tokens", "cost", "duration",
    "-started", "-agent", "-name", "-status", "-prompt", "-outcome", "-model", "-steps", "-failed", "-tokens", "-cost",
    "-duration",
]  # fmt: skip


class LabelsOrder(BaseModel):
    """The labels and the note of a recording, which replace its earlier ones."""

    labels: list[str] = Field([], max_length=MOST_LABELS, examples=[["bad"]])
    note: str = Field("", max_length=LONGEST_NOTE)


class Deleted(BaseModel):
    """The recording that was deleted."""

    id: str


@router.get("/recordings", responses=REFUSED)
def recordings(
    access: Reader,
    background: BackgroundTasks,
    *,
    filter: FilterText = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    sort: Annotated[
        Sort, Query(description="Sort in descending order; with `-` in front, ascending.")
    ] = "started",
) -> RecordingsView:
    """Return the lines of recordings, the newest first."""
    library = access.library
    search = library.search(filter)
    # Read the version before the page, so that later changes have a later version.
    version, caught_up = library.version, library.caught_up
    page, total = search.page(offset, limit, sort)
    # The user will probably open one of them next.
    background.add_task(library.prepare, [id for id, _ in page])
    return RecordingsView(
        items=tuple(library.views(page)),
        total=total,
        complete=search.complete and caught_up,
        offset=offset,
        version=version,
        indexing=library.indexing,
    )


@router.get("/recordings/facets", responses=REFUSED)
def facets(access: Reader, filter: FilterText = "") -> FacetsView:
    """Return common values of the recordings that match a filter, with filters that add them."""
    return facets_of(access.library.search(filter))


@router.get("/recordings/trends", responses=REFUSED)
def trends(access: Reader, filter: FilterText = "", by: Literal["hour", "day"] = "day") -> TrendsView:
    """Return counts, failures, durations and costs by hour or day (UTC)."""
    return trends_of(access.library.search(filter), by)


@router.get("/recordings/{id}", responses=MISSING)
def recording(access: Reader, id: Id) -> ServedRecordingView:
    """Return one recording: its line and its header."""
    with access.library.opened(id) as loaded:
        return _whole(access, id, loaded)


@router.put("/recordings/{id}/labels", responses={**MISSING, **refusals(409)})
def label(access: Writer, id: Id, given: LabelsOrder) -> ServedRecordingView:
    """Set the labels and the note of a recording. Both are replaced as a whole."""
    library = access.library
    library.folder(id)
    give(library.intake, id, checked(given.labels, given.note))
    library.touched(id)
    with library.opened(id) as loaded:
        return _whole(access, id, loaded)


@router.delete("/recordings/{id}", responses={**MISSING, **refusals(409)})
def delete(access: Writer, id: Id) -> Deleted:
    """Delete a recording for good. Forks that share its lines are completed first."""
    access.library.remove(id, why="removed on the server", who=f"a key that may {access.role}")
    return Deleted(id=id)


def _whole(access: Access, id: str, loaded: Loaded) -> ServedRecordingView:
    folder = access.library.folder(id)
    written = (folder / EVENTS).stat().st_mtime_ns
    entry = access.library.entry(id) or access.library.indexed(id)
    sealed = loaded.following.sealed()
    line = entry.summary if entry is not None else None
    # Use the known summary, because summarising a long recording takes a while. A broken summary is from before its
    # first line, and that of a recording that has ended since does not have the end.
    if line is None or line.broken or (sealed and line.written < written):
        line = summarise(loaded.facts, path=str(folder), written=written)
    live = not sealed and alive(folder, written / 1e9)
    home = access.library.store.root
    about = ProjectLine(0, "", line, entry.found if entry is not None else None, live).fields(Book(home))
    found = loaded.recording
    # The summary may be older than the labels.
    tags, note = tuple(dict.fromkeys((*found.tags, *found.labels.words))), found.labels.note or None
    header = {key: value for key, value in found.header.items() if key not in ("event", "secrets", "salt")}
    return ServedRecordingView(
        **{**about, "id": id, "origin": origin_view(standing_of(found, home)), "tags": tags, "note": note},
        **fields_of_head(found),
        labels=found.labels.words,
        header=header,
        torn=bool(found.torn),
        processes=tuple(_processes(loaded)),
        browser_sessions=tuple(BrowserSessionView(number=number) for number in sessions(Path(folder))),
    )


def _processes(loaded: Loaded) -> list[ProcessView]:
    found = []
    for name, log, lines in loaded.following.files():
        pid = log.opened.get("pid")
        found.append(
            ProcessView(
                name=log.process,
                file=name,
                pid=pid if isinstance(pid, int) else None,
                offset=float(log.opened.get("offset") or 0.0),
                steps=len(log.calls),
                events=lines,
            )
        )
    return found
