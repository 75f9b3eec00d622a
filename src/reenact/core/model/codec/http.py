"""Encode requests and responses of HTTP libraries, which exceptions hold.

    {"$response": {"type": "httpx:Response", "status": 503, "headers": {"retry-after": "2"}, "body": {"$utf8": "busy"},
                   "url": "https://…", "method": "GET"}}

A request's headers and body are left out: error handlers do not read them, and they hold the keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reenact.core.model.codec import limits
from reenact.core.model.codec.decode import NOT_LOADED, Decoder, Unkept
from reenact.core.model.codec.types import find_type, type_name
from reenact.core.model.event import Tree

_RESPONSES = ("httpx:Response", "httpx2:Response", "requests.models:Response")
_REQUESTS = ("httpx:Request", "httpx2:Request", "requests.models:PreparedRequest")

_PACKED = {"content-encoding", "content-length", "transfer-encoding"}
"""Headers that describe the packed body; the body is kept unpacked."""


def encode(value: Any, encode: Callable[[Any], Tree]) -> Tree | None:
    """Return the tree of a request or a response; None for other values."""
    name = type_name(type(value))
    if name in _REQUESTS:
        return {"$request": {"type": name, "method": value.method, "url": str(value.url)}}
    if name not in _RESPONSES:
        return None
    headers = {key.lower(): item for key, item in value.headers.items() if key.lower() not in _PACKED}
    # A stream that has not been read is not read for the recording.
    body = getattr(value, "_content", None)
    tree = {"type": name, "status": value.status_code, "headers": headers}
    tree["body"] = encode(body if isinstance(body, bytes) else b"")
    # A response of httpx without a request raises here.
    asked = value._request if hasattr(value, "_request") else getattr(value, "request", None)
    if asked is not None:
        tree |= {"method": asked.method, "url": str(asked.url)}
    return {"$response": tree}


def rebuild_request(decoder: Decoder, tree: Tree) -> Any:
    """Return the request, without headers and body."""
    members = limits.members(tree)
    name, method, url = (limits.text(members[part]) for part in ("type", "method", "url"))
    kind: Any = find_type(name) if name in _REQUESTS else None
    if kind is None:
        return Unkept(name, NOT_LOADED)
    if name.startswith("requests"):
        request = kind()
        request.method, request.url = method, url
        return request
    return _made(lambda: kind(method, url), "$request")


def rebuild_response(decoder: Decoder, tree: Tree) -> Any:
    """Return the response, completely read."""
    members = limits.members(tree)
    name = limits.text(members["type"])
    kind: Any = find_type(name) if name in _RESPONSES else None
    if kind is None:
        return Unkept(name, NOT_LOADED)
    status, kept, content = limits.number(members["status"]), headers(members), body(decoder, members)
    request = None
    if "url" in members:
        asked = _REQUESTS[_RESPONSES.index(name)]
        request = rebuild_request(
            decoder, {"type": asked, "method": members.get("method"), "url": members["url"]}
        )
    if not name.startswith("requests"):
        return _made(lambda: kind(status, headers=kept, content=content, request=request), "$response")
    response = kind()
    response.status_code, response._content, response._content_consumed = status, content, True
    response.headers.update(kept)
    response.request, response.url = request, members.get("url")
    response.encoding = _charset(kept.get("content-type", ""))
    return response


def _made(make: Callable[[], Any], tag: str) -> Any:
    try:
        return make()
    except Exception as error:  # the library's own errors, of whatever base
        raise ValueError(f"{tag}: {error}") from None


def headers(members: dict[str, Tree]) -> dict[str, str]:
    """Return the headers, less those by which a library would unpack the body again."""
    found = limits.members(members["headers"])
    return {name: limits.text(item) for name, item in found.items() if name.lower() not in _PACKED}


def body(decoder: Decoder, members: dict[str, Tree]) -> bytes:
    data = decoder.value(members["body"])
    if type(data) is not bytes:
        raise TypeError("a body is bytes")
    return data


def _charset(content_type: str) -> str | None:
    """Return the encoding that requests chooses."""
    _, found, charset = content_type.partition("charset=")
    if found:
        return charset.partition(";")[0].strip("'\" ")
    if "application/json" in content_type:
        return "utf-8"
    return "ISO-8859-1" if "text" in content_type else None
