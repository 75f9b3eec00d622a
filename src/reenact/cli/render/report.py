"""The output of `reenact report`."""

from __future__ import annotations

from reenact.analysis.views.text import size
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.verbs.report import Options, Result


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Report the written page on standard error."""
    room = size(result.output.stat().st_size)
    beside = result.beside
    with_it = "with the recording in it" if beside is None else f"the recording lies beside it: {beside}"
    say(f"wrote {result.output} ({room}), {with_it}")
