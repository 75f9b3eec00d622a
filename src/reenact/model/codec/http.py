"""Requests and responses of HTTP libraries as trees: exceptions hold them, and programs look at their status.

    {"$response": {"type": "httpx:Response", "status": 503, "headers": {"retry-after": "2"}, "body": {"$utf8": "busy"},
                   "url": "https://…", "method": "GET"}}

A request's headers and body are left out: nobody asks for them where an answer is handled, and they hold the keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reenact.model.codec.types import find_type, type_name
from reenact.model.event import Tree

_RESPONSES = ("httpx:Response", "httpx2:Response", "requests.models:Response")
_REQUESTS = ("httpx:Request", "httpx2:Request", "requests.models:PreparedRequest")

_PACKED = {"content-encoding", "content-length", "transfer-encoding"}
"""Headers that speak of the body as it came: it is kept unpacked."""


def encode(value: Any, encode: Callable[[Any], Tree]) -> Tree | None:
    """The tree of a request or a response; None for all else."""
    name = type_name(type(value))
    if name in _REQUESTS:
        return {"$request": {"type": name, "method": value.method, "url": str(value.url)}}
    if name not in _RESPONSES:
        return None
    headers = {key.lower(): item for key, item in value.headers.items() if key.lower() not in _PACKED}
    # What nobody has read of a stream is not read for the recording's sake.
    body = getattr(value, "_content", None)
    tree = {"type": name, "status": value.status_code, "headers": headers}
    tree["body"] = encode(body if isinstance(body, bytes) else b"")
    # One of httpx may have none, and says so by raising.
    asked = value._request if hasattr(value, "_request") else getattr(value, "request", None)
    if asked is not None:
        tree |= {"method": asked.method, "url": str(asked.url)}
    return {"$response": tree}


def decode_request(tree: Tree) -> Any:
    """The request again, without headers and body; None where its library is not loaded."""
    kind: Any = find_type(tree["type"])
    if kind is None or tree["type"] not in _REQUESTS:
        return None
    if tree["type"].startswith("requests"):
        request = kind()
        request.method, request.url = tree["method"], tree["url"]
        return request
    return kind(tree["method"], tree["url"])


def decode_response(tree: Tree, decode: Callable[[Tree], Any]) -> Any:
    """The response again, wholly read; None where its library is not loaded."""
    name, body = tree["type"], decode(tree["body"])
    kind: Any = find_type(name)
    if kind is None or name not in _RESPONSES:
        return None
    request = None
    if "url" in tree:
        asked = _REQUESTS[_RESPONSES.index(name)]
        request = decode_request({"type": asked, "method": tree["method"], "url": tree["url"]})
    if not name.startswith("requests"):
        return kind(tree["status"], headers=tree["headers"], content=body, request=request)
    response = kind()
    response.status_code, response._content, response._content_consumed = tree["status"], body, True
    response.headers.update(tree["headers"])
    response.request, response.url = request, tree.get("url")
    response.encoding = _charset(tree["headers"].get("content-type", ""))
    return response


def _charset(content_type: str) -> str | None:
    """As requests has it."""
    _, found, charset = content_type.partition("charset=")
    if found:
        return charset.partition(";")[0].strip("'\" ")
    if "application/json" in content_type:
        return "utf-8"
    return "ISO-8859-1" if "text" in content_type else None
