"""Refusals in the API document: the same for every route."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class Refusal(BaseModel):
    """The reason, in one line."""

    detail: str


_SAID = {
    400: "The request is not valid.",
    401: "A key is needed, or this key is unknown.",
    403: "The key may not do that.",
    404: "Not found.",
    409: "The current state does not allow it.",
    413: "The body is too large.",
    422: "The request does not match this document.",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route for these statuses: `responses=refusals(401, 404)`."""
    return {status: {"model": Refusal, "description": _SAID[status]} for status in statuses}
