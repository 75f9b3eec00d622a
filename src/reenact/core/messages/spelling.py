"""Calls with their arguments as one would write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from reenact.core.messages import ToolCall
from reenact.core.model.plain import compact


def spelled(call: ToolCall) -> str:
    """A tool call as one would write it."""
    return spelled_call(call.name, call.args)


def spelled_call(name: str, args: Any) -> str:
    """A call of this name as one would write it."""
    if isinstance(args, dict):
        return f"{name}({arguments(args)})"
    return f"{name}({compact(args) if args is not None else ''})"


def arguments(args: Mapping[str, Any]) -> str:
    """A call's arguments as one would write them."""
    return ", ".join(f"{name}={literal(value)}" for name, value in args.items())


def literal(value: Any) -> str:
    """A plain value on one line, a text in quotes."""
    return orjson.dumps(value).decode() if isinstance(value, (str, bool)) or value is None else compact(value)
