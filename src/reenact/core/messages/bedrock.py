"""Read Amazon Bedrock's converse, whole and streamed; `invoke` has each vendor's own form."""

from __future__ import annotations

import base64
import struct
from typing import Any

from reenact.core.messages.call import Message, ModelCall, StreamedAnswer, ToolCall, Usage
from reenact.core.messages.message_text import assembled, content, number, schemas
from reenact.core.messages.openai import problem
from reenact.core.model.plain import parsed

_PRELUDE = struct.Struct(">II")


def read(model: str, request: dict[str, Any], reply: Any, pieces: list[dict[str, Any]]) -> ModelCall:
    """Return a call of converse (`reply`) or converse-stream (`pieces`, from `events`)."""
    reply = reply if isinstance(reply, dict) else {}
    answer = None
    if pieces:
        answer, reply = _stream(pieces)
    elif isinstance((reply.get("output") or {}).get("message"), dict):
        answer = next(iter(_messages([reply["output"]["message"]], {})), None)
    system = content([block for block in request.get("system") or () if "cachePoint" not in block])
    given = (request.get("toolConfig") or {}).get("tools") or []
    specs = [tool["toolSpec"] for tool in given if isinstance(tool.get("toolSpec"), dict)]
    offered = [{**spec, "schema": (spec.get("inputSchema") or {}).get("json")} for spec in specs]
    messages = _messages(request.get("messages") or [], {})
    return ModelCall(
        model=model,
        messages=(*([Message("system", system)] if system else []), *messages),
        answer=answer,
        usage=_usage(reply.get("usage")),
        provider="aws",
        tools=tuple(str(spec.get("name") or "") for spec in specs),
        streamed=bool(pieces),
        problem=problem(reply),
        finish=str(reply.get("stopReason") or ""),
        schemas=schemas(offered),
    )


def _messages(items: list[Any], names: dict[str, str]) -> list[Message]:
    found: list[Message] = []
    for item in items:
        said: list[str] = []
        thought: list[str] = []
        calls: list[ToolCall] = []
        for block in item.get("content") or ():
            if isinstance(call := block.get("toolUse"), dict):
                calls.append(ToolCall(str(call.get("name")), call.get("input"), str(call.get("toolUseId"))))
                names[calls[-1].id] = calls[-1].name
            elif isinstance(result := block.get("toolResult"), dict):
                id = str(result.get("toolUseId"))
                found.append(Message("tool", _result(result), name=names.get(id, ""), id=id))
            elif isinstance(reasoning := block.get("reasoningContent"), dict):
                thought.append(str((reasoning.get("reasoningText") or {}).get("text") or ""))
            elif "cachePoint" not in block:
                said.append(_said(block))
        text, thinking = "\n".join(said), "\n".join(filter(None, thought))
        if text or calls or thinking:
            found.append(Message(str(item.get("role") or "user"), text, tuple(calls), thinking=thinking))
    return found


def _result(result: dict[str, Any]) -> str:
    parts = [
        part.get("json", part) if isinstance(part, dict) else part for part in result.get("content") or ()
    ]
    return content(parts)


def _said(block: dict[str, Any]) -> str:
    word = next((word for word in ("image", "document", "video", "audio") if word in block), None)
    return f"[{word}]" if word else content(block)


def _stream(pieces: list[dict[str, Any]]) -> tuple[Message | None, dict[str, Any]]:
    draft = StreamedAnswer()
    summary: dict[str, Any] = {}
    for piece in pieces:
        kind = piece.get(":event")
        if kind == "contentBlockStart":
            call = (piece.get("start") or {}).get("toolUse") or {}
            if call:
                draft.call(
                    piece.get("contentBlockIndex"), str(call.get("name")), id=str(call.get("toolUseId"))
                )
        elif kind == "contentBlockDelta":
            delta = piece.get("delta") or {}
            draft.text.append(str(delta.get("text") or ""))
            draft.thinking.append(str((delta.get("reasoningContent") or {}).get("text") or ""))
            if "toolUse" in delta:
                draft.call(piece.get("contentBlockIndex"), args=str(delta["toolUse"].get("input") or ""))
        elif kind == "messageStop":
            summary["stopReason"] = piece.get("stopReason")
        elif kind == "metadata":
            summary["usage"] = piece.get("usage")
        elif str(kind).endswith("Exception"):
            summary["error"] = piece
    return assembled(draft), summary


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict) or "inputTokens" not in usage:
        return None
    cached, written = number(usage.get("cacheReadInputTokens")), number(usage.get("cacheWriteInputTokens"))
    given = number(usage.get("inputTokens")) + cached + written
    return Usage(given, number(usage.get("outputTokens")), cached, written)


def events(body: bytes) -> list[dict[str, Any]]:
    """Return the JSON objects of Amazon's event stream; `:event` is the type of each.

    The events that `invoke-with-response-stream` wraps in base64 are unwrapped: they are the vendor's own.
    """
    found: list[dict[str, Any]] = []
    place = 0
    while place + 16 <= len(body):
        size, headers = _PRELUDE.unpack_from(body, place)
        if size < 16 or place + size > len(body):
            break
        event = parsed(body[place + 12 + headers : place + size - 4])
        if isinstance(event, dict):
            if isinstance(event.get("bytes"), str):
                event = parsed(base64.b64decode(event["bytes"]))
            else:
                event[":event"] = _kind(body[place + 12 : place + 12 + headers])
            found.append(event)
        place += size
    return found


def _kind(headers: bytes) -> str:
    """Return the event's type from its headers, `length, name, 7, length, text` each."""
    known: dict[str, str] = {}
    place = 0
    while place < len(headers):
        name = headers[place + 1 : place + 1 + headers[place]].decode()
        place += 1 + headers[place]
        if headers[place] != 7:
            break
        size = int.from_bytes(headers[place + 1 : place + 3])
        known[name] = headers[place + 3 : place + 3 + size].decode()
        place += 3 + size
    return known.get(":event-type") or known.get(":exception-type") or ""
