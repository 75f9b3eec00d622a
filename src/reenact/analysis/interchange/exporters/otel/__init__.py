"""Export a recording as a trace by OpenTelemetry's GenAI conventions."""

from __future__ import annotations

from reenact.analysis.interchange.exporters.otel.send import deliver, headers_of
from reenact.analysis.interchange.exporters.otel.spans import spans_of
from reenact.analysis.interchange.exporters.otel.wire import to_json, to_protobuf

__all__ = ["deliver", "headers_of", "spans_of", "to_json", "to_protobuf"]
