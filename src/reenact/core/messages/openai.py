"""OpenAI's chat completions and responses, which many others speak too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

from reenact.core.messages.call import Message, ModelCall, StreamedAnswer, ToolCall
from reenact.core.messages.growing import Memory
from reenact.core.messages.message_text import arguments, assembled, content, counted, schemas
from reenact.core.model.plain import compact

_Chat: TypeAlias = tuple[tuple[Message, ...], dict[str, str]]


def chat_messages(items: Any, memory: Memory | None = None) -> tuple[Message, ...]:
    """Return the messages of a chat in OpenAI's form. Tool results get their tool's name."""
    if not isinstance(items, list):
        return ()
    return (memory or Memory()).follow("chat", items, lambda: ((), {}), _chat)[0]


def _chat(before: _Chat, items: list[Any]) -> _Chat:
    names = dict(before[1])
    found = []
    for item in items:
        message = chat_message(item)
        if message.id and not message.name and message.id in names:
            message = replace(message, name=names[message.id])
        for call in message.calls:
            names[call.id] = call.name
        found.append(message)
    return (*before[0], *found), names


def chat_message(item: Any) -> Message:
    """Return one message of a chat in OpenAI's form."""
    if not isinstance(item, dict):
        return Message("user", content(item))
    role = str(item.get("role") or "assistant")
    asked = list(item.get("tool_calls") or ())
    if item.get("function_call"):
        asked.append({"function": item["function_call"]})
    calls = tuple(_call(call) for call in asked if isinstance(call, dict))
    id = str(item.get("tool_call_id") or "")
    name = str(item.get("name") or "")
    thinking = item.get("reasoning_content") or item.get("reasoning") or ""
    role = {"developer": "system", "function": "tool"}.get(role, role)
    given, thought = item.get("content"), thinking if isinstance(thinking, str) else ""
    if isinstance(given, list):
        # Cohere and Mistral think within the content.
        thoughts = [part["thinking"] for part in given if isinstance(part, dict) and part.get("thinking")]
        if thoughts:
            thought = content(thoughts)
            given = [part for part in given if not (isinstance(part, dict) and part.get("thinking"))]
    text, failed = content(given) or content(item.get("refusal")), item.get("is_error") is True
    return Message(role, text, calls, name, id, thought, failed)


def _call(call: dict[str, Any]) -> ToolCall:
    function = call.get("function") or call.get("custom") or call
    given = function.get("arguments", function.get("input"))
    return ToolCall(str(function.get("name") or ""), arguments(given), str(call.get("id") or ""))


def read_chat(
    request: dict[str, Any], reply: Any, pieces: list[dict[str, Any]], memory: Memory | None = None
) -> ModelCall:
    """Return a chat completion, whole (`reply`) or streamed (`pieces`)."""
    reply = reply if isinstance(reply, dict) else {}
    answer = None
    if pieces:
        answer, reply = _chat_stream(pieces)
    elif choices := reply.get("choices"):
        answer = chat_message(choices[0].get("message") or {"content": choices[0].get("text")})
    elif isinstance(reply.get("message"), dict) or isinstance(reply.get("response"), str):
        # Ollama, whose own APIs differ in little else.
        said = reply.get("message") or {"content": reply["response"], "reasoning": reply.get("thinking")}
        answer = chat_message(said)
        reply = {
            **reply,
            "usage": {
                "prompt_tokens": reply.get("prompt_eval_count"),
                "completion_tokens": reply.get("eval_count"),
            },
        }
    return ModelCall(
        model=str(reply.get("model") or request.get("model") or ""),
        messages=chat_messages(request.get("messages"), memory) or _prompted(request),
        answer=answer,
        usage=counted(reply.get("usage")),
        tools=offered(request),
        streamed=bool(pieces),
        problem=problem(reply),
        finish=_finish(reply),
        schemas=schemas(request.get("tools")),
        billed=_billed(reply.get("usage")),
    )


def _billed(usage: Any) -> float | None:
    found = usage.get("cost") if isinstance(usage, dict) else None
    return float(found) if isinstance(found, (int, float)) else None


def _finish(reply: dict[str, Any]) -> str:
    choice = next(iter(reply.get("choices") or ()), None)
    found = choice.get("finish_reason") if isinstance(choice, dict) else None
    return str(found or reply.get("finish_reason") or reply.get("done_reason") or "")


def _prompted(request: dict[str, Any]) -> tuple[Message, ...]:
    system = (Message("system", content(request["system"])),) if request.get("system") else ()
    return (*system, Message("user", content(request["prompt"]))) if request.get("prompt") else ()


def offered(request: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of the tools that a request offers, in OpenAI's form."""
    tools = [tool for tool in request.get("tools") or () if isinstance(tool, dict)]
    return tuple(str((tool.get("function") or tool).get("name") or tool.get("type") or "") for tool in tools)


def _chat_stream(pieces: list[dict[str, Any]]) -> tuple[Message | None, dict[str, Any]]:
    draft = StreamedAnswer()
    summary: dict[str, Any] = {}
    for piece in pieces:
        summary.update(
            {key: piece[key] for key in ("model", "usage", "error", "done_reason") if piece.get(key)}
        )
        if "eval_count" in piece:
            summary["usage"] = {
                "prompt_tokens": piece.get("prompt_eval_count"),
                "completion_tokens": piece["eval_count"],
            }
        if isinstance(piece.get("x_groq"), dict) and piece["x_groq"].get("usage"):
            summary["usage"] = piece["x_groq"]["usage"]
        choices = piece.get("choices") or _ollama(piece)
        for choice in choices[:1]:
            if choice.get("finish_reason"):
                summary["finish_reason"] = choice["finish_reason"]
            _delta(draft, choice.get("delta") or {}, choice.get("text"))
    return assembled(draft), summary


def _ollama(piece: dict[str, Any]) -> list[dict[str, Any]]:
    if isinstance(piece.get("message"), dict):
        return [{"delta": piece["message"]}]
    if isinstance(piece.get("response"), str):
        return [{"delta": {"content": piece["response"], "reasoning": piece.get("thinking")}}]
    return []


def _delta(draft: StreamedAnswer, delta: dict[str, Any], text: Any) -> None:
    draft.text.append(content(delta.get("content")) or content(text))
    draft.thinking.append(content(delta.get("reasoning_content") or delta.get("reasoning")))
    for place, call in enumerate(delta.get("tool_calls") or ()):
        function = call.get("function") or {}
        given = function.get("arguments") or ""
        # Ollama sends whole calls without an index, their arguments as an object.
        key = call.get("index", place if isinstance(given, str) else len(draft.calls))
        draft.call(
            key,
            function.get("name") or "",
            given if isinstance(given, str) else compact(given),
            call.get("id") or "",
        )


def read_responses(
    request: dict[str, Any], reply: Any, pieces: list[dict[str, Any]], memory: Memory | None = None
) -> ModelCall:
    """Return a call of the responses API, whole or streamed."""
    streamed = _responses_stream(pieces) if pieces else None
    reply = streamed if streamed is not None else reply if isinstance(reply, dict) else {}
    given = request.get("input")
    items = given if isinstance(given, list) else [{"role": "user", "content": given}] if given else []
    before = [Message("system", content(request["instructions"]))] if request.get("instructions") else []
    messages = _items(items, memory)
    return ModelCall(
        model=str(reply.get("model") or request.get("model") or ""),
        messages=(*before, *messages),
        answer=_joined(_items(reply["output"])) if reply.get("output") else None,
        usage=counted(reply.get("usage")),
        tools=offered(request),
        streamed=bool(pieces),
        problem=problem(reply),
        finish=str((reply.get("incomplete_details") or {}).get("reason") or reply.get("status") or ""),
        schemas=schemas(request.get("tools")),
    )


def _responses_stream(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    last: dict[str, Any] = {}
    done: dict[Any, dict[str, Any]] = {}
    for piece in pieces:
        kind, place = str(piece.get("type")), piece.get("output_index")
        if isinstance(piece.get("response"), dict):
            last = piece["response"]
        elif kind in ("response.output_item.added", "response.output_item.done"):
            done[place] = dict(piece["item"])
        elif kind.endswith(".delta") and isinstance(piece.get("delta"), str):
            _more_of_item(
                done.setdefault(place, {"type": "message", "role": "assistant"}), kind, piece["delta"]
            )
        elif kind == "error":
            last = {**last, "error": piece}
    if last.get("output"):
        return last
    # The stream was cut off, or the server leaves the output out of its summary.
    return {**last, "output": list(done.values())}


def _more_of_item(item: dict[str, Any], kind: str, delta: str) -> None:
    """Add to an item of an open stream: its text, its arguments, or a summary of its reasoning."""
    if "arguments" in kind or "custom_tool_call_input" in kind:
        key = "arguments" if "arguments" in kind else "input"
        item[key] = str(item.get(key) or "") + delta
    elif "reasoning" in kind:
        item["summary"] = content(item.get("summary")) + delta
    elif kind in ("response.output_text.delta", "response.refusal.delta"):
        item["content"] = content(item.get("content")) + delta


def _items(items: list[Any], memory: Memory | None = None) -> tuple[Message, ...]:
    """Return the items of the responses API as messages: calls and outputs are items there."""
    return (memory or Memory()).follow("responses", items, lambda: ((), {}), _more_items)[0]


def _more_items(before: _Chat, items: list[Any]) -> _Chat:
    names = dict(before[1])
    found = []
    for item in items:
        kind = item.get("type") if isinstance(item, dict) else None
        if kind in ("function_call", "custom_tool_call"):
            call = ToolCall(
                str(item.get("name")),
                arguments(item.get("arguments", item.get("input"))),
                str(item.get("call_id")),
            )
            names[call.id] = call.name
            found.append(Message("assistant", calls=(call,)))
        elif kind in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
            id = str(item.get("call_id"))
            found.append(Message("tool", content(item.get("output")), name=names.get(id, ""), id=id))
        elif kind == "reasoning":
            thought = content(item.get("summary")) or content(item.get("content"))
            if thought:
                found.append(Message("assistant", thinking=thought))
        elif kind in (None, "message"):
            found.append(chat_message(item))
        else:
            found.append(Message("assistant", calls=(_hosted(item, str(kind)),)))
    return (*before[0], *found), names


def _hosted(item: dict[str, Any], kind: str) -> ToolCall:
    left = {
        key: value for key, value in item.items() if key not in ("type", "id", "status") and value is not None
    }
    return ToolCall(kind.removesuffix("_call"), left, str(item.get("call_id") or item.get("id") or ""))


def _joined(messages: tuple[Message, ...]) -> Message:
    """Return an answer's items as one message."""
    return Message(
        "assistant",
        "\n".join(message.text for message in messages if message.text),
        tuple(call for message in messages for call in message.calls),
        thinking="\n".join(message.thinking for message in messages if message.thinking),
    )


def problem(reply: dict[str, Any]) -> str:
    """Return the API's error text."""
    error = reply.get("error") or reply.get("detail")
    if isinstance(error, dict):
        return str(error.get("message") or error)
    return str(error) if error else ""
