"""Refusals in the API document and as answers, the same for every route."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from reenact.errors import (
    CorruptRecording,
    ForeignRecording,
    FutureFormat,
    RecordingHeld,
    RecordingNotFound,
    SearchEnded,
    StepNotFound,
    StoreAway,
    StoreFull,
    TooLarge,
)


class Refusal(BaseModel):
    """The reason, in one line."""

    detail: str


_SAID = {
    400: "The request is not valid.",
    401: "A key is needed, or this key is unknown.",
    403: "The key may not do that.",
    404: "Not found.",
    409: "The current state does not allow it.",
    413: "The body, or what it asks for, is too large.",
    422: "The request does not match this document.",
    503: "A large recording is still being read: repeat the request after `Retry-After` seconds.",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route for these statuses: `responses=refusals(401, 404)`."""
    return {status: {"model": Refusal, "description": _SAID[status]} for status in statuses}


_STATUS = {
    RecordingNotFound: 404,
    ForeignRecording: 409,
    RecordingHeld: 409,
    TooLarge: 413,
    CorruptRecording: 422,
    FutureFormat: 422,
    StoreFull: 507,
    StoreAway: 503,
    SearchEnded: 503,
    StepNotFound: 404,
}


def refusal(error: Exception) -> JSONResponse:
    """Answer with an error of a verb in one line, as on the command line."""
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 400)
    headers = {"Retry-After": "1"} if isinstance(error, SearchEnded) else None
    return JSONResponse({"detail": str(error)}, status, headers)


async def misshapen(request: Request, error: Exception) -> JSONResponse:
    """Answer an invalid request with its first error, in one line."""
    assert isinstance(error, RequestValidationError)
    first, *more = error.errors()
    if first["type"] == "string_pattern_mismatch" and first["loc"][0] == "path":
        # A mistyped address: its reader has no use for a pattern.
        text = f"{str(first['input'])[:60]!r} is not a valid {first['loc'][-1]}"
        return JSONResponse({"detail": text}, 422)
    place = ".".join(str(part) for part in first["loc"])
    others = f" (and {len(more)} more)" if more else ""
    return JSONResponse({"detail": f"{place}: {first['msg']}{others}"}, 422)
