"""Spans as OTLP: protobuf as it is sent, JSON as it is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from reenact.analysis.interchange.importers.otel.span import Span
from reenact.core.extras import needing
from reenact.core.version import VERSION

_FAILED = 2


def to_protobuf(spans: Iterable[Span]) -> bytes:
    """Return spans as an `ExportTraceServiceRequest`."""
    with needing("otel", "reenact export --otlp"):
        service = import_module("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    request = service.ExportTraceServiceRequest()
    into = None
    for span in spans:
        if into is None:
            resource_spans = request.resource_spans.add()
            _fill(resource_spans.resource.attributes, span.resource)
            into = resource_spans.scope_spans.add()
            into.scope.name, into.scope.version = span.library, VERSION
        made = into.spans.add(
            trace_id=bytes.fromhex(span.trace),
            span_id=bytes.fromhex(span.id),
            parent_span_id=bytes.fromhex(span.parent),
            name=span.name,
            kind=span.kind,
            start_time_unix_nano=span.began,
            end_time_unix_nano=span.ended,
        )
        _fill(made.attributes, span.attributes)
        for event in span.events:
            _fill(made.events.add(name=event.name, time_unix_nano=event.at).attributes, event.attributes)
        if span.error is not None:
            made.status.code, made.status.message = _FAILED, span.error
    return bytes(request.SerializeToString())


def _fill(into: Any, attributes: Mapping[str, Any]) -> None:
    for name, value in attributes.items():
        _value(into.add(key=name).value, value)


def _value(into: Any, value: Any) -> None:
    if isinstance(value, bool):
        into.bool_value = value
    elif isinstance(value, int):
        into.int_value = value
    elif isinstance(value, float):
        into.double_value = value
    elif isinstance(value, (list, tuple)):
        into.array_value.SetInParent()
        for item in value:
            _value(into.array_value.values.add(), item)
    else:
        into.string_value = _text(str(value))


def to_json(spans: Iterable[Span]) -> dict[str, Any]:
    """Return spans as OTLP's JSON: one object with `resourceSpans`, ids in hexadecimal."""
    listed = list(spans)
    if not listed:
        return {"resourceSpans": []}
    first = listed[0]
    scope = {"name": first.library, "version": VERSION}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _json_pairs(first.resource)},
                "scopeSpans": [{"scope": scope, "spans": [_json(span) for span in listed]}],
            }
        ]
    }


def _json(span: Span) -> dict[str, Any]:
    found: dict[str, Any] = {"traceId": span.trace, "spanId": span.id}
    if span.parent:
        found["parentSpanId"] = span.parent
    found |= {
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.began),
        "endTimeUnixNano": str(span.ended),
        "attributes": _json_pairs(span.attributes),
        "events": [
            {"name": event.name, "timeUnixNano": str(event.at), "attributes": _json_pairs(event.attributes)}
            for event in span.events
        ],
        "status": {"code": _FAILED, "message": span.error} if span.error is not None else {},
    }
    return found


def _json_pairs(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _json_value(value)} for name, value in attributes.items()]


def _json_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, (list, tuple)):
        return {"arrayValue": {"values": [_json_value(item) for item in value]}}
    return {"stringValue": _text(str(value))}


def _text(value: str) -> str:
    # Neither protobuf nor JSON can have a lone surrogate.
    return value.encode("utf-8", "replace").decode()
