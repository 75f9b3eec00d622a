"""Langfuse's export of a trace: its observations as spans."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from reenact.analysis.interchange.importers.chat import moment
from reenact.analysis.interchange.importers.otel import runs
from reenact.analysis.interchange.importers.otel.span import Span, nanoseconds, said
from reenact.analysis.interchange.importers.run import ImportedRun


def is_langfuse(document: Any) -> bool:
    """Return True for a trace with its observations, from the interface's export or the API."""
    if not isinstance(document, dict):
        return False
    listed = document.get("observations")
    return isinstance(listed, list) and bool(listed) and all(_is_observation(item) for item in listed)


def _is_observation(item: Any) -> bool:
    return isinstance(item, dict) and "traceId" in item and "type" in item and "startTime" in item


def langfuse(document: Any, path: Path) -> ImportedRun:
    """Return the trace as one run."""
    trace = document.get("trace") or {key: value for key, value in document.items() if key != "observations"}
    spans = sorted(map(_span, document["observations"]), key=lambda span: span.began)
    about = {
        key: trace[key]
        for key in ("id", "release", "version", "userId", "sessionId", "environment", "scores")
        if trace.get(key)
    }
    made = runs.run(
        spans,
        source={"format": "langfuse", "file": str(path), **about},
        name=str(trace.get("name") or path.name.partition(".")[0]),
        bare=not runs.tells(spans),
    )
    tags = [str(tag) for tag in said(trace.get("tags")) or () if isinstance(tag, str)]
    tags += [f"conversation:{trace['sessionId']}"] if trace.get("sessionId") else []
    given = said(trace.get("output"))
    return replace(
        made,
        tags=tuple(dict.fromkeys((*made.tags, *tags))),
        output=made.output if made.output is not None else said(given) if isinstance(given, str) else given,
    )


def _span(item: dict[str, Any]) -> Span:
    about = said(item.get("metadata"))
    about = about if isinstance(about, dict) else {}
    own = said(about.get("attributes"))
    attributes: dict[str, Any] = dict(own) if isinstance(own, dict) else {}
    resource = said(about.get("resourceAttributes"))
    scope = said(about.get("scope"))
    attributes["langfuse.type"] = item["type"]
    for name, value in (
        ("langfuse.input", item.get("input")),
        ("langfuse.output", item.get("output")),
        ("langfuse.parameters", item.get("modelParameters")),
        ("gen_ai.response.model", item.get("model")),
        *_counted(said(item.get("usageDetails")) or said(item.get("usage"))),
    ):
        if value is not None:
            attributes.setdefault(name, value)
    ended = item.get("endTime") or item["startTime"]
    return Span(
        trace=str(item["traceId"]),
        id=str(item["id"]),
        name=str(item.get("name") or ""),
        parent=str(item.get("parentObservationId") or ""),
        began=nanoseconds(moment(item["startTime"])),
        ended=nanoseconds(moment(ended)),
        attributes=attributes,
        error=str(item.get("statusMessage") or "failed") if item.get("level") == "ERROR" else None,
        resource=resource if isinstance(resource, dict) else {},
        library=str(scope.get("name") or "") if isinstance(scope, dict) else "",
    )


def _counted(usage: Any) -> list[tuple[str, Any]]:
    if not isinstance(usage, dict) or not (usage.get("input") or usage.get("output")):
        return []
    cached = usage.get("input_cache_read") or usage.get("prompt_details.cache_read") or 0
    # Langfuse counts cached tokens apart from the input if their names say so.
    given = (usage.get("input") or 0) + (usage.get("input_cache_read") or 0)
    made = (usage.get("output") or 0) + (usage.get("output_reasoning") or 0)
    return [
        ("gen_ai.usage.input_tokens", given),
        ("gen_ai.usage.output_tokens", made),
        ("gen_ai.usage.cache_read.input_tokens", cached),
    ]
