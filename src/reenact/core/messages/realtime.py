"""Read OpenAI's realtime API: an answer is one message of the server.

Its conversation went over the same connection.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reenact.core.messages import openai
from reenact.core.messages.call import EffectView, ModelCall, Usage
from reenact.core.messages.message_text import number
from reenact.core.model.plain import parsed

ANSWER = '"response.done"'

WHOLE = (
    ANSWER,
    '"session.created"',
    '"session.updated"',
    '"session.update"',
    '"conversation.item.create"',
    '"conversation.item.input_audio_transcription.completed"',
)
"""The texts that mark whole messages of a conversation. Most others are partial."""


def read(asked: EffectView) -> ModelCall | None:
    """Return a received message's answer, with the conversation before it."""
    if asked.kind != "websocket" or not asked.name.startswith("receive "):
        return None
    response = _event(asked.value, "response.done").get("response")
    if not isinstance(response, dict):
        return None
    session: dict[str, Any] = {}
    items: list[Any] = []
    for text in asked.before:
        _follow(session, items, text)
    details = response.get("status_details") or {}
    call = openai.read_responses(
        {key: session.get(key) for key in ("model", "instructions", "tools")} | {"input": items},
        {**response, "output": _items(response), "error": details.get("error")},
        [],
    )
    provider = "openai" if asked.name.split()[-1].startswith("api.openai.com/") else ""
    return replace(call, usage=_counted(response.get("usage")), provider=provider, streamed=True)


def _event(text: Any, *kinds: str) -> dict[str, Any]:
    event = parsed(text) if isinstance(text, str) and any(kind in text for kind in kinds or WHOLE) else None
    return event if isinstance(event, dict) and (not kinds or event.get("type") in kinds) else {}


def _follow(session: dict[str, Any], items: list[Any], text: str) -> None:
    """Add one more message, of either side, to the conversation."""
    event = _event(text)
    kind = event.get("type")
    if kind in ("session.created", "session.update", "session.updated"):
        session.update({key: item for key, item in (event.get("session") or {}).items() if item})
    elif kind == "conversation.item.create" and isinstance(event.get("item"), dict):
        items.append(_said(event["item"]))
    elif kind == "conversation.item.input_audio_transcription.completed":
        items.append({"role": "user", "content": event.get("transcript")})
    elif kind == "response.done":
        items += _items(event.get("response") or {})


def _items(response: dict[str, Any]) -> list[Any]:
    return [_said(item) for item in response.get("output") or () if isinstance(item, dict)]


def _said(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item with its speech replaced by the transcript."""
    parts = item.get("content")
    if not isinstance(parts, list):
        return item
    words = [
        {"type": "text", "text": part["transcript"]}
        if isinstance(part, dict) and part.get("transcript")
        else part
        for part in parts
    ]
    return {**item, "content": words}


def _counted(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    heard, said = (usage.get(f"{way}_token_details") or {} for way in ("input", "output"))
    return Usage(
        number(usage.get("input_tokens")),
        number(usage.get("output_tokens")),
        number(heard.get("cached_tokens")),
        heard=number(heard.get("audio_tokens")),
        spoken=number(said.get("audio_tokens")),
        heard_cached=number((heard.get("cached_tokens_details") or {}).get("audio_tokens")),
    )
