"""OpenTelemetry traces: GenAI conventions, earlier forms, OpenInference and OpenLLMetry.

`span_files` and `wire` read spans from files and from a port, `kinds` finds the kind of each span, `span_model`,
`span_answer`, `span_message` and `tool` read its content, and `runs` makes one run of a trace's spans.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from reenact.analysis.interchange.importers.otel import runs, span_files
from reenact.analysis.interchange.importers.otel.span import Span
from reenact.analysis.interchange.importers.run import ImportedRun
from reenact.errors import NotARecording

__all__ = ["Span", "Spans", "from_bytes", "is_spans", "read", "read_spans"]


def is_spans(document: Any) -> bool:
    """Return whether a parsed file is a trace."""
    return isinstance(document, Spans) or span_files.is_trace(document)


class Spans(list[Span]):
    """The spans of a protobuf file, already read."""


def from_bytes(data: bytes) -> Spans | None:
    """Return the spans of a protobuf file, or None for another file."""
    found = span_files.from_bytes(data)
    return None if found is None else Spans(found)


def read(document: Any, path: Path) -> list[ImportedRun]:
    """Return a run for each trace with an agent's work; if there is none, for every trace."""
    try:
        spans = document if isinstance(document, Spans) else span_files.spans_of(document)
    except ValueError as error:
        raise NotARecording(f"{path}: {error}; nothing of the file was imported") from None
    return list(read_spans(spans, path, "otel"))


def read_spans(spans: list[Span], path: Path, format: str) -> Iterator[ImportedRun]:
    """Yield a run for each trace of those spans."""
    found = runs.traces(spans)
    telling = {trace: each for trace, each in found.items() if runs.tells(each)}
    left = len(found) - len(telling) if telling else 0
    for each in (telling or found).values():
        run = runs.run(each, source={"format": format, "file": str(path)}, bare=not telling)
        yield (
            replace(
                run,
                notes=(
                    *run.notes,
                    f"{left} other traces of the file hold no model call and no tool, and were left out",
                ),
            )
            if left
            else run
        )
