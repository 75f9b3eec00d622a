"""Record errors of OpenAI's client, without its own request and response objects.

These are written as plain fields, and made anew in a replay, so that retries and the program see the same values.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import openai


def recordable(error: openai.APIError) -> openai.APIError:
    """Return a copy of the error without the client's objects."""
    twin = type(error).__new__(type(error), *error.args)
    twin.args = error.args
    for name, item in vars(error).items():
        twin.__dict__[name] = _PARTS[name](item) if name in _PARTS and item is not None else item
    twin.__cause__, twin.__suppress_context__ = error.__cause__, error.__suppress_context__
    return twin


def whole(error: openai.APIError) -> openai.APIError:
    """Give an error from a recording its request and response again."""
    # httpx2 or httpx, by the client's version. A function's `__module__` is right, a re-exported class's may not be.
    http: Any = importlib.import_module(openai.Timeout.__init__.__module__.partition(".")[0])
    request, response = vars(error).get("request"), vars(error).get("response")
    if isinstance(request, Mapping):
        request = error.request = http.Request(request.get("method", "POST"), request.get("url", ""))
    if isinstance(response, Mapping):
        vars(error)["response"] = http.Response(
            response["status"],
            headers=[(name, item) for name, item in response.get("headers", ())],
            content=response.get("body", "").encode(),
            request=request,
        )
    return error


def _request(request: Any) -> dict[str, Any]:
    return {"method": request.method, "url": str(request.url)}


def _response(response: Any) -> dict[str, Any]:
    try:
        body = response.text
    except Exception:
        # An unread stream.
        body = ""
    # The body is decompressed: leave out the headers of its encoding.
    headers = [
        [name, item]
        for name, item in response.headers.items()
        if name not in ("content-encoding", "content-length")
    ]
    return {"status": response.status_code, "headers": headers, "body": body}


_PARTS: dict[str, Any] = {"request": _request, "response": _response}
