"""Files of spans: OTLP as JSON, JSON lines or protobuf, and the output of SDKs to a console."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from reenact.analysis.interchange.importers.chat import moment
from reenact.analysis.interchange.importers.otel import wire
from reenact.analysis.interchange.importers.otel.span import Span, SpanEvent, nanoseconds, problem


def is_trace(document: Any) -> bool:
    """Return whether a file's JSON is a trace, of OTLP or of an SDK, whole or one span per line."""
    return any(True for _ in _requests(document)) or any(True for _ in _printed(document))


def spans_of(document: Any) -> list[Span]:
    """Return the spans of such a document. Raises ValueError with the place of damage."""
    requests = list(_requests(document))
    if requests:
        several = len(requests) > 1
        found = []
        for number, request in requests:
            try:
                found += wire.from_json(request)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}" if several else str(error)) from None
        return found
    return [_of_printed(span) for span in _printed(document)]


def from_bytes(data: bytes) -> list[Span] | None:
    """Return the spans of a protobuf file: one message, or several with their lengths.

    Return None for another file.
    """
    for messages in ([data], _measured(data)):
        try:
            found = [span for message in messages for span in wire.from_protobuf(message)]
        except ValueError:
            continue
        if found:
            return found
    return None


def _measured(data: bytes) -> list[bytes]:
    found, place = [], 0
    while place < len(data):
        size = int.from_bytes(data[place : place + 4], "big")
        message = data[place + 4 : place + 4 + size]
        if not size or len(message) < size:
            return []
        found.append(message)
        place += 4 + size
    return found


def _requests(document: Any) -> Iterator[tuple[int, Any]]:
    if wire.is_otlp(document):
        yield 1, document
    elif isinstance(document, list) and any(wire.is_otlp(item) for item in document):
        # A collector's file has logs and metrics among the traces.
        yield from ((number, item) for number, item in enumerate(document, 1) if wire.is_otlp(item))


def _printed(document: Any, depth: int = 5) -> Iterator[dict[str, Any]]:
    """Yield spans in the form of the SDKs' console exporters (`ReadableSpan.to_json`).

    They are bare, in lists, or under common names: `spans`, `traces`, `traces` by their ids.
    """
    if _is_printed(document):
        yield document
    elif isinstance(document, list) and depth:
        for item in document:
            yield from _printed(item, depth - 1)
    elif isinstance(document, dict) and depth:
        for name in ("spans", "traces"):
            inner = document.get(name)
            yield from _printed(list(inner.values()) if isinstance(inner, dict) else inner, depth - 1)


def _is_printed(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("context"), dict) and "trace_id" in item["context"]


def _of_printed(item: dict[str, Any]) -> Span:
    context = item["context"]
    attributes = _plain(item.get("attributes"))
    events = tuple(
        SpanEvent(
            str(event.get("name") or ""), _plain(event.get("attributes")), _time(event.get("timestamp"))
        )
        for event in item.get("events") or ()
    )
    status = item.get("status") or {}
    code = str(status.get("status_code") or status.get("code") or "")
    return Span(
        trace=_bare(context["trace_id"]),
        id=_bare(context.get("span_id")),
        name=str(item.get("name") or ""),
        parent=_bare(item.get("parent_id")),
        began=_time(item.get("start_time")),
        ended=_time(item.get("end_time")),
        attributes=attributes,
        events=events,
        error=problem(
            events,
            code in ("ERROR", "2"),
            str(status.get("description") or ""),
            str(attributes.get("error.type") or ""),
        ),
        resource=_plain((item.get("resource") or {}).get("attributes")),
        library=str((item.get("instrumentation_scope") or {}).get("name") or ""),
    )


def _plain(attributes: Any) -> dict[str, Any]:
    return dict(attributes) if isinstance(attributes, dict) else {}


def _bare(id: Any) -> str:
    return str(id or "").lower().removeprefix("0x")


def _time(value: Any) -> int:
    if isinstance(value, int):
        # Large numbers are nanoseconds, smaller ones seconds or milliseconds.
        return value if value > 10**15 else nanoseconds(moment(value))
    when = moment(value)
    return nanoseconds(when) if isinstance(when, datetime) else 0
