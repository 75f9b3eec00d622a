"""The output of `reenact export`."""

from __future__ import annotations

import sys

from reenact.analysis.views.text import many, size
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.verbs.export import Options, Result


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Report the written file or the sent trace on standard error."""
    sys.stdout.buffer.write(result.output)
    for note in result.notes:
        say(note)
    if result.file is not None:
        room = size(result.file.stat().st_size)
        if result.spans:
            say(f"written to {result.file} ({many(result.spans, 'span')}, {room})")
        else:
            say(f"exported to {result.file} ({room})")
    if result.sent is not None:
        sent = result.sent
        spans = many(sent.spans, "span")
        say(f"sent {sent.recording} to {sent.target} as trace {sent.trace} ({spans})")
