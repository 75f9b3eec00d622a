"""Write calls and their arguments as in Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from reenact.core.messages import ToolCall
from reenact.core.model.plain import compact


def spelled(call: ToolCall) -> str:
    """Return a tool call as text: `cancel(order="ORD-1")`."""
    return spelled_call(call.name, call.args)


def spelled_call(name: str, args: Any) -> str:
    """Return a call of a name and its arguments as text."""
    if isinstance(args, dict):
        return f"{name}({arguments(args)})"
    return f"{name}({compact(args) if args is not None else ''})"


def arguments(args: Mapping[str, Any]) -> str:
    """Return a call's arguments as text, without the parentheses."""
    return ", ".join(f"{name}={literal(value)}" for name, value in args.items())


def literal(value: Any) -> str:
    """Return a plain value on one line, a text in quotes."""
    return orjson.dumps(value).decode() if isinstance(value, (str, bool)) or value is None else compact(value)
