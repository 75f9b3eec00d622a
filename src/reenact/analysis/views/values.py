"""Plain values as one would write them."""

from __future__ import annotations

from typing import Any

import orjson

from reenact.core.messages.spelling import literal
from reenact.core.model.plain import compact, parsed


def pretty(value: Any) -> str:
    """A plain value for reading: text as it is, JSON (also in a text) indented where it is long."""
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
    """A text in quotes where it is short, as it is where it has lines."""
    return pretty(value) if "\n" in value or value[:1] in ("{", "[") else literal(value)
