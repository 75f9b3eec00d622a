"""Routes of a recording for people: its conversation, and its timeline in lanes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from reenact.server.access import Reader
from reenact.server.routes.common import MISSING, Id, Offset, answer
from reenact.server.shapes.recording import Lanes
from reenact.server.shapes.talk import Conversation

router = APIRouter(tags=["conversation"])


@router.get(
    "/recordings/{id}/conversation",
    response_model=Conversation,
    response_model_exclude_unset=True,
    responses=MISSING,
)
def conversation(
    access: Reader, id: Id, offset: Offset = 0, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> Response:
    """Return the messages and actions in a page of steps.

    `offset`, `limit` and `total` count steps; a step has any number of items.
    """
    with access.library.opened(id) as loaded:
        items = loaded.talk.items(offset + 1, offset + limit, loaded.depths)
        return answer({"items": items, "total": len(loaded.facts.steps)})


@router.get("/recordings/{id}/lanes", response_model=Lanes, responses=MISSING)
def lanes(access: Reader, id: Id) -> Response:
    """Return the timeline: steps in sequence on one lane, concurrent ones on several."""
    with access.library.opened(id) as loaded:
        return answer({**loaded.timeline(), "duration": loaded.recording.duration})
