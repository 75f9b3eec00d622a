"""What the reading routes have in common: ids in paths, refusals, and answers that are written at once."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import Path, Query, Response

from reenact.server.library import ID
from reenact.server.shapes import Problem

Id = Annotated[
    str, Path(description="A recording's id, whole.", pattern=f"^{ID.pattern}$", examples=["q0k4z8m1tx"])
]
FilterText = Annotated[
    str,
    Query(
        alias="filter",
        max_length=4000,
        description="In the language of filters; empty for all.",
        examples=["tool:cancel_order and error"],
    ),
]
Offset = Annotated[int, Query(ge=0, le=1 << 31, description="How many are passed over.")]

REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The request asks for something that is not to be had."},
    401: {"model": Problem, "description": "A key is needed."},
    403: {"model": Problem, "description": "The key may not do that."},
}
"""How a request about all recordings may be refused."""

MISSING: dict[int | str, dict[str, Any]] = REFUSED | {
    404: {"model": Problem, "description": "There is no such recording, or no such part of it."}
}
"""How a request about one recording may be refused."""


def answer(data: Any) -> Response:
    """An answer as JSON, written at once: the types are those of the route's model, and tests hold it to them."""
    return Response(
        orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS, default=str),
        media_type="application/json",
    )
