"""Routes of a recording for people: its conversation, and its timeline in lanes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from reenact.analysis.views.lanes import LanesView
from reenact.analysis.views.transcript import ConversationView
from reenact.server.access import Reader
from reenact.server.routes.common import MISSING, Id, Offset, RecordingRoute

router = APIRouter(tags=["conversation"], route_class=RecordingRoute)


@router.get("/recordings/{id}/conversation", response_model_exclude_unset=True, responses=MISSING)
def conversation(
    access: Reader, id: Id, offset: Offset = 0, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> ConversationView:
    """Return the messages and actions in a page of steps.

    `offset`, `limit` and `total` count steps; a step has any number of items.
    """
    with access.library.opened(id) as loaded:
        return loaded.talk.page(offset + 1, offset + limit, loaded.depths)


@router.get("/recordings/{id}/lanes", responses=MISSING)
def lanes(access: Reader, id: Id) -> LanesView:
    """Return the timeline: steps in sequence on one lane, concurrent ones on several."""
    with access.library.opened(id) as loaded:
        return loaded.timeline()
