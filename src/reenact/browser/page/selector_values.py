"""Compare an element with the values in a selector: ids, addresses, attributes, positions.

They decide if an element may replace the selector's own one when nothing else is known of that. A value that the
fingerprint does not contain counts as another one: it is better to stop than to act on `/u/8` instead of `/u/7`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reenact.browser.page.consequence import plain
from reenact.browser.page.selector_words import last_part, texts_of
from reenact.browser.page.selectors import Selector, SelectorError, parse
from reenact.browser.page.wording import tokens
from reenact.core.web_address import split_address

_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_VALUED = re.compile(
    r"#[\w\\-]|\[[^\]]*[=@]|\[\d+\]|\[(?:last|position)\(|:nth-|:(?:first|last)-|\bnth=|\.[\w-]*\d"
)
"""An id, an attribute, a position or a numbered class."""
_CLASS = re.compile(r"\.[A-Za-z_-]")
_CSS = re.compile(r"(?:^|\.)locator\(\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')")
_CALLS = re.compile(r"\.(?=(?:get_by_\w+|locator|filter|nth|first|last)\b)(?![^(]*\"[^(]*\))")
_PLACED = re.compile(r"\.nth\(|\.first\b|\.last\b|get_by_test_id\(")
_ATTRIBUTE = re.compile(
    r"[\[@]\s*([\w:-]+)\s*([~|^$*]?=)\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|([^\]\s\"']+))"
)
_CONTAINS = re.compile(r"contains\(\s*@([\w:-]+)\s*,\s*(?:\"([^\"]*)\"|'([^']*)')")
_NOT = re.compile(r":not\([^()]*\)|:has\([^()]*\)")

_NAMES = frozenset({"aria-label", "title", "alt", "placeholder"})
"""Attributes that name an element to people."""
_CODES = frozenset({"id", "data-testid", "data-test-id", "data-test", "name"})
"""Attributes in which programmers name an element: a redesign changes them."""
_KINDS = frozenset({"type", "role", "class", "tabindex", "disabled", "checked", "visible"})


def unmet(selector: str | Mapping[str, Any] | None, fingerprint: Mapping[str, Any]) -> str:
    """Return the value in a selector that an element does not have, in words, or "".

    Args:
        selector: The selector, as in the script.
        fingerprint: The element's fingerprint.
    """
    try:
        tried = () if selector is None else parse(selector)
    except SelectorError:
        return ""
    return next((why for one in tried if (why := _unmet(one, fingerprint))), "")


def _unmet(selector: Selector, fingerprint: Mapping[str, Any]) -> str:
    own, around = _parts(selector)
    if _valued(around, worded=bool(texts_of(selector.text)[1])):
        return f"the selector says by a value what it stands in: {around.strip()[:80]}"
    own = _NOT.sub("", own)
    conditions = [
        (name, sign, one or other or bare) for name, sign, one, other, bare in _ATTRIBUTE.findall(own)
    ]
    conditions += [(name, "*=", one or other) for name, one, other in _CONTAINS.findall(own)]
    for name, sign, value in conditions:
        if name not in _KINDS and not _has(fingerprint, name, sign, value):
            return f"the selector says {name}{sign}{value!r}, which it has not"
    return ""


def _parts(selector: Selector) -> tuple[str, str]:
    """Return the part of a selector that describes the element itself, and the part before it."""
    body = selector.body
    if selector.kind == "text":
        return "", ""
    if selector.kind == "engine":
        own = last_part(body)
        return own, body[: len(body) - len(own)]
    places = [one.start() for one in _CALLS.finditer(body)]
    at = places[-1] if places else 0
    css = " ".join(one[1:-1] for one in _CSS.findall(body[at:]))
    return css, body[:at]


def _valued(around: str, *, worded: bool) -> bool:
    """Return True if values identify the boxes around an element.

    Plain classes count only if no text identifies the boxes.
    """
    css = [one[1:-1] for one in _CSS.findall(around)]
    if css or _PLACED.search(around):
        return bool(_PLACED.search(around)) or any(_valued(one, worded=worded) for one in css)
    bare = _QUOTED.sub("''", around)
    return bool(_VALUED.search(bare)) or (not worded and bool(_CLASS.search(bare)))


def _has(fingerprint: Mapping[str, Any], name: str, sign: str, value: str) -> bool:
    attributes = fingerprint.get("attributes") or {}
    has = attributes.get(name)
    if name in _CODES:
        # Another id is accepted, unless it is the next one of a series, as `row-8` for `row-7`.
        return has is None or has == value or plain(str(has)) != plain(value)
    if name in _NAMES:
        same = has is not None and _fits(str(has), sign, value)
        pictured = name != "alt" or fingerprint.get("role") in {"img", "image"}
        named = has is None and any(
            tokens(str(fingerprint.get(one) or "")) == tokens(value) for one in ("name", "text")
        )
        return same or (pictured and named)
    if name == "value" and has is None and fingerprint.get("role") == "button" and sign == "=":
        return str(fingerprint.get("name") or "") == value  # a button shows its value
    if name in {"href", "src"} and has is not None:
        parts = split_address(value)
        return not parts.query and _fits(str(has), sign, parts.path or value)
    return has is not None and _fits(str(has), sign, value)


def _fits(has: str, sign: str, value: str) -> bool:
    if sign == "^=":
        return has.startswith(value)
    if sign == "$=":
        return has.endswith(value)
    return value in has if sign == "*=" else has == value
