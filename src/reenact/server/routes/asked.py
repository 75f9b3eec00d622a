"""What the reading routes have in common: ids in paths, refusals, and answers that are written at once."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import Path, Query, Response

from reenact.server.library import ID
from reenact.server.refusals import refusals

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

REFUSED = refusals(400, 401, 403)
"""How a request about all recordings may be refused."""

MISSING = refusals(400, 401, 403, 404)
"""How a request about one recording may be refused."""


def answer(data: Any) -> Response:
    """An answer as JSON, written at once: the types are those of the route's model, and tests hold it to them."""
    return Response(
        orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS, default=str),
        media_type="application/json",
    )
