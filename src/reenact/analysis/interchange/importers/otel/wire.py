"""OTLP as bytes or JSON, read into spans. Invalid input raises ValueError with the place."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from importlib import import_module
from math import inf
from typing import Any

from reenact.analysis.interchange.importers.otel.span import Span, SpanEvent, problem
from reenact.core.extras import needing

_FAILED = (2, "2", "STATUS_CODE_ERROR", "ERROR")
_ROOTS = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")
_DEEPEST = 100
"""Most levels of a nested value; the limit of protobuf is half of that."""

_SPAN = 40
"""The values that a span without attributes counts for, by its memory."""

_KINDS = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")


class TooManyValues(ValueError):
    """A request has more spans and values than its reader takes."""


class _Budget:
    """Counts the values that a reader makes objects of.

    Args:
        most: The most values, of which each takes about 100 bytes of memory.
    """

    def __init__(self, most: float) -> None:
        self._left = most

    def spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise TooManyValues("it has too many spans or values")


def from_protobuf(data: bytes, most: float = inf) -> list[Span]:
    """Return the spans of an `ExportTraceServiceRequest` (or `TracesData`, of the same bytes).

    Raises TooManyValues above `most` values.
    """
    request = _parsed("trace.v1.trace_service", "ExportTraceServiceRequest", data)
    found, budget = [], _Budget(most)
    budget.spend(len(request.resource_spans))
    for resource_spans in request.resource_spans:
        resource = _pairs(resource_spans.resource.attributes, budget)
        budget.spend(len(resource_spans.scope_spans))
        for scope_spans in resource_spans.scope_spans:
            budget.spend(_SPAN * len(scope_spans.spans))
            found += [
                _from_message(span, resource, scope_spans.scope.name, budget) for span in scope_spans.spans
            ]
    return found


def logs_from_protobuf(data: bytes, most: float = inf) -> list[Span]:
    """Return the GenAI events of an `ExportLogsServiceRequest`, each with the id of its span.

    Raises TooManyValues above `most` values.
    """
    request = _parsed("logs.v1.logs_service", "ExportLogsServiceRequest", data)
    found, budget = [], _Budget(most)
    budget.spend(len(request.resource_logs))
    for resource_logs in request.resource_logs:
        budget.spend(len(resource_logs.scope_logs))
        for scope_logs in resource_logs.scope_logs:
            budget.spend(_SPAN * len(scope_logs.log_records))
            for record in scope_logs.log_records:
                name = str(getattr(record, "event_name", ""))
                event = SpanEvent(name, _pairs(record.attributes, budget), record.time_unix_nano)
                found += _loose(
                    record.trace_id.hex(), record.span_id.hex(), event, _value(record.body, budget)
                )
    return found


def _loose(trace: str, span: str, event: SpanEvent, body: Any) -> list[Span]:
    name = event.name or str(event.attributes.get("event.name") or "")
    if not name.startswith("gen_ai.") or not trace or not span:
        return []
    given = body if isinstance(body, dict) else {} if body in (None, "") else {"content": body}
    return [Span(trace, span, "", events=(SpanEvent(name, {**event.attributes, **given}, event.at),))]


def _parsed(module: str, name: str, data: bytes) -> Any:
    with needing("otel", "a trace as OTLP protobuf"):
        request = getattr(import_module(f"opentelemetry.proto.collector.{module}_pb2"), name)()
    try:
        request.ParseFromString(data)
    except import_module("google.protobuf.message").DecodeError as error:
        raise ValueError(f"not an OTLP protobuf ({error})") from None
    return request


def _from_message(span: Any, resource: dict[str, Any], library: str, budget: _Budget) -> Span:
    attributes = _pairs(span.attributes, budget)
    budget.spend(len(span.events))
    events = tuple(
        SpanEvent(event.name, _pairs(event.attributes, budget), event.time_unix_nano) for event in span.events
    )
    failed = span.status.code == 2
    return Span(
        trace=_valid(span.trace_id.hex(), 16, f"the span {span.name[:40]!r}"),
        id=_valid(span.span_id.hex(), 8, f"the span {span.name[:40]!r}"),
        name=span.name,
        parent=_parent(span.parent_span_id.hex()),
        began=span.start_time_unix_nano,
        ended=span.end_time_unix_nano,
        attributes=attributes,
        events=events,
        error=problem(events, failed, span.status.message, str(attributes.get("error.type") or "")),
        resource=resource,
        library=library,
        kind=span.kind,
    )


def _pairs(attributes: Any, budget: _Budget) -> dict[str, Any]:
    budget.spend(len(attributes))
    return {pair.key: _value(pair.value, budget) for pair in attributes}


def _value(value: Any, budget: _Budget) -> Any:
    which = value.WhichOneof("value")
    if which == "array_value":
        budget.spend(len(value.array_value.values))
        return [_value(item, budget) for item in value.array_value.values]
    if which == "kvlist_value":
        return _pairs(value.kvlist_value.values, budget)
    if which == "bytes_value":
        return base64.b64encode(value.bytes_value).decode()
    return getattr(value, which) if which else None


def is_otlp(document: Any) -> bool:
    """Return whether the values are traces, or logs with GenAI events, in OTLP's JSON."""
    return isinstance(document, dict) and any(name in document for name in _ROOTS)


def from_json(document: Any, most: float = inf) -> list[Span]:
    """Return the spans of a trace in OTLP's JSON, with names in either of protobuf's spellings.

    Of logs, the GenAI events are returned, each with the id of its span. Raises TooManyValues for more spans than
    `most` values are.
    """
    budget = _Budget(most)
    if not is_otlp(document):
        raise ValueError("not OTLP JSON, which is an object with resourceSpans")
    try:
        return [*_spans_from_json(document, budget), *_logs_from_json(document, budget)]
    except (TypeError, AttributeError, KeyError, OverflowError) as error:
        raise ValueError(f"damaged OTLP JSON ({type(error).__name__}: {error})") from None


def _logs_from_json(document: Any, budget: _Budget) -> list[Span]:
    found = []
    for place, resource_logs in _each(document, "resourceLogs", "resource_logs"):
        for inner, scope_logs in _each(resource_logs, "scopeLogs", "scope_logs", place=place):
            for where, record in _each(scope_logs, "logRecords", "log_records", place=inner):
                budget.spend(_SPAN)
                trace = _id(_get(record, "traceId", "trace_id") or "", 16, where)
                span = _id(_get(record, "spanId", "span_id") or "", 8, where)
                event = SpanEvent(
                    str(_get(record, "eventName", "event_name") or ""),
                    _json_pairs(record, where),
                    _int(_get(record, "timeUnixNano", "time_unix_nano")),
                )
                found += _loose(trace, span, event, _json_value(record.get("body")))
    return found


def _spans_from_json(document: Any, budget: _Budget) -> list[Span]:
    found = []
    for place, resource_spans in _each(document, "resourceSpans", "resource_spans"):
        resource = _json_pairs(_object(resource_spans, "resource", place=place), place)
        for inner, scope_spans in _each(
            resource_spans, "scopeSpans", "scope_spans", "instrumentationLibrarySpans", place=place
        ):
            scope = _object(scope_spans, "scope", "instrumentationLibrary", place=inner)
            for where, span in _each(scope_spans, "spans", place=inner):
                budget.spend(_SPAN)
                try:
                    found.append(_from_json(span, resource, str(scope.get("name") or ""), where))
                except (TypeError, AttributeError, KeyError) as error:
                    raise ValueError(f"{where} is no span ({type(error).__name__}: {error})") from None
    return found


def _from_json(span: dict[str, Any], resource: dict[str, Any], library: str, where: str) -> Span:
    attributes = _json_pairs(span, where)
    events = tuple(
        SpanEvent(
            str(event.get("name") or ""),
            _json_pairs(event, place),
            _int(_get(event, "timeUnixNano", "time_unix_nano")),
        )
        for place, event in _each(span, "events", place=where)
    )
    status = _object(span, "status", place=where)
    failed = status.get("code") in _FAILED
    text = str(status.get("message") or "")
    return Span(
        trace=_valid(_id(_get(span, "traceId", "trace_id"), 16, where), 16, where),
        id=_valid(_id(_get(span, "spanId", "span_id"), 8, where), 8, where),
        name=str(span.get("name") or ""),
        parent=_parent(_id(_get(span, "parentSpanId", "parent_span_id") or "", 8, where)),
        began=_int(_get(span, "startTimeUnixNano", "start_time_unix_nano")),
        ended=_int(_get(span, "endTimeUnixNano", "end_time_unix_nano")),
        attributes=attributes,
        events=events,
        error=problem(events, failed, text, str(attributes.get("error.type") or "")),
        resource=resource,
        library=library,
        kind=_kind(span.get("kind")),
    )


def _kind(kind: Any) -> int:
    if isinstance(kind, str):
        word = kind.removeprefix("SPAN_KIND_")
        return _KINDS.index(word) if word in _KINDS else 0
    return kind if isinstance(kind, int) else 0


def _id(text: Any, size: int, where: str) -> str:
    """Return an id as hexadecimal digits; some writers have base64 instead."""
    if not isinstance(text, str):
        raise ValueError(f"{where} has no id of a trace and a span")  # noqa: TRY004 - it is the document that is wrong
    word = text.lower()
    if not word or (len(word) == size * 2 and set(word) <= set("0123456789abcdef")):
        return word
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        data = b""
    if len(data) != size:
        raise ValueError(f"{where}: {text[:40]!r} is not an id of {size} bytes")
    return data.hex()


def _valid(id: str, size: int, where: str) -> str:
    """Return the id of a trace or span. Raises ValueError for one that OTLP calls invalid."""
    if len(id) != size * 2 or not id.strip("0"):
        raise ValueError(f"{where}: {id[:40]!r} is not a valid id ({size} bytes, not all of them zero)")
    return id


def _parent(id: str) -> str:
    """Return a parent's id, or nothing for one of zeros, as some senders write it."""
    return id if id.strip("0") else ""


def _int(value: Any) -> int:
    """Return a number, which OTLP's JSON has as text. Raises ValueError above 64 bits."""
    found = int(value or 0)
    if not -(1 << 63) <= found < 1 << 64:
        raise ValueError(f"{str(value)[:40]} has more than 64 bits")
    return found


def _get(item: dict[str, Any], *names: str) -> Any:
    return next((item[name] for name in names if item.get(name) is not None), None)


def _object(item: Any, *names: str, place: str) -> dict[str, Any]:
    found = _get(item, *names)
    if found is not None and not isinstance(found, dict):
        raise ValueError(f"{place}.{names[0]} is no object")
    return found or {}


def _each(item: dict[str, Any], *names: str, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    found = _get(item, *names)
    where = f"{place}.{names[0]}" if place else names[0]
    if found is None:
        return
    if not isinstance(found, list):
        raise ValueError(f"{where} is no list")  # noqa: TRY004 - it is the document that is wrong
    for number, inner in enumerate(found):
        if not isinstance(inner, dict):
            raise ValueError(f"{where}[{number}] is no object")  # noqa: TRY004 - as above
        yield f"{where}[{number}]", inner


def _json_pairs(item: dict[str, Any], where: str) -> dict[str, Any]:
    return {
        str(pair.get("key")): _json_value(pair.get("value"))
        for _, pair in _each(item, "attributes", place=where)
    }


def _json_value(value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        raise ValueError(f"a value is nested more than {_DEEPEST} deep")
    if not isinstance(value, dict):
        # Some exporters write the value without its type.
        return _plain(value, depth)
    for which, inner in value.items():
        name = which.replace("_value", "Value")
        if name == "intValue":
            return _int(inner)
        if name == "doubleValue":
            return float(inner)
        if name == "arrayValue":
            return [_json_value(item, depth + 1) for item in (inner or {}).get("values") or ()]
        if name == "kvlistValue":
            return {
                str(pair.get("key")): _json_value(pair.get("value"), depth + 1)
                for pair in (inner or {}).get("values") or ()
            }
        if name in ("stringValue", "boolValue", "bytesValue"):
            return _plain(inner, depth)
    return None


def _plain(value: Any, depth: int) -> Any:
    """Return a value of JSON. Raises ValueError if it is nested too deep."""
    if depth > _DEEPEST:
        raise ValueError(f"a value is nested more than {_DEEPEST} deep")
    if isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            _plain(inner, depth + 1)
    return value
