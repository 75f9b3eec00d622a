"""browser-use's model requests, as the adapter records them."""

from __future__ import annotations

from typing import Any

from reenact.core.messages.call import EffectView, Message, ModelCall, ToolCall, Usage
from reenact.core.messages.message_text import number
from reenact.core.messages.openai import chat_messages
from reenact.core.model.plain import compact

_SAID = (("evaluation_previous_goal", "Eval"), ("memory", "Memory"), ("next_goal", "Next goal"))
_ACTIONS = "ActionModel"


def read(asked: EffectView) -> ModelCall | None:
    """Read a request of an agent or its helpers (extraction, judge); None for other calls."""
    args = asked.args
    if asked.kind != "model" or not {"output", "settings", "messages"} <= args.keys():
        return None
    reply = asked.value if isinstance(asked.value, dict) else {}
    if asked.value is not None and "completion" not in reply:
        return None
    return ModelCall(
        model=asked.name,
        messages=chat_messages(args["messages"], asked.memory),
        answer=_answer(reply) if reply else None,
        usage=_usage(reply.get("usage")),
        provider=str(args.get("provider") or ""),
        tools=_tools(args["output"]),
        finish=str(reply.get("stop_reason") or ""),
    )


def _answer(reply: dict[str, Any]) -> Message:
    said = reply["completion"]
    thinking = str(reply.get("thinking") or "")
    if not isinstance(said, dict) or not isinstance(said.get("action"), list):
        return Message("assistant", compact(said), thinking=thinking)
    text = "\n".join(f"{label}: {said[name]}" for name, label in _SAID if said.get(name))
    calls = tuple(
        ToolCall(name, args)
        for action in said["action"]
        if isinstance(action, dict)
        for name, args in action.items()
    )
    return Message("assistant", text, calls, thinking=str(said.get("thinking") or thinking))


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    cached, written = (
        number(usage.get("prompt_cached_tokens")),
        number(usage.get("prompt_cache_creation_tokens")),
    )
    return Usage(number(usage.get("prompt_tokens")), number(usage.get("completion_tokens")), cached, written)


def _tools(output: Any) -> tuple[str, ...]:
    """Return the actions in the answer's schema: one definition each, with one property."""
    schema = output.get("schema") if isinstance(output, dict) else None
    defined = schema.get("$defs") if isinstance(schema, dict) else None
    return tuple(
        action
        for name, shape in (defined or {}).items()
        if name.endswith(_ACTIONS) and isinstance(shape, dict)
        for action in shape.get("properties") or {}
    )
