"""Refusals in the API document: the same for every route."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class Refusal(BaseModel):
    """Why not, in one line."""

    detail: str


_SAID = {
    400: "Question for cannot be meant.",
    401: "A key is needed, or this one is none of this server.",
    403: "The key may not do that.",
    404: "There is no such thing.",
    409: "It cannot be done as things are.",
    413: "The body is too long.",
    422: "It is not as this document says.",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route for these statuses: `responses=refusals(401, 404)`."""
    return {status: {"model": Refusal, "description": _SAID[status]} for status in statuses}
