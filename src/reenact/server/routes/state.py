"""The agent's declared state, as far as a recording knows it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query

from reenact.analysis.views.state import ComparedStateView, compared_state
from reenact.server.access import Reader
from reenact.server.routes.common import MISSING, Id, RecordingRoute

router = APIRouter(tags=["state"], route_class=RecordingRoute)


@router.get("/recordings/{id}/state", response_model_exclude_unset=True, responses=MISSING)
def state(
    access: Reader,
    id: Id,
    step: Annotated[
        int | None,
        Query(ge=1, le=1 << 31, description="The step before which the state is read; by default the end."),
    ] = None,
    since: Annotated[
        int | None, Query(ge=1, le=1 << 31, description="Also return the differences from this step.")
    ] = None,
) -> ComparedStateView:
    """Return the tracked values at a step or the end, and differences from another step."""
    with access.library.opened(id) as loaded:
        try:
            now = loaded.recording.state(step)
            before = loaded.recording.state(since) if since is not None else None
        except LookupError as error:
            raise HTTPException(404, str(error.args[0])) from None
        return compared_state(now, step, before)
