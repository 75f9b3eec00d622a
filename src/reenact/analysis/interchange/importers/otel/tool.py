"""A span of a tool: its arguments, and its result."""

from __future__ import annotations

from typing import Any

from reenact.analysis.interchange.importers.otel.span import Span, said
from reenact.analysis.interchange.importers.otel.span_message import messages
from reenact.analysis.interchange.importers.run import by_name

_ARGS = (
    "gen_ai.tool.call.arguments", "tool_arguments", "ai.toolCall.args", "gcp.vertex.agent.tool_call_args",
    "traceloop.entity.input", "input.value", "langfuse.input", "tool.parameters", "gen_ai.tool.input", "input",
)  # fmt: skip
_RESULTS = (
    "gen_ai.tool.call.result", "tool_response", "ai.toolCall.result", "gcp.vertex.agent.tool_response",
    "traceloop.entity.output", "output.value", "langfuse.output", "gen_ai.tool.output", "output",
)  # fmt: skip


def arguments(span: Span) -> dict[str, Any] | None:
    """Return the arguments by name; None if the span has none."""
    found = _first(span, _ARGS)
    if found is None and (event := span.event("gen_ai.tool.message")) is not None:
        found = said(event.attributes.get("content"))
    if found is None:
        return None
    # OpenLLMetry and LangChain nest the arguments under another name.
    while isinstance(found, dict) and set(found) & {"inputs", "input", "input_str"} and set(found) <= _AROUND:
        found = said(found.get("inputs") or found.get("input") or found.get("input_str") or {})
    if isinstance(found, dict) and set(found) == {"args", "kwargs"} and isinstance(found["kwargs"], dict):
        given = found["args"] if isinstance(found["args"], list) else [found["args"]] if found["args"] else []
        positional = {str(place): value for place, value in enumerate(given)}
        return {**positional, **found["kwargs"]}
    return by_name(found)


_AROUND = {"inputs", "input", "input_str", "tags", "metadata", "kwargs"}


def result(span: Span) -> tuple[bool, Any]:
    """Return whether the span has the tool's result, and the result."""
    found = _first(span, _RESULTS)
    if found is None and (event := span.event("gen_ai.choice")) is not None:
        found = said(event.attributes.get("message"))
    if found is None:
        return False, None
    if isinstance(found, dict):
        if set(found) <= {"output", "kwargs"} and "output" in found:
            found = said(found["output"])
        made = (
            messages(found)
            if isinstance(found, dict) and ("kwargs" in found or found.get("type") == "tool")
            else None
        )
        if made and made[0]["role"] == "tool":
            return True, said(made[0]["content"])
    return True, found


def _first(span: Span, names: tuple[str, ...]) -> Any:
    return said(
        next((span.attributes[name] for name in names if span.attributes.get(name) is not None), None)
    )
