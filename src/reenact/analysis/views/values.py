"""Plain values as one would write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from reenact.core.messages import ToolCall
from reenact.core.model.plain import compact, parsed


def spelled(call: ToolCall) -> str:
    """A tool call as one would write it."""
    if isinstance(call.args, dict):
        return f"{call.name}({arguments(call.args)})"
    return f"{call.name}({compact(call.args) if call.args is not None else ''})"


def arguments(args: Mapping[str, Any]) -> str:
    """A call's arguments as one would write them."""
    return ", ".join(f"{name}={literal(value)}" for name, value in args.items())


def literal(value: Any) -> str:
    """A plain value on one line, a text in quotes."""
    return orjson.dumps(value).decode() if isinstance(value, (str, bool)) or value is None else compact(value)


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
