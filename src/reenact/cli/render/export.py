"""The output of `reenact export`."""

from __future__ import annotations

import sys

from reenact.cli import present
from reenact.cli.context import Context
from reenact.verbs.export import Options, Result


def show(result: Result, options: Options, context: Context) -> None:
    """Report the written file or the sent trace on standard error."""
    sys.stdout.buffer.write(result.output)
    for note in result.notes:
        present.say(note)
    if result.file is not None:
        size = present.size(result.file.stat().st_size)
        if result.spans:
            present.say(f"written to {result.file} ({present.many(result.spans, 'span')}, {size})")
        else:
            present.say(f"exported to {result.file} ({size})")
    if result.sent is not None:
        sent = result.sent
        spans = present.many(sent.spans, "span")
        present.say(f"sent {sent.recording} to {sent.target} as trace {sent.trace} ({spans})")
