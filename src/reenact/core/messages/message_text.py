"""The common parts of the providers' formats: contents, arguments, server-sent events."""

from __future__ import annotations

from typing import Any

from reenact.core.messages.call import Message, StreamedAnswer, ToolCall, Usage
from reenact.core.model.plain import compact, parsed


def content(value: Any) -> str:
    """Return a message's content as text; parts that are no text stand in brackets."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(text for text in map(part, value) if text)
    return part(value)


def part(value: Any) -> str:
    """Return one part of a content as text."""
    if not isinstance(value, dict):
        return compact(value) if value is not None else ""
    for key in ("text", "refusal", "content", "output"):
        if isinstance(value.get(key), str):
            return str(value[key])
    kind = str(value.get("type") or value.get("kind") or value.get("part_kind") or "")
    if isinstance(value.get("content"), list):
        return content(value["content"])
    for word in ("image", "audio", "video", "document", "file", "binary"):
        if word in kind:
            return f"[{word}]"
    return compact(value)


def arguments(value: Any) -> Any:
    """Return a tool call's arguments, parsed if they are JSON text."""
    return parsed(value) if isinstance(value, str) and value else value


def number(value: Any) -> int:
    """Return a count; 0 if there is none."""
    return int(value) if isinstance(value, (int, float)) else 0


def counted(usage: Any) -> Usage | None:
    """Return the tokens of a call, from any provider's field names, or None without a count."""
    if not isinstance(usage, dict):
        return None
    given = usage.get("input_tokens", usage.get("prompt_tokens"))
    made = usage.get("output_tokens", usage.get("completion_tokens"))
    if not given and not made:
        return None
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
    cached = number(usage.get("cache_read_tokens")) or number(details.get("cached_tokens"))
    cached = cached or number(usage.get("prompt_cache_hit_tokens"))  # DeepSeek
    return Usage(number(given), number(made), cached, number(usage.get("cache_write_tokens")))


def assembled(draft: StreamedAnswer) -> Message:
    """Return the message that a stream's pieces make."""
    calls = tuple(
        ToolCall(call["name"], arguments(call["args"]), call["id"]) for call in draft.calls.values()
    )
    return Message("assistant", "".join(draft.text), calls, thinking="".join(draft.thinking))


def schemas(tools: Any) -> dict[str, Any]:
    """Return the JSON schemas of the offered tools, by the tools' names, for every API."""
    found: dict[str, Any] = {}
    for tool in tools if isinstance(tools, list) else []:
        if not isinstance(tool, dict):
            continue
        for one in tool.get("functionDeclarations") or tool.get("function_declarations") or [tool]:
            about = one.get("function") if isinstance(one.get("function"), dict) else one
            schema = next((about[key] for key in _SCHEMAS if isinstance(about.get(key), dict)), None)
            if about.get("name") and schema is not None:
                found[str(about["name"])] = schema
    return found


_SCHEMAS = ("parameters", "input_schema", "schema", "parameters_json_schema", "parametersJsonSchema")


def events(body: bytes) -> list[dict[str, Any]]:
    """Return the JSON objects of server-sent events, or of one object per line (Ollama)."""
    found = []
    for line in body.splitlines():
        data = line[5:].strip() if line.startswith(b"data:") else line
        if data[:1] == b"{" and isinstance(event := parsed(data), dict):
            found.append(event)
    return found
