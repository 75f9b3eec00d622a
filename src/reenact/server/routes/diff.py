"""Two recordings compared."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from reenact.analysis.diff import compare
from reenact.analysis.views import diff as compared
from reenact.server.access import Reader
from reenact.server.library import ID
from reenact.server.routes.common import MISSING, answer
from reenact.server.shapes.compared import Diff

router = APIRouter(tags=["diff"])

Which = Annotated[str, Query(pattern=f"^{ID.pattern}$", description="A recording's id, whole.")]


@router.get("/diff", response_model=Diff, response_model_exclude_unset=True, responses=MISSING)
def diff(
    access: Reader,
    a: Which,
    b: Which,
    ignore: Annotated[
        list[str] | None, Query(max_length=50, description="Parts of questions to leave out: args.body.seed.")
    ] = None,
) -> Response:
    """Compare two runs: equal, changed, inserted, deleted and moved steps."""
    library = access.library
    with library.both(a, b) as (one, other):
        found: dict[str, Any] = compared.diff(compare(one.recording, other.recording, tuple(ignore or ())))
    for side in ("a", "b"):
        del found[side]["path"]
    return answer(found)
