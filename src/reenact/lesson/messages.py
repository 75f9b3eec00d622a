"""Messages in the form of sessions.

An example is `{"type": "ModelRequest", "parts": [{"kind": "user-prompt", "content": ...}]}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from reenact.core.messages import Message, ModelCall
from reenact.core.model.plain import parsed

Messages = list[dict[str, Any]]

REQUEST, RESPONSE = "ModelRequest", "ModelResponse"
_KINDS = {"system": "system-prompt", "user": "user-prompt"}
_KEPT = ("tool_name", "args", "content", "tool_call_id")


def of_pydantic(messages: Iterable[Any]) -> Messages:
    """Convert Pydantic AI's messages to a session's form."""
    return [
        {"type": type(message).__name__, "parts": list(map(_part, message.parts))} for message in messages
    ]


def _part(part: Any) -> dict[str, Any]:
    kept: dict[str, Any] = {"kind": part.part_kind}
    for key in _KEPT:
        value = getattr(part, key, None)
        if value is not None or (key == "content" and hasattr(part, key)):
            # Providers give arguments as JSON text, which is easier to read parsed.
            kept[key] = jsonable(_arguments(value) if key == "args" else value)
    return kept


def _arguments(value: Any) -> Any:
    found = parsed(value)
    return found if isinstance(found, dict) else value


def jsonable(value: Any) -> Any:
    """Return any value as plain JSON; values without a JSON form become text."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value, fallback=str, bytes_mode="base64", inf_nan_mode="strings")


def of_call(call: ModelCall) -> Messages:
    """Return the messages and the answer of a recorded model call, of any library."""
    found: Messages = []
    answered = [*call.messages, *([call.answer] if call.answer is not None else [])]
    for message in answered:
        kind = RESPONSE if message.role == "assistant" else REQUEST
        if kind == RESPONSE or not found or found[-1]["type"] == RESPONSE:
            found.append({"type": kind, "parts": []})
        found[-1]["parts"] += _parts(message)
    return found


def _parts(message: Message) -> Iterator[dict[str, Any]]:
    if message.role == "assistant":
        if message.thinking:
            yield {"kind": "thinking", "content": message.thinking}
        if message.text or not message.calls:
            yield {"kind": "text", "content": message.text}
        for call in message.calls:
            yield {"kind": "tool-call", "tool_name": call.name, "args": call.args, "tool_call_id": call.id}
    elif message.role == "tool":
        yield {
            "kind": "tool-return", "tool_name": message.name, "content": message.text, "tool_call_id": message.id
        }  # fmt: skip
    else:
        yield {"kind": _KINDS.get(message.role, "user-prompt"), "content": message.text}


def tool_calls(messages: Messages) -> list[dict[str, Any]]:
    """Return the tool calls in a session's answers, in order."""
    return [
        {"tool": part.get("tool_name"), "args": part.get("args")}
        for message in messages
        for part in message.get("parts", ())
        if part.get("kind") == "tool-call"
    ]


def comparable(messages: Messages, instructions: Any) -> Messages:
    """Return messages in the form for comparison.

    The instructions become the first system prompt, contents become text, and arguments are parsed.
    """
    found: list[dict[str, Any]] = [
        {"type": message.get("type"), "parts": [_comparable(part) for part in message.get("parts", ())]}
        for message in messages
    ]
    if isinstance(instructions, str) and instructions and found:
        found[0]["parts"].insert(0, {"kind": "system-prompt", "content": instructions})
    return found


def _comparable(part: dict[str, Any]) -> dict[str, Any]:
    found = {"kind": part.get("kind"), **{key: part[key] for key in _KEPT if part.get(key) is not None}}
    if "args" in found:
        found["args"] = _arguments(found["args"])
    if "content" in found and not isinstance(found["content"], str):
        found["content"] = orjson.dumps(found["content"], option=orjson.OPT_SORT_KEYS).decode()
    return found


def as_far_as_known(actual: Messages, recorded: Messages) -> Messages:
    """Reduce the actual messages to the fields that the record contains.

    In sessions of other programs, some parts have only a kind.
    """
    return [
        {
            **message,
            "parts": [
                part
                if index >= len(known["parts"]) or known["parts"][index].get("kind") != part["kind"]
                else {key: value for key, value in part.items() if key in known["parts"][index]}
                for index, part in enumerate(message["parts"])
            ],
        }
        for message, known in zip(actual, recorded, strict=False)
    ] + actual[len(recorded) :]
