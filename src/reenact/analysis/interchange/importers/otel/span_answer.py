"""A model's answer and its token counts, in the attributes of any instrumentation."""

from __future__ import annotations

from typing import Any

from reenact.analysis.interchange.importers.otel.span import Span, said
from reenact.analysis.interchange.importers.otel.span_message import messages
from reenact.core.dataclass import dataclass
from reenact.core.messages.message_text import number


@dataclass(slots=True)
class TracedAnswer:
    """One answer: an assistant's message in OpenAI's form, and its finish reason."""

    message: dict[str, Any]
    finish: str = ""


def choices(value: Any) -> list[TracedAnswer] | None:
    """Return the answers in a value of any API; None without any."""
    value = said(value)
    if isinstance(value, str):
        return [TracedAnswer({"role": "assistant", "content": value})] if value else None
    if isinstance(value, dict):
        return _of_object(value)
    if not isinstance(value, list) or not value:
        return None
    if len(value) == 1 and isinstance(value[0], list):
        return choices(value[0])
    found = [one for item in value if isinstance(item, dict) for one in _of_object(item) or ()]
    asking = [one for one in found if one.message.get("tool_calls") and not one.message.get("content")]
    if len(found) > 1 and len(asking) == len(found):
        # Several tools that one answer asks for, written as an answer each.
        calls = [call for one in found for call in one.message["tool_calls"]]
        return [TracedAnswer({**found[0].message, "tool_calls": calls}, found[0].finish)]
    return found or None


def _of_object(value: dict[str, Any]) -> list[TracedAnswer] | None:
    for key in ("choices", "candidates"):
        if isinstance(value.get(key), list):
            return [
                one for item in value[key] if isinstance(item, dict) for one in _of_object(item) or ()
            ] or None
    if isinstance(value.get("output"), list):
        return _items(value)
    if isinstance(value.get("generations"), list):
        return choices(value["generations"])
    if isinstance(value.get("messages"), list) and value["messages"]:
        return choices(value["messages"][-1:])
    reason = next(
        (
            value[key]
            for key in ("finish_reason", "stop_reason", "finishReason", "stopReason")
            if value.get(key)
        ),
        "",
    )
    inner = next((value[key] for key in ("message", "content") if isinstance(value.get(key), dict)), None)
    if inner is not None and "role" not in value:
        made = messages({"role": "assistant", **inner})
    else:
        made = messages(
            value
            if "role" in value or "kwargs" in value or "type" in value
            else {**value, "role": "assistant"}
        )
    said_by = [message for message in made or () if message["role"] == "assistant"]
    if not said_by or not (said_by[0].get("content") or len(said_by[0]) > 2 or reason or "role" in value):
        return None
    return [TracedAnswer(said_by[0], finish(reason))]


def _items(value: dict[str, Any]) -> list[TracedAnswer] | None:
    """Read the items of OpenAI's responses API, in which calls and thoughts are items."""
    made = [one for item in value["output"] for one in messages(item) or () if one["role"] == "assistant"]
    if not made:
        return None
    texts = [str(one["content"]) for one in made if one.get("content")]
    thoughts = [one["reasoning_content"] for one in made if one.get("reasoning_content")]
    calls = [call for one in made for call in one.get("tool_calls") or ()]
    whole: dict[str, Any] = {"role": "assistant", "content": "\n".join(texts) or (None if calls else "")}
    if thoughts:
        whole["reasoning_content"] = "\n".join(thoughts)
    if calls:
        whole["tool_calls"] = calls
    details = value.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else ""
    return [TracedAnswer(whole, finish(reason or ("tool_calls" if calls else "stop")))]


def finish(reason: Any) -> str:
    """Return the finish reason in OpenAI's word."""
    return _FINISHES.get(str(reason or ""), str(reason or ""))


_FINISHES = {"tool_call": "tool_calls", "tool-calls": "tool_calls", "unknown": ""}


def usage(span: Span) -> dict[str, Any] | None:
    """Return a span's token counts in OpenAI's form; None without any."""
    given = span.get(
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
        "ai.usage.promptTokens",
    )
    made = span.get(
        "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
        "ai.usage.completionTokens",
    )  # fmt: skip
    if given is None and made is None:
        return None
    counts = {"prompt_tokens": _count(given), "completion_tokens": _count(made)}
    found: dict[str, Any] = {**counts, "total_tokens": sum(counts.values())}
    cached = _count(
        span.get(
            "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
            "gen_ai.usage.details.cache_read_tokens", "gen_ai.usage.details.cached_tokens",
            "llm.token_count.prompt_details.cache_read",
        )
    )  # fmt: skip
    written = _count(
        span.get(
            "gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens",
            "gen_ai.usage.details.cache_write_tokens", "llm.token_count.prompt_details.cache_write",
        )
    )  # fmt: skip
    if cached:
        found["prompt_tokens_details"] = {"cached_tokens": cached}
    if written:
        found["cache_write_tokens"] = written
    return found


def _count(value: Any) -> int:
    found = said(value)
    return number(found)
