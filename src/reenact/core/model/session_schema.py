"""Check each line of a browser session's file against the format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reenact.core.model import schema
from reenact.core.model.event import Tree
from reenact.core.model.schema import (
    Members,
    Specification,
    Test,
    call,
    compiled,
    count,
    flag,
    instant,
    is_address,
    means,
    members,
    number,
    object_,
    or_null,
    text,
    texts,
    words,
)

_LARGEST = 100_000
"""The longest side of a picture or page, in pixels."""


@means("a length in pixels")
def _side(value: Tree) -> bool:
    return (type(value) is int or type(value) is float) and 0 <= value <= _LARGEST


@means("a place in pixels")
def _pixels(value: Tree) -> bool:
    return (type(value) is int or type(value) is float) and abs(value) < 1 << 53


def _numbers(many: int, what: str, test: Test) -> Test:
    def listed(value: Any) -> bool:
        return type(value) is list and len(value) == many and all(map(test, value))

    return means(what)(listed)


_SIZE = _numbers(2, "a width and a height", _side)
_POINT = _numbers(2, "a point", _pixels)
_BOX = _numbers(4, "a box", _pixels)


@means("a list of boxes")
def _boxes(value: Tree) -> bool:
    return type(value) is list and all(map(_BOX, value))


@means("a blob's address")
def _blob(value: Tree) -> bool:
    return is_address(value)


@means("a list of blobs' addresses")
def _blobs(value: Tree) -> bool:
    return type(value) is list and all(map(is_address, value))


@means("null or a target")
def _target(value: Tree) -> bool:
    return value is None or (type(value) is dict and not members(value, _TARGET))


@means("null, a text or an object")
def _reason(value: Tree) -> bool:
    return value is None or type(value) is str or type(value) is dict


@means("an object of texts")
def _headers(value: Tree) -> bool:
    return type(value) is dict and words(list(value.values()))


_TARGET: Members = {
    "box": or_null(_BOX),
    "point": or_null(_POINT),
    "selector": or_null(text),
    "frame": or_null(texts),
    "secret": or_null(flag),
}
_maybe_text = or_null(text)
_PICTURE: Members = {
    "tab": count,
    "blob": _blob,
    "width": _side,
    "height": _side,
    "masks": _boxes,
}
_PAGE: Members = {"viewport": _SIZE}
_LINES: Mapping[str, Specification] = {
    "session": (
        {"format": number, "id": text, "viewport": _SIZE},
        {"started": text, "browser": _maybe_text, "headless": or_null(flag)},
    ),
    "tab": (
        {"tab": count, "what": text},
        {"url": _maybe_text, "title": _maybe_text, "opener": or_null(count)},
    ),
    "frame": (_PICTURE, _PAGE),
    "anchor": ({**_PICTURE, "why": text}, {**_PAGE, "call": call}),
    "before": (
        {"tab": count, "action": object_},
        {"call": call, "actor": _maybe_text, "url": _maybe_text, "line": _maybe_text, "target": _target},
    ),
    "after": (
        {"tab": count, "success": flag},
        {
            "call": call, "message": _maybe_text, "url": _maybe_text, "title": _maybe_text, "why": _reason,
            "selectors": or_null(object_),
        },
    ),
    "tree": ({"tab": count, "blob": _blob}, {"call": call}),
    "dom": ({"tab": count, "blob": _blob, "why": text}, {"call": call, "parts": _blobs}),
    "request": (
        {"id": number, "method": text, "url": text},
        {
            "tab": or_null(count), "resource": _maybe_text, "headers": or_null(_headers), "post": _maybe_text,
            "redirected": or_null(number), "left": _maybe_text,
        },
    ),
    "response": (
        {"id": number, "status": or_null(count)},
        {
            "tab": or_null(count), "headers": or_null(_headers), "body": or_null(_blob), "size": or_null(count),
            "ms": or_null(instant), "left": _maybe_text,
        },
    ),
    "failed": ({"id": number}, {"text": _maybe_text}),
    "console": (
        {"tab": count, "text": text},
        {"level": _maybe_text, "url": _maybe_text, "row": or_null(count)},
    ),
    "error": ({"tab": count, "text": text}, {}),
    "dialog": (
        {"tab": count, "kind": text, "text": text},
        {"answer": _maybe_text, "closed": or_null(instant)},
    ),
    "download": (
        {"tab": count},
        {
            "url": _maybe_text, "name": _maybe_text, "size": or_null(count), "state": _maybe_text,
            "text": _maybe_text,
        },
    ),
    "chooser": ({"tab": count}, {"multiple": or_null(flag)}),
    "crash": ({"tab": or_null(count), "what": text}, {}),
    "noted": ({"what": text, "text": text}, {}),
    "end": ({}, {}),
}  # fmt: skip
_COMPILED = compiled({name: (spec[0], {"t": instant, **spec[1]}) for name, spec in _LINES.items()})


def check(data: dict[str, Tree]) -> None:
    """Check one line's members. Raises `schema.Unfit`."""
    schema.check(data, _COMPILED)
