"""The output of `reenact rm`."""

from __future__ import annotations

from reenact.cli import present
from reenact.cli.context import Context
from reenact.verbs import rm


def show(result: rm.Result, options: object, context: Context) -> None:
    """Report the deleted recordings on standard error."""
    if not result.deleted:
        return
    if result.made_whole:
        shares = "it shares" if len(result.made_whole) == 1 else "they share"
        present.say(f"made whole before, as {shares} lines: {', '.join(result.made_whole)}")
    present.say(f"deleted {present.many(len(result.deleted), 'recording')}")
