"""Messages as instrumentations write them, in OpenAI's form.

A message is a role and parts, and every library has its own names for the parts: the GenAI conventions (`tool_call`),
Anthropic (`tool_use`), Google (`functionCall`), Bedrock (`toolUse`), Vercel's AI SDK (`tool-call`), LangChain's
constructors, the items of OpenAI's responses. All of them have texts, thoughts, calls and results.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from reenact.analysis.interchange.importers.otel.span import said
from reenact.core.dataclass import dataclass
from reenact.core.messages.message_text import content
from reenact.core.model.plain import compact, parsed

Chat = list[dict[str, Any]]

_ROLES = {
    "human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "model": "assistant", "bot": "assistant",
    "function": "tool", "toolResult": "tool", "generic": "user",
}  # fmt: skip
_KNOWN = {"system", "developer", "user", "assistant", "tool"}
_CALLS = {
    "tool_call",
    "tool_use",
    "tool-call",
    "function_call",
    "toolCall",
    "custom_tool_call",
    "server_tool_call",
}
_RESULTS = {
    "tool_call_response", "tool_result", "tool-result", "toolResult", "function_call_output", "custom_tool_call_output",
}  # fmt: skip
_CONSTRUCTED = {
    "HumanMessage": "user", "AIMessage": "assistant", "AIMessageChunk": "assistant", "SystemMessage": "system",
    "ToolMessage": "tool", "FunctionMessage": "tool", "ChatMessage": "user",
}  # fmt: skip


def chat(value: Any) -> Chat | None:
    """Return a conversation in OpenAI's form, or None for another value."""
    value = said(value)
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list) or not value:
        return None
    if len(value) == 1 and isinstance(value[0], list):
        # LangChain sends a list of conversations, nearly always of one.
        return chat(value[0])
    found: Chat = []
    for item in value:
        made = messages(said(item))
        if made is None:
            return None
        found += made
    return found


def messages(item: Any) -> Chat | None:
    """Return the messages of one item of a conversation, or None if it is not a message."""
    if not isinstance(item, dict):
        return None
    item = _unwrapped(item)
    kind = str(item.get("type") or "")
    if "role" not in item and (kind in _CALLS or kind in _RESULTS or kind == "reasoning"):
        return _made("assistant", [item], {})
    role = str(item.get("role") or (kind if kind in _ROLES or kind in _KNOWN else ""))
    if not role:
        return None
    if role not in _KNOWN and role not in _ROLES and "parts" not in item:
        # LangChain's JavaScript names a tool's result by the tool.
        item, role = {"name": role, **item}, "tool"
    body = next(
        (item[key] for key in ("parts", "content", "contents") if item.get(key) not in (None, [])), None
    )
    return _made(_ROLES.get(role, role), body, item)


def _unwrapped(item: dict[str, Any]) -> dict[str, Any]:
    """Return the message inside of a choice, a constructor, or an attribute's prefix."""
    if isinstance(item.get("message"), dict) and "role" not in item:
        item = {"role": "assistant", **item["message"]}
    if isinstance(item.get("kwargs"), dict) and isinstance(item.get("id"), list) and item["id"]:
        name = str(item["id"][-1])
        item = {**item["kwargs"], "role": _CONSTRUCTED.get(name, "user")}
    extra = item.get("additional_kwargs")
    if isinstance(extra, dict) and extra.get("tool_calls") and not item.get("tool_calls"):
        item = {**item, "tool_calls": extra["tool_calls"]}
    return item


@dataclass(slots=True)
class _Parts:
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)

    def take(self, part: Any) -> None:
        if isinstance(part, str):
            self.text.append(part)
        elif not isinstance(part, dict):
            self.text.append(compact(part))
        elif isinstance(inner := part.get("message_content"), dict):
            self.take(inner)
        else:
            self._part(part, str(part.get("type") or part.get("kind") or ""))

    def _part(self, part: dict[str, Any], kind: str) -> None:
        asked = next(
            (part[key] for key in ("functionCall", "function_call", "toolUse") if part.get(key)), None
        )
        given = next(
            (part[key] for key in ("functionResponse", "function_response", "toolResult") if part.get(key)),
            None,
        )
        if kind in _CALLS or isinstance(asked, dict):
            self.calls.append(call(asked if isinstance(asked, dict) else part))
        elif kind in _RESULTS or isinstance(given, dict):
            self.results.append(_result(given if isinstance(given, dict) else part))
        elif kind in ("reasoning", "thinking", "summary_text") or part.get("thought") is True:
            words = next(
                (part[key] for key in ("content", "thinking", "text", "summary") if part.get(key)), ""
            )
            self.thinking.append(content(words))
        elif isinstance(part.get("text"), str):
            self.text.append(part["text"])
        elif kind in ("text", "refusal", "") and isinstance(
            words := part.get("content", part.get(kind)), str
        ):
            self.text.append(words)
        elif kind == "redacted_thinking":
            return
        else:
            self.others.append(part)


def _made(role: str, body: Any, item: dict[str, Any]) -> Chat:
    parts = _Parts()
    if isinstance(body, str) and (hidden := _hidden_calls(body)):
        role, body = "assistant", None
        parts.calls += hidden
    for part in body if isinstance(body, list) else [] if body is None else [body]:
        parts.take(part)
    listed = item.get("tool_calls")
    for one in listed if isinstance(listed, list) else []:
        if isinstance(one, dict):
            inner = one.get("tool_call")
            parts.calls.append(call(inner if isinstance(inner, dict) else one))
    if isinstance(item.get("function_call"), dict):
        parts.calls.append(call(item["function_call"]))
    thought = item.get("reasoning_content") or item.get("reasoning") or item.get("thinking")
    if isinstance(thought, str) and thought:
        parts.thinking.append(thought)
    if role == "tool" and not parts.results and not parts.calls:
        return [_tool_message(item, body)]
    found: Chat = list(parts.results)
    if parts.text or parts.calls or parts.thinking or parts.others or not found:
        found.append(_message(role, parts, item))
    return found


def _message(role: str, parts: _Parts, item: dict[str, Any]) -> dict[str, Any]:
    text: Any = "\n".join(parts.text)
    if parts.others:
        text = [*({"type": "text", "text": words} for words in parts.text), *map(_other, parts.others)]
    found: dict[str, Any] = {"role": role, "content": text or (None if parts.calls else "")}
    if isinstance(item.get("name"), str) and item["name"]:
        found["name"] = item["name"]
    if parts.thinking:
        found["reasoning_content"] = "\n".join(parts.thinking)
    if parts.calls:
        found["tool_calls"] = parts.calls
    return found


def _other(part: dict[str, Any]) -> dict[str, Any]:
    """Return an image or a file by its content, in any encoding."""
    modality = part.get("modality")
    return (
        {**part, "type": str(modality)} if modality and part.get("type") in ("blob", "uri", "file") else part
    )


def _tool_message(item: dict[str, Any], body: Any) -> dict[str, Any]:
    id = next(
        (item[key] for key in ("tool_call_id", "toolCallId", "id") if isinstance(item.get(key), str)), ""
    )
    found = {"role": "tool", "tool_call_id": id, "content": content(body)}
    name = item.get("name") or item.get("toolName")
    return {**found, "name": str(name)} if name else found


def _result(part: dict[str, Any]) -> dict[str, Any]:
    id = next(
        (
            part[key]
            for key in ("id", "tool_use_id", "toolUseId", "toolCallId", "call_id", "tool_call_id")
            if part.get(key)
        ),
        "",
    )
    given = next(
        (part[key] for key in ("response", "result", "output", "content") if part.get(key) is not None), ""
    )
    if isinstance(given, dict) and set(given) == {"type", "value"}:
        # Vercel's AI SDK adds the type of the output.
        given = given["value"]
    text = given if isinstance(given, str) else content(given) if isinstance(given, list) else compact(given)
    found = {"role": "tool", "tool_call_id": str(id), "content": text}
    name = part.get("name") or part.get("toolName")
    return {**found, "name": str(name)} if name else found


def call(part: dict[str, Any]) -> dict[str, Any]:
    """Return a model's tool call in OpenAI's form."""
    inner = part.get("function")
    function: dict[str, Any] = inner if isinstance(inner, dict) else part
    name = next((function[key] for key in ("name", "toolName", "tool_name") if function.get(key)), "")
    given = next(
        (
            function[key]
            for key in ("arguments", "args", "input", "parameters")
            if function.get(key) is not None
        ),
        None,
    )
    id = next(
        (
            part[key]
            for key in ("call_id", "id", "tool_call_id", "toolCallId", "toolUseId")
            if isinstance(part.get(key), str)
        ),
        "",
    )
    text = given if given is None or isinstance(given, str) else compact(given)
    return {"id": id, "type": "function", "function": {"name": str(name), "arguments": text}}


def _hidden_calls(text: str) -> list[dict[str, Any]]:
    """Return tool calls that an instrumentation (Koog) wrote into the message's text as JSON."""
    if not text.startswith('[{"') or '"function"' not in text:
        return []
    found = parsed(text)
    if isinstance(found, list) and all(
        isinstance(item, dict) and isinstance(item.get("function"), dict) and "name" in item["function"]
        for item in found
    ):
        return [call(item) for item in found]
    return []
