"""The texts in a selector, which each element that replaces its own must have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reenact.browser.page.likeness import sought
from reenact.browser.page.selectors import SelectorError, parse

_CALLED = re.compile(
    r"(?:has-text|text-is|text|has_text|name|exact_text|get_by_text|get_by_label|get_by_title|get_by_alt_text"
    r"|get_by_placeholder|contains\([^,()]*(?:\(\))?,|normalize-space\(\)\s*=|text\(\)\s*=|\.\s*=)"
    r"\s*[(=]?\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)')"
)
_BARE = re.compile(r"(?:^|>>\s*)(?:text=|~)\s*([^\"'>][^>]*)")
_QUOTED = re.compile(r"(?:^|>>\s*)text=(?:\"([^\"]*)\"|'([^']*)')")
_PATTERN = re.compile(r"/.*/[a-z]*")
"""A regular expression, which counts as it is written."""
_CODED = (
    "id", "data-testid", "data-test-id", "data-test", "name", "value", "href", "for", "aria-label", "title", "alt",
    "placeholder",
)  # fmt: skip
_ANCHORED = re.compile(r"\[\s*([\w-]+)\s*[$^|~]=")
"""Attributes of which only a beginning or an end is given."""
_VALUE = re.compile(r"\[\s*value\s*\*=\s*[\"']?([^\"'\]]+)")
"""A part of the text of a button."""
_WHICH = re.compile(r"(?:\s*>>\s*(?:nth=-?\d+|visible=\w+))+\s*$")
"""The choice of one of several elements, which has no words."""
_MOST = 2000
"""Characters of a selector that are read."""


def texts_of(selector: str | Mapping[str, Any] | None) -> tuple[str, tuple[str, ...]]:
    """Return the text that names a selector's element, and its other texts (its record's).

    Of several selectors, only the texts of the first one count.
    """
    if selector is None:
        return "", ()
    try:
        first = parse(selector)[0]
    except SelectorError:
        return "", ()
    first = replace(first, body=_WHICH.sub("", first.body[:_MOST]))
    text = _WHICH.sub("", first.text[:_MOST])
    found = [one or other for one, other in _CALLED.findall(text)]
    found += [one or other for one, other in _QUOTED.findall(text)]
    found += [one.strip() for one in _BARE.findall(text)]
    found = [one for one in found if not _PATTERN.fullmatch(one)]
    own = sought([first])
    said = {name: value for name, value in own["attributes"].items() if name not in _ANCHORED.findall(text)}
    parts = [own.get(name) for name in ("shown", "name", "label", "placeholder", "title", "alt")]
    parts += [said.get(name) for name in ("aria-label", "title", "placeholder", "alt")]
    parts += [value for value in _VALUE.findall(text)[-1:] if value == said.get("value")]
    words = next((str(one) for one in parts if one and not _PATTERN.fullmatch(str(one))), "")
    if words and first.kind == "engine" and words not in last_part(text):
        found.append(words)
        words = ""
    rest = dict.fromkeys(one.strip() for one in found if one.strip() and one.strip() != words)
    return words, tuple(rest)


def codes_of(selector: str | Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the words in ids, values and addresses of a selector's element.

    They include the texts of all but the first of several selectors: any of them may find the element.
    """
    if selector is None:
        return ()
    try:
        tried = parse(selector)
    except SelectorError:
        return ()
    found: list[str] = []
    for place, one in enumerate(tried):
        told = sought([one])
        said = told.get("attributes") or {}
        found += [str(said[name]) for name in _CODED if said.get(name)]
        found += map(str, () if found else told.get("classes") or ())
        found += [str(told[name]) for name in ("shown", "name") if place and told.get(name)]
    return tuple(dict.fromkeys(one[:_MOST] for one in found))


def last_part(text: str) -> str:
    """Return the last step of a selector, after the last combinator."""
    body = text.rpartition(" >> ")[2]
    start = depth = 0
    quote = ""
    for place, letter in enumerate(body):
        if quote:
            quote = "" if letter == quote and body[place - 1] != "\\" else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif not depth and letter in (
            " >+~" if not body.startswith(("xpath=", "/", "(", "text=", "role=")) else "/"
        ):
            start = place + 1
    return body[start:] or body
