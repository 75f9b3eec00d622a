"""Routes of a recording's steps: a page of their lines, and one step in full."""

from __future__ import annotations

import re
from typing import Annotated, get_args

from fastapi import APIRouter, HTTPException, Path, Query
from fastapi.responses import Response

from reenact.analysis.views.messages import MessagesView
from reenact.analysis.views.messages import messages as messages_view
from reenact.analysis.views.step_pictures import LARGEST, MOST, Kind, pictures
from reenact.analysis.views.steps import RowsView, StepView, whole_step
from reenact.server.access import Access, Reader
from reenact.server.cache import Loaded
from reenact.server.routes.common import MISSING, FilterText, Id, Offset, RecordingRoute
from reenact.server.routes.events import lines_of

router = APIRouter(tags=["steps"], route_class=RecordingRoute)

Number = Annotated[int, Path(ge=1, le=1 << 31, description="The step's number, from 1.")]

_BLOB = re.compile(rb'"sha256:([0-9a-f]{64})"')


@router.get("/recordings/{id}/steps", responses=MISSING)
def steps(
    access: Reader,
    id: Id,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    filter: FilterText = "",
) -> RowsView:
    """Return the lines of steps, in the order of their calls."""
    with access.library.opened(id) as loaded:
        meant = loaded.facts.where(filter) if filter.strip() else range(1, len(loaded.facts.steps) + 1)
        rules = access.library.rules(id)
        items = [loaded.row(number, rules) for number in meant[offset : offset + limit]]
        return RowsView(items=tuple(items), total=len(meant))


@router.get("/recordings/{id}/steps/{number}", response_model_exclude_unset=True, responses=MISSING)
def step(access: Reader, id: Id, number: Number) -> StepView:
    """Return one step with all recorded data."""
    with access.library.opened(id) as loaded:
        loaded.recording.step(number)
        return _whole(access, id, loaded, number)


@router.get("/recordings/{id}/steps/{number}/messages", response_model_exclude_unset=True, responses=MISSING)
def messages(access: Reader, id: Id, number: Number) -> MessagesView:
    """Return the whole prompt of a model call."""
    with access.library.opened(id) as loaded:
        loaded.recording.step(number)
        turn = loaded.facts.turn(number)
        if turn is None:
            raise HTTPException(404, f"step {number} is not a model call")
        return messages_view(turn)


@router.get(
    "/recordings/{id}/steps/{number}/pictures/{place}",
    responses={**MISSING, 200: {"content": {f"image/{kind}": {} for kind in get_args(Kind)}}},
    response_class=Response,
)
def picture(
    access: Reader, id: Id, number: Number, place: Annotated[int, Path(ge=0, le=2 * MOST)]
) -> Response:
    """Return a picture of a step's question or answer, by its index in the step's `pictures`."""
    with access.library.opened(id) as loaded:
        loaded.recording.step(number)
        found = pictures(loaded.facts, loaded.facts.steps[number - 1])
    if place >= len(found) or len(found[place].data) > LARGEST:
        raise HTTPException(404, f"step {number} has no picture {place} that can be shown")
    headers = {
        "Cache-Control": "private, max-age=60",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(found[place].data, media_type=f"image/{found[place].kind}", headers=headers)


def _whole(access: Access, id: str, loaded: Loaded, number: int) -> StepView:
    rules = access.library.rules(id)
    lines = lines_of(loaded, loaded.facts.steps[number - 1])
    return whole_step(
        loaded.facts,
        loaded.row(number, rules),
        nested=[loaded.row(inner, rules) for inner in loaded.nested(number)],
        lines=lines,
        blobs=sorted({match.decode() for line in lines for match in _BLOB.findall(line)}),
    )
