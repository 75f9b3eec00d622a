"""Plain values as text for people."""

from __future__ import annotations

from typing import Any

import orjson

from reenact.core.messages.spelling import literal
from reenact.core.model.plain import compact, parsed


def pretty(value: Any) -> str:
    """Return a plain value for people: a text unchanged, JSON (also in a text) indented if long."""
    parts = parsed(value) if isinstance(value, str) and value[:1] in ("{", "[") else value
    if isinstance(parts, str):
        return parts
    short = compact(parts)
    if len(short) <= 100 or not isinstance(parts, (dict, list)):
        return short
    try:
        return orjson.dumps(parts, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        # An integer of more than 64 bits.
        return short


def literal_or_text(value: str) -> str:
    """Return a text of one line in quotes; JSON, or one of several lines, as `pretty` does."""
    return pretty(value) if "\n" in value or value[:1] in ("{", "[") else literal(value)
