"""Traces and spans of OpenAI's Agents SDK, as its processors export them.

A `response` span exports the answer's id and its tokens, but no messages: OpenAI keeps those. Such a trace has tools,
agents and handoffs; `generation` spans have the messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from reenact.analysis.interchange.importers.chat import moment
from reenact.analysis.interchange.importers.otel import runs
from reenact.analysis.interchange.importers.otel.span import Span, nanoseconds
from reenact.analysis.interchange.importers.run import ImportedRun

_KINDS = {
    "agent": "AGENT", "generation": "LLM", "response": "LLM", "function": "TOOL", "guardrail": "GUARDRAIL",
    "mcp_tools": "CHAIN", "task": "CHAIN", "turn": "CHAIN",
}  # fmt: skip


def is_openai_agents(document: Any) -> bool:
    """Return True for exported spans, in a list, line by line, or under `data` as they are sent."""
    return any(item.get("object") == "trace.span" and "span_data" in item for item in _items(document))


def _items(document: Any) -> Iterator[dict[str, Any]]:
    """Yield traces and spans from any wrapping: a list, a request's `data`, traces with `spans`."""
    if isinstance(document, list):
        for item in document:
            yield from _items(item)
    elif isinstance(document, dict):
        if "object" in document:
            yield document
        for name in ("data", "items", "traces", "spans"):
            if isinstance(document.get(name), list):
                yield from _items(document[name])


def openai_agents(document: Any, path: Path) -> list[ImportedRun]:
    """Return a run for each trace."""
    items = list(_items(document))
    about = {str(item.get("id")): item for item in items if item.get("object") == "trace"}
    spans = runs.traces(_span(item) for item in items if item.get("object") == "trace.span")
    found = []
    for trace, each in spans.items():
        known = about.get(trace, {})
        source = {
            "format": "openai-agents",
            "file": str(path),
            "group": known.get("group_id"),
            "metadata": known.get("metadata"),
        }
        name = str(known.get("workflow_name") or path.stem)
        run = runs.run(each, source=source, name=name, bare=not runs.tells(each))
        tags = (f"conversation:{known['group_id']}",) if known.get("group_id") else ()
        found.append(replace(run, tags=(*run.tags, *tags)))
    return found


def _span(item: dict[str, Any]) -> Span:
    data = item.get("span_data") or {}
    kind = str(data.get("type") or "")
    name = str(data.get("name") or kind)
    attributes: dict[str, Any] = {
        "openinference.span.kind": _KINDS.get(kind),
        "agent.name": name if kind == "agent" else None,
        "tool.name": name if kind == "function" else None,
        # Some exporters add a response's messages, which the SDK's own leaves out.
        "input.value": data.get("input", item.get("span_data_input")),
        "output.value": data.get("output", data.get("response")),
        "gen_ai.request.model": data.get("model"),
        "llm.invocation_parameters": data.get("model_config"),
        "gen_ai.response.id": data.get("response_id"),
    }
    if kind == "handoff":
        attributes |= {
            "openinference.span.kind": "TOOL",
            "tool.name": f"handoff to {data.get('to_agent')}",
            "input.value": {"from": data.get("from_agent"), "to": data.get("to_agent")},
            "output.value": data.get("to_agent"),
        }
    elif kind == "guardrail":
        attributes["output.value"] = {"triggered": data.get("triggered")}
    elif kind == "custom":
        attributes["custom"] = data.get("data")
    usage = data.get("usage") or {}
    attributes |= {
        "gen_ai.usage.input_tokens": usage.get("input_tokens", usage.get("prompt_tokens")),
        "gen_ai.usage.output_tokens": usage.get("output_tokens", usage.get("completion_tokens")),
    }
    return Span(
        trace=str(item.get("trace_id") or ""),
        id=str(item.get("id") or ""),
        name=name,
        parent=str(item.get("parent_id") or ""),
        began=nanoseconds(moment(item.get("started_at"))),
        ended=nanoseconds(moment(item.get("ended_at"))),
        attributes={key: value for key, value in attributes.items() if value is not None},
        error=_error(item.get("error")),
        library="openai-agents",
    )


def _error(error: Any) -> str | None:
    if not isinstance(error, dict):
        return str(error) if error else None
    data = error.get("data")
    detail = data.get("error") if isinstance(data, dict) else None
    message = str(error.get("message") or "failed")
    return f"{message}: {detail}" if detail else message
