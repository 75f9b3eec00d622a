"""Messages and tools in the form of the GenAI conventions (`gen_ai.input.messages` …)."""

from __future__ import annotations

from typing import Any

import orjson

from reenact.core.messages import Message, ModelCall
from reenact.core.model.plain import parsed

_FINISHES = {
    "tool_calls": "tool_call", "tool_use": "tool_call", "function_call": "tool_call", "max_tokens": "length",
    "max_output_tokens": "length", "MAX_TOKENS": "length", "end_turn": "stop", "stop_sequence": "stop", "STOP": "stop",
    "completed": "stop", "SAFETY": "content_filter", "refusal": "content_filter",
}  # fmt: skip


def asked(call: ModelCall) -> list[dict[str, Any]]:
    """Return the input messages of a model call."""
    return [_message(message) for message in call.messages]


def answered(call: ModelCall) -> list[dict[str, Any]]:
    """Return the output message, with the finish reason in the conventions' word."""
    if call.answer is None:
        return []
    return [{**_message(call.answer), "finish_reason": _FINISHES.get(call.finish, call.finish or "unknown")}]


def offered(call: ModelCall) -> list[dict[str, Any]]:
    """Return the tools that a model call may ask for."""
    found: list[dict[str, Any]] = []
    for name in call.tools or tuple(call.schemas):
        tool: dict[str, Any] = {"type": "function", "name": name}
        found.append({**tool, "parameters": call.schemas[name]} if name in call.schemas else tool)
    return found


def _message(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = {"role": message.role, "parts": _parts(message)}
    return {**found, "name": message.name} if message.name else found


def _parts(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        result: dict[str, Any] = {
            "type": "tool_call_response",
            "id": message.id or None,
            "response": message.text,
        }
        return [{**result, "name": message.name} if message.name else result]
    found: list[dict[str, Any]] = []
    if message.thinking:
        found.append({"type": "reasoning", "content": message.thinking})
    if message.text:
        found.append({"type": "text", "content": message.text})
    for call in message.calls:
        part: dict[str, Any] = {"type": "tool_call", "id": call.id or None, "name": call.name}
        found.append({**part, "arguments": spoken(call.args)} if call.args is not None else part)
    return found


def spoken(value: Any) -> Any:
    """Return a value in a form that a reader which parses texts as JSON restores."""
    if not isinstance(value, str):
        return value
    bare = parsed(value)
    return value if isinstance(bare, str) and bare == value else orjson.dumps(value).decode()
