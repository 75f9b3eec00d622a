"""The file of a trace's spans until its recording is made: one span on each line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import orjson

from reenact.analysis.interchange.importers.otel.span import Span, SpanEvent

LEFT_OUT = b'{"left_out":true}\n'
"""The last line of a file whose trace has further spans."""


def add(path: Path, lines: bytes) -> None:
    """Append lines to a file, all of them or none. Raises OSError."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        start = os.fstat(file).st_size
        left = memoryview(lines)
        try:
            while left:
                left = left[os.write(file, left) :]
        except OSError:
            # The sender will repeat the request.
            os.ftruncate(file, start)
            raise
    finally:
        os.close(file)


def ends_early(file: Path) -> bool:
    """Return True if spans of the file's trace were left out."""
    with file.open("rb") as lines:
        lines.seek(-min(len(LEFT_OUT), file.stat().st_size), os.SEEK_END)
        return lines.read() == LEFT_OUT


def read(file: Path) -> list[Span]:
    """Return the spans of a file."""
    found = []
    for line in file.read_bytes().splitlines():
        try:
            item: dict[str, Any] = orjson.loads(line)
        except orjson.JSONDecodeError:
            # A collector was killed while it wrote the last line, which was not acknowledged.
            continue
        if "left_out" in item:
            continue
        events = tuple(SpanEvent(**event) for event in item.pop("events"))
        found.append(Span(**item, events=events))
    return found
