"""Two recordings compared."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from reenact.analysis.diff import compare
from reenact.analysis.views.diff import DiffView, diff_view
from reenact.server.access import Reader
from reenact.server.library import ID
from reenact.server.routes.common import MISSING, RecordingRoute

router = APIRouter(tags=["diff"], route_class=RecordingRoute)

Which = Annotated[str, Query(pattern=f"^{ID.pattern}$", description="A recording's id, whole.")]


@router.get("/diff", response_model_exclude_unset=True, responses=MISSING)
def diff(
    access: Reader,
    a: Which,
    b: Which,
    ignore: Annotated[
        list[str] | None, Query(max_length=50, description="Parts of questions to leave out: args.body.seed.")
    ] = None,
) -> DiffView:
    """Compare two runs: equal, changed, inserted, deleted and moved steps."""
    library = access.library
    with library.both(a, b) as (one, other):
        found = compare(one.recording, other.recording, tuple(ignore or ()))
        return diff_view(found, paths=False)
