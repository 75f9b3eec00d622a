"""The texts that a selector states. They bind every element that replaces its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
_MOST = 2000
"""Characters of a selector that are read."""


def texts_of(selector: str | Mapping[str, Any] | None) -> tuple[str, tuple[str, ...]]:
    """Return the text that names a selector's element, and its other texts (its record's).

    Of several selectors each states its own: only the texts of the first one count.
    """
    if selector is None:
        return "", ()
    try:
        first = parse(selector)[0]
    except SelectorError:
        return "", ()
    text = first.text[:_MOST]
    found = [one or other for one, other in _CALLED.findall(text)]
    found += [one or other for one, other in _QUOTED.findall(text)]
    found += [one.strip() for one in _BARE.findall(text)]
    own = sought([first])
    said = own.get("attributes") or {}
    parts = [own.get(name) for name in ("shown", "name", "label", "placeholder", "title", "alt")]
    parts += [said.get(name) for name in ("aria-label", "title", "placeholder", "alt")]
    words = next((str(one) for one in parts if one), "")
    if words and first.kind == "engine" and words not in _last(text):
        found.append(words)
        words = ""
    rest = dict.fromkeys(one.strip() for one in found if one.strip() and one.strip() != words)
    return words, tuple(rest)


def _last(text: str) -> str:
    """Return the last step of a selector, behind the last combinator."""
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
