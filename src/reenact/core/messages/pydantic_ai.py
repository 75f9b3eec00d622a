"""Pydantic AI's messages, as its own JSON has them and as the adapter records them."""

from __future__ import annotations

from typing import Any

from reenact.core.messages.call import EffectView, Message, ModelCall, ToolCall
from reenact.core.messages.message_text import arguments, content, counted, schemas
from reenact.core.model.plain import compact

_CLASSES = {
    "TextPart": "text",
    "ThinkingPart": "thinking",
    "ToolCallPart": "tool-call",
    "NativeToolCallPart": "builtin-tool-call",
    "BuiltinToolCallPart": "builtin-tool-call",
    "FilePart": "file",
}
_ROLES = {"system-prompt": "system", "user-prompt": "user", "tool-return": "tool", "retry-prompt": "tool"}


def speaks(messages: Any) -> bool:
    """Return True for a list of Pydantic AI's messages."""
    return (
        isinstance(messages, list)
        and bool(messages)
        and isinstance(messages[0], dict)
        and isinstance(messages[0].get("parts"), list)
        and messages[0].get("kind") in ("request", "response", None)
        and all(isinstance(part, dict) and "part_kind" in part for part in messages[0]["parts"])
    )


def messages(items: list[Any]) -> tuple[Message, ...]:
    """Return a history as messages: each part of a request is one."""
    found: list[Message] = []
    instructions = ""
    for item in items:
        if not isinstance(item, dict):
            continue
        if item.get("kind") == "response":
            found.append(response(item))
            continue
        if item.get("instructions") and item["instructions"] != instructions:
            # Those of the newest request are sent, before all messages; those of earlier requests are not sent again.
            found = [message for message in found if message.name != "instructions"]
            instructions = str(item["instructions"])
            found.insert(0, Message("system", instructions, name="instructions"))
        found += [_part(part) for part in item.get("parts") or () if isinstance(part, dict)]
    return tuple(found)


def _part(part: dict[str, Any]) -> Message:
    kind = _kind(part)
    role = _ROLES.get(kind, "user")
    name = str(part.get("tool_name") or "")
    if kind == "retry-prompt" and not name:
        role = "user"
    given = part.get("content")
    text = content(given) if kind in ("system-prompt", "user-prompt", "retry-prompt") else compact(given)
    asked = str(part.get("tool_call_id") or "") if role == "tool" else ""
    return Message(role, text if given is not None else "", name=name, id=asked)


def response(item: dict[str, Any]) -> Message:
    """Return a response as a message."""
    said: list[str] = []
    thought: list[str] = []
    calls: list[ToolCall] = []
    for part in item.get("parts") or ():
        kind = _kind(part)
        if kind.endswith("tool-call"):
            given = arguments(part.get("args"))
            calls.append(ToolCall(str(part.get("tool_name")), given, str(part.get("tool_call_id") or "")))
        elif kind == "thinking":
            thought.append(str(part.get("content") or ""))
        elif kind == "text":
            said.append(str(part.get("content") or ""))
        elif kind == "file":
            said.append("[file]")
    return Message("assistant", "\n".join(said), tuple(calls), thinking="\n".join(thought))


def _kind(part: Any) -> str:
    """Return a part's kind (`text`, `tool-call` …), from its own field or its class."""
    if not isinstance(part, dict):
        return ""
    return str(part.get("part_kind") or _CLASSES.get(str(part.get("type")), ""))


def streamed(head: Any, chunks: list[Any]) -> dict[str, Any]:
    """Return a streamed response: the last chunk, or the part that the program read."""
    parts: dict[int, dict[str, Any]] = {}
    news: dict[str, Any] = dict(head) if isinstance(head, dict) else {}
    for chunk in chunks:
        if isinstance(chunk.get("response"), dict):
            return dict(chunk["response"])
        news.update(chunk.get("news") or {})
        event = chunk.get("event") or {}
        place = event.get("index", 0)
        if isinstance(event.get("part"), dict):
            parts[place] = dict(event["part"])
        elif isinstance(delta := event.get("delta"), dict) and place in parts:
            for key, more in (
                ("content", "content_delta"),
                ("args", "args_delta"),
                ("tool_name", "tool_name_delta"),
            ):
                if isinstance(delta.get(more), str):
                    parts[place][key] = (parts[place].get(key) or "") + delta[more]
    return {**news, "parts": [parts[place] for place in sorted(parts)]}


def reader(asked: EffectView) -> ModelCall | None:
    """Read a model call that the adapter recorded; None for any other effect."""
    if asked.kind != "model" or not speaks(asked.args.get("messages")):
        return None
    reply = streamed(asked.value, asked.chunks) if asked.stream else asked.value
    return read(asked.name, asked.args, reply)


def read(model: str, args: dict[str, Any], reply: Any) -> ModelCall:
    """Return a recorded model call."""
    reply = reply if isinstance(reply, dict) else {}
    tools = [tool for tool in args.get("tools") or () if isinstance(tool, (dict, str))]
    return ModelCall(
        model=str(reply.get("model_name") or model),
        messages=messages(args["messages"]),
        answer=response(reply) if "parts" in reply else None,
        usage=counted(reply.get("usage")),
        provider=str(reply.get("provider_name") or args.get("provider") or ""),
        tools=tuple(tool if isinstance(tool, str) else str(tool.get("name") or "") for tool in tools),
        streamed=bool(args.get("stream")),
        finish=str(
            reply.get("finish_reason") or (reply.get("provider_details") or {}).get("finish_reason") or ""
        ),
        schemas=schemas(tools),
    )


_IN_HISTORY = ("model_name", "provider_name", "provider_details", "provider_response_id", "state")


def in_history(reply: dict[str, Any]) -> dict[str, Any]:
    """Return a recorded answer in the form that later requests have among their messages."""
    parts = []
    for part in reply["parts"]:
        kind = _kind(part)
        own = {name: item for name, item in part.items() if name != "type"} if kind else part
        parts.append({**own, "part_kind": kind} if kind else part)
    return {
        "parts": parts,
        **{name: reply[name] for name in _IN_HISTORY if name in reply},
        "kind": "response",
    }
