"""The agent's declared state, as far as a recording knows it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Response

from reenact.analysis.views import changes
from reenact.server.access import Reader
from reenact.server.routes.common import MISSING, Id, answer
from reenact.server.shapes.steps import State

router = APIRouter(tags=["state"])


@router.get("/recordings/{id}/state", response_model=State, responses=MISSING)
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
) -> Response:
    """Return the tracked values at a step or the end, and differences from another step."""
    with access.library.opened(id) as loaded:
        try:
            now = loaded.recording.state(step)
            before = loaded.recording.state(since) if since is not None else None
        except LookupError as error:
            raise HTTPException(404, str(error.args[0])) from None
        told = {name: changes.value(now, name) for name in now}
        was = {name: changes.value(before, name)["value"] for name in before} if before is not None else {}
        is_now = {name: value["value"] for name, value in told.items()}
        found = list(changes.differing(was, is_now)) if before is not None else []
        return answer({"step": step, "state": told, "changes": found})
