"""Put a new text into a recorded model answer of any supported library.

The answer may be whole or streamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from reenact.core.messages import asks_model, openai_agents
from reenact.core.messages.message_text import events
from reenact.core.model.event import Tree
from reenact.core.model.plain import binary, parsed
from reenact.core.query.recorded_run import Step
from reenact.core.replay.fit import put, with_body
from reenact.core.replay.watch import Edit
from reenact.errors import UsageError

_KNOWN = "Pydantic AI, the OpenAI Agents SDK, LangChain, OpenAI (chat and responses) and Anthropic"


def said(step: Step, old: Edit, text: str, where: str) -> Edit:
    """Return the answer with only that text. Raises UsageError if that is not possible."""
    if not asks_model(step.call.kind, step.call.name):
        raise UsageError(f"{where} is no model call: set output = …, or error = …")
    if old.error is not None:
        raise UsageError(f"{where} raised an error: there is no answer whose shape a text could take")
    if isinstance(old.value, str):
        return Edit(text)
    if step.call.kind == "model":
        if openai_agents.speaks(step.call.called["args"]):
            return _openai_agents(old, text, where)
        return _langchain(old, text) or _own(old, text) or _pydantic_ai(old, text, where)
    if old.pieces is None:
        raise _impossible(where)
    whole = _joined(old)
    reply = parsed(whole)
    if isinstance(reply, dict):
        new = _whole(reply, text)
        if new is None:
            raise _impossible(where)
        return with_body(old, orjson.dumps(new))
    streamed = _streamed(events(whole), text)
    if streamed is None:
        raise _impossible(where)
    return with_body(old, b"".join(streamed))


def body(step: Step, old: Edit, path: str, value: Any, where: str) -> Edit:
    """Return an HTTP answer with another body, or another value at a path in its JSON."""
    if step.call.kind != "http" or old.pieces is None:
        raise UsageError(f"{where} is no HTTP exchange with a body: set output = …, or error = …")
    if not path:
        return with_body(old, value.encode() if isinstance(value, str) else orjson.dumps(value))
    reply = parsed(_joined(old))
    if not isinstance(reply, (dict, list)):
        raise UsageError(f"{where}: the body is no JSON; set body as a whole, or text")
    return with_body(old, orjson.dumps(put(reply, path, value, where)))


def _impossible(where: str) -> UsageError:
    return UsageError(f"{where}: text can be set in answers of {_KNOWN}; here set output = …, or body = …")


def _joined(old: Edit) -> bytes:
    return b"".join(binary(tree) or b"" for tree in old.pieces or ())


# -- Pydantic AI ---------------------------------------------------------------------------------------------


def _pydantic_ai(old: Edit, text: str, where: str) -> Edit:
    part = {"type": "TextPart", "content": text}
    if old.pieces is None:
        if not (isinstance(old.value, dict) and old.value.get("type") == "ModelResponse"):
            raise _impossible(where)
        return Edit(_response(old.value, part))
    news: dict[str, Tree] = {}
    response = None
    for piece in old.pieces:
        if isinstance(piece, dict):
            news |= piece.get("news") or {}
            response = piece.get("response", response)
    if not (isinstance(old.value, dict) and "model_name" in old.value):
        raise _impossible(where)
    chunks: list[dict[str, Tree]] = [
        {"event": {"type": "PartStartEvent", "index": 0, "part": part}},
        {"event": {"type": "FinalResultEvent", "tool_name": None, "tool_call_id": None}},
        {"event": {"type": "PartEndEvent", "index": 0, "part": part}, "news": _finished(news)},
    ]
    if response is None:
        response = {"type": "ModelResponse", **old.value, **news}
        response.pop("state", None)
    return Edit(old.value, (*chunks, {"response": _response(response, part)}))


def _response(old: dict[str, Tree], part: dict[str, Tree]) -> dict[str, Tree]:
    return _finished({**old, "parts": [part]})


def _finished(tree: dict[str, Tree]) -> dict[str, Tree]:
    return {**tree, "finish_reason": "stop"} if "finish_reason" in tree else tree


# -- LangChain -----------------------------------------------------------------------------------------------


def _langchain(old: Edit, text: str) -> Edit | None:
    """Return the whole answer with one message, or one chunk; None if it is not LangChain's."""
    if old.pieces is None:
        given = old.value.get("generations") if isinstance(old.value, dict) else None
        if not given:
            return None
        return Edit({**old.value, "generations": [_generation(given[0], text)]})
    chunks = [piece for piece in old.pieces if isinstance(piece, dict) and "message" in piece]
    if not chunks or len(chunks) < len(old.pieces):
        return None
    # The provider's last chunk, with the tokens, stays.
    rest = [
        _generation(chunk, "")
        for chunk in chunks[1:]
        if chunk["message"].get("usage_metadata") or chunk.get("generation_info")
    ]
    return Edit(old.value, (_generation(chunks[0], text), *rest))


_CALLS = ("tool_calls", "tool_call_chunks", "invalid_tool_calls")


def _generation(old: dict[str, Tree], text: str) -> dict[str, Tree]:
    """Return a generation or a chunk with that text, and no tool calls."""
    message = {key: item for key, item in old["message"].items() if key not in (*_CALLS, "set")}
    more = message.get("additional_kwargs")
    if isinstance(more, dict):
        message["additional_kwargs"] = {key: item for key, item in more.items() if key not in _CALLS}
    about = message.get("response_metadata")
    if isinstance(about, dict) and "finish_reason" in about:
        message["response_metadata"] = {**about, "finish_reason": "stop"}
    new = {key: item for key, item in old.items() if key not in ("text", "set")}
    info = new.get("generation_info")
    if isinstance(info, dict) and "finish_reason" in info:
        new["generation_info"] = {**info, "finish_reason": "stop"}
    return {**new, "message": {**message, "content": text}}


# -- a program's own function --------------------------------------------------------------------------------


def _own(old: Edit, text: str) -> Edit | None:
    """Return the answer of a function that gives a provider's JSON as a dict; or None."""
    new = _whole(old.value, text) if old.pieces is None and isinstance(old.value, dict) else None
    return None if new is None else Edit(new)


# -- the OpenAI Agents SDK -----------------------------------------------------------------------------------


def _openai_agents(old: Edit, text: str, where: str) -> Edit:
    """Edit an answer in the form of the responses API, which the SDK uses for every API."""
    if old.pieces is not None:
        pieces = [openai_agents.event(piece) for piece in old.pieces]
        if not pieces:
            raise _impossible(where)
        return Edit(old.value, tuple(_responses(pieces, text)))
    if not (isinstance(old.value, dict) and isinstance(old.value.get("output"), list)):
        raise _impossible(where)
    return Edit({**old.value, "output": [_item(old.value["output"], text)]})


# -- JSON over HTTP ------------------------------------------------------------------------------------------


def _whole(reply: dict[str, Any], text: str) -> dict[str, Any] | None:
    if isinstance(reply.get("choices"), list) and reply["choices"]:
        choice = reply["choices"][0]
        message = {
            key: item
            for key, item in (choice.get("message") or {}).items()
            if key not in ("tool_calls", "function_call")
        }
        new = {**choice, "message": {**message, "content": text}, "finish_reason": "stop"}
        return {**reply, "choices": [new]}
    if isinstance(reply.get("output"), list):
        return {**reply, "output": [_item(reply["output"], text)], "status": "completed"}
    if reply.get("type") == "message" and isinstance(reply.get("content"), list):
        return {**reply, "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
    return None


def _item(output: list[Any], text: str) -> dict[str, Any]:
    known = next((item for item in output if isinstance(item, dict) and item.get("type") == "message"), {})
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {
        "id": known.get("id") or "msg_edited",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


# -- server-sent events --------------------------------------------------------------------------------------


def _streamed(pieces: list[dict[str, Any]], text: str) -> list[bytes] | None:
    first = pieces[0] if pieces else {}
    if isinstance(first.get("choices"), list):
        return [*map(_line, _chat(pieces, text)), b"data: [DONE]\n\n"]
    if str(first.get("type")).startswith("response."):
        return [_named(event) for event in _responses(pieces, text)]
    if first.get("type") == "message_start":
        return [_named(event) for event in _messages(pieces, text)]
    return None


def _line(event: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(event) + b"\n\n"


def _named(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\n".encode() + _line(event)


def _chat(pieces: list[dict[str, Any]], text: str) -> Iterator[dict[str, Any]]:
    frame = {key: item for key, item in pieces[0].items() if key not in ("choices", "usage")}
    delta = {"role": "assistant", "content": text}
    yield {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    yield from (piece for piece in pieces if piece.get("usage") and not piece.get("choices"))


def _responses(pieces: list[dict[str, Any]], text: str) -> Iterator[dict[str, Any]]:
    done = next((piece for piece in reversed(pieces) if isinstance(piece.get("response"), dict)), pieces[0])
    response = done.get("response") or {}
    item = _item(response.get("output") or [], text)
    part, place = item["content"][0], {"output_index": 0}
    within = {"item_id": item["id"], "content_index": 0, **place}
    begun = [piece for piece in pieces if piece["type"] in ("response.created", "response.in_progress")]
    made: list[dict[str, Any]] = [
        *begun,
        {"type": "response.output_item.added", **place, "item": {**item, "status": "in_progress", "content": []}},
        {"type": "response.content_part.added", **within, "part": {**part, "text": ""}},
        {"type": "response.output_text.delta", **within, "delta": text, "logprobs": []},
        {"type": "response.output_text.done", **within, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **within, "part": part},
        {"type": "response.output_item.done", **place, "item": item},
        {"type": "response.completed", "response": {**response, "status": "completed", "output": [item]}},
    ]  # fmt: skip
    for number, event in enumerate(made):
        yield {**event, "sequence_number": number}


def _messages(pieces: list[dict[str, Any]], text: str) -> Iterator[dict[str, Any]]:
    yield pieces[0]
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    yield {"type": "content_block_stop", "index": 0}
    end = next((piece for piece in pieces if piece.get("type") == "message_delta"), {})
    yield {**end, "type": "message_delta", "delta": {**(end.get("delta") or {}), "stop_reason": "end_turn"}}
    yield {"type": "message_stop"}
