"""The output of `reenact rm`."""

from __future__ import annotations

from reenact.analysis.views.text import many
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.verbs import rm


def show(result: rm.Result, options: object, context: TerminalContext) -> None:
    """Report the deleted recordings on standard error."""
    if not result.deleted:
        return
    if result.made_whole:
        shares = "it shares" if len(result.made_whole) == 1 else "they share"
        say(f"made whole before, as {shares} lines: {', '.join(result.made_whole)}")
    say(f"deleted {many(len(result.deleted), 'recording')}")
