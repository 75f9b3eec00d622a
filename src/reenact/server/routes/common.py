"""Parts that the reading routes share: ids in paths, and refusals."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

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
Offset = Annotated[int, Query(ge=0, le=1 << 31, description="The number of items to skip.")]

REFUSED = refusals(400, 401, 403)
"""The refusals of a request about all recordings."""

MISSING = refusals(400, 401, 403, 404)
"""The refusals of a request about one recording."""
