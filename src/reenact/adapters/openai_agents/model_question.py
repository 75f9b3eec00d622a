"""The question of a model as trees, equal in equal runs.

They have everything that may reach the model, except values that the SDK generates in every run: the key of a
provider's cache.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from agents import FunctionTool
from pydantic import BaseModel

from reenact.adapters.openai_agents.answer_wire import fields_of, plain

_POSITIONS = (
    "system_instructions", "input", "model_settings", "tools", "output_schema", "handoffs", "tracing",
)  # fmt: skip
"""The positional parameters of `Model.get_response`."""

_NEVER_SENT = {"retry", "timeout", "preserve_raw_usage"}
_MADE_UP = "agents-sdk:run:"
_NOTHING = object()


def of(args: Sequence[Any], options: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
    """Return the arguments of a model effect, from those of `get_response` or `stream_response`."""
    given = {**dict(zip(_POSITIONS, args, strict=False)), **options}
    asked: dict[str, Any] = {
        "stream": stream,
        "instructions": given.get("system_instructions"),
        "settings": _settings(given.get("model_settings")),
        "tools": [_tool(tool) for tool in given.get("tools") or ()],
        "handoffs": [_handoff(handoff) for handoff in given.get("handoffs") or ()],
    }
    if given.get("output_schema") is not None:
        asked["output"] = _output(given["output_schema"])
    for name in ("previous_response_id", "conversation_id", "prompt"):
        if given.get(name) is not None:
            asked[name] = given[name]
    asked["input"] = plain(given.get("input"))
    return asked


def _settings(settings: Any) -> dict[str, Any]:
    if not dataclasses.is_dataclass(settings):
        return {}
    found: dict[str, Any] = {}
    for name in fields_of(type(settings)):
        item = getattr(settings, name)
        if item is not None and name not in _NEVER_SENT:
            found[name] = _value(item)
    extra = found.get("extra_args")
    if isinstance(extra, dict) and str(extra.get("prompt_cache_key")).startswith(_MADE_UP):
        found["extra_args"] = {name: item for name, item in extra.items() if name != "prompt_cache_key"}
        if not found["extra_args"]:
            del found["extra_args"]
    return found


def _tool(tool: Any) -> dict[str, Any]:
    if isinstance(tool, FunctionTool):
        return {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.params_json_schema,
            "strict": tool.strict_json_schema,
        }
    tree: dict[str, Any] = {"type": type(tool).__name__, "name": getattr(tool, "name", type(tool).__name__)}
    for name in fields_of(type(tool)) if dataclasses.is_dataclass(tool) else ():
        item = _value(getattr(tool, name))
        if item is not _NOTHING and item is not None:
            tree.setdefault(name, item)
    return tree


def _value(value: Any) -> Any:
    """Return the sendable part of a value; `_NOTHING` for functions and the program's objects."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, BaseModel):
        return plain(value)
    if isinstance(value, Mapping):
        return _without_nothing({str(name): _value(item) for name, item in value.items()})
    if isinstance(value, (list, tuple)):
        return [item for item in map(_value, value) if item is not _NOTHING]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {name: _value(getattr(value, name)) for name in fields_of(type(value))}
        return _without_nothing(fields)
    return _NOTHING


def _without_nothing(tree: dict[str, Any]) -> dict[str, Any]:
    return {name: item for name, item in tree.items() if item is not _NOTHING}


def _handoff(handoff: Any) -> dict[str, Any]:
    return {
        "name": handoff.tool_name,
        "description": handoff.tool_description,
        "parameters": handoff.input_json_schema,
    }


def _output(schema: Any) -> dict[str, Any]:
    """Return the required form of the answer."""
    if schema.is_plain_text():
        return {"name": schema.name()}
    return {"name": schema.name(), "strict": schema.is_strict_json_schema(), "schema": schema.json_schema()}
