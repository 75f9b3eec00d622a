"""Anthropic's messages API."""

from __future__ import annotations

from typing import Any, TypeAlias

from reenact.core.messages.call import Message, ModelCall, StreamedAnswer, ToolCall, Usage
from reenact.core.messages.growing import Memory
from reenact.core.messages.message_text import assembled, content, number, schemas
from reenact.core.messages.openai import problem
from reenact.core.model.plain import compact

_Chat: TypeAlias = tuple[tuple[Message, ...], dict[str, str]]


def read(
    request: dict[str, Any], reply: Any, pieces: list[dict[str, Any]], memory: Memory | None = None
) -> ModelCall:
    """Return a call of the messages API, whole or streamed."""
    reply = reply if isinstance(reply, dict) else {}
    answer = None
    if pieces:
        answer, reply = _stream(pieces)
    elif reply.get("content"):
        answer = next(iter(_messages([{"role": "assistant", "content": reply["content"]}])), None)
    system = [Message("system", content(request["system"]))] if request.get("system") else []
    tools = [tool for tool in request.get("tools") or () if isinstance(tool, dict)]
    return ModelCall(
        model=str(reply.get("model") or request.get("model") or ""),
        messages=(*system, *_messages(request.get("messages") or [], memory)),
        answer=answer,
        usage=_usage(reply.get("usage")),
        provider="anthropic",
        tools=tuple(str(tool.get("name") or tool.get("type") or "") for tool in tools),
        streamed=bool(pieces),
        problem=problem(reply),
        finish=str(reply.get("stop_reason") or ""),
        schemas=schemas(tools),
    )


def _messages(items: list[Any], memory: Memory | None = None) -> tuple[Message, ...]:
    return (memory or Memory()).follow("anthropic", items, lambda: ((), {}), _more)[0]


def _more(before: _Chat, items: list[Any]) -> _Chat:
    names = dict(before[1])
    found: list[Message] = []
    for item in items:
        role = str(item.get("role") or "user")
        given = item.get("content")
        blocks = given if isinstance(given, list) else [{"type": "text", "text": given or ""}]
        said: list[Any] = []
        thought: list[str] = []
        calls: list[ToolCall] = []
        for block in blocks:
            kind = str(block.get("type") or "text") if isinstance(block, dict) else "text"
            if kind.endswith("tool_use"):
                calls.append(ToolCall(str(block.get("name")), block.get("input"), str(block.get("id"))))
                names[calls[-1].id] = calls[-1].name
            elif kind == "tool_result":
                id = str(block.get("tool_use_id"))
                text, failed = content(block.get("content")), bool(block.get("is_error"))
                found.append(Message("tool", text, name=names.get(id, ""), id=id, failed=failed))
            elif kind == "thinking":
                thought.append(str(block.get("thinking") or ""))
            elif kind != "redacted_thinking":
                said.append(block)
        if said or calls or thought:
            found.append(Message(role, content(said), tuple(calls), thinking="\n".join(thought)))
    return (*before[0], *found), names


def _stream(pieces: list[dict[str, Any]]) -> tuple[Message | None, dict[str, Any]]:
    draft = StreamedAnswer()
    summary: dict[str, Any] = {}
    for piece in pieces:
        kind = piece.get("type")
        if kind == "message_start":
            summary.update(piece.get("message") or {})
        elif kind == "message_delta":
            counts = {key: value for key, value in (piece.get("usage") or {}).items() if value}
            summary["usage"] = {**(summary.get("usage") or {}), **counts}
            summary["stop_reason"] = (piece.get("delta") or {}).get("stop_reason")
        elif kind == "error":
            summary["error"] = piece.get("error")
        elif kind == "content_block_start":
            block = piece.get("content_block") or {}
            draft.text.append(content(block.get("text")))
            if str(block.get("type")).endswith("tool_use"):
                # Empty where deltas are to follow; a proxy may send it whole.
                given = compact(block["input"]) if block.get("input") else ""
                draft.call(piece.get("index"), str(block.get("name")), given, str(block.get("id")))
        elif kind == "content_block_delta":
            delta = piece.get("delta") or {}
            draft.text.append(str(delta.get("text") or ""))
            draft.thinking.append(str(delta.get("thinking") or ""))
            if delta.get("partial_json"):
                draft.call(piece.get("index"), args=str(delta["partial_json"]))
    return assembled(draft), summary


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict) or "input_tokens" not in usage:
        return None
    cached = number(usage.get("cache_read_input_tokens"))
    written = number(usage.get("cache_creation_input_tokens"))
    # Anthropic counts cached tokens apart from the input, the others count them as a part of it.
    given = number(usage.get("input_tokens")) + cached + written
    return Usage(given, number(usage.get("output_tokens")), cached, written)
