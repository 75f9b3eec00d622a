"""Cohere's chat, version 2: OpenAI's messages, with parts and events of its own."""

from __future__ import annotations

from typing import Any

from reenact.core.messages.call import Message, ModelCall, StreamedAnswer, Usage
from reenact.core.messages.growing import Memory
from reenact.core.messages.message_text import assembled, number, schemas
from reenact.core.messages.openai import chat_message, chat_messages, offered, problem


def read(
    request: dict[str, Any], reply: Any, pieces: list[dict[str, Any]], memory: Memory | None = None
) -> ModelCall:
    """Return a call of the chat API, whole or streamed."""
    reply = reply if isinstance(reply, dict) else {}
    answer = None
    if pieces:
        answer, reply = _stream(pieces)
    elif isinstance(reply.get("message"), dict):
        answer = chat_message(reply["message"])
    return ModelCall(
        model=str(request.get("model") or ""),
        messages=chat_messages(request.get("messages"), memory),
        answer=answer,
        usage=_usage(reply.get("usage")),
        provider="cohere",
        tools=offered(request),
        streamed=bool(pieces),
        problem=problem(reply),
        finish=str(reply.get("finish_reason") or ""),
        schemas=schemas(request.get("tools")),
    )


def _stream(pieces: list[dict[str, Any]]) -> tuple[Message | None, dict[str, Any]]:
    draft = StreamedAnswer()
    summary: dict[str, Any] = {}
    for piece in pieces:
        delta = piece.get("delta") or {}
        message = delta.get("message") or {}
        said, call = message.get("content"), message.get("tool_calls")
        if isinstance(said, dict):
            draft.text.append(str(said.get("text") or ""))
            draft.thinking.append(str(said.get("thinking") or ""))
        if isinstance(call, dict):
            function = call.get("function") or {}
            draft.call(
                piece.get("index"),
                str(function.get("name") or ""),
                str(function.get("arguments") or ""),
                str(call.get("id") or ""),
            )
        draft.thinking.append(str(message.get("tool_plan") or ""))
        if piece.get("type") == "message-end":
            summary = delta
    return assembled(draft), summary


def _usage(usage: Any) -> Usage | None:
    counts = (usage.get("tokens") or usage.get("billed_units")) if isinstance(usage, dict) else None
    if not isinstance(counts, dict):
        return None
    cached = number(usage.get("cached_tokens"))
    return Usage(number(counts.get("input_tokens")), number(counts.get("output_tokens")), cached)
