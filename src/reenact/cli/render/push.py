"""The output of `reenact push`, `pull` and `sync`."""

from __future__ import annotations

from reenact.analysis.views.text import many, size
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.verbs.push import Result


def show(result: Result, options: object, context: TerminalContext) -> None:
    """Report the copied, removed and refused recordings on standard error."""
    if context.json:
        return
    for id, why in result.problems.items():
        say(f"reenact: {id}: {why}")
    for word, moved in result.moved.items():
        for id, why in moved.foreign.items():
            say(f"reenact: {id} is {word}: {why}")
        for id, why in moved.deleted.items():
            say(f"reenact: {id} is not {word}: {why}")
        for id, why in moved.removed.items():
            say(f"reenact: {id} is removed here: in {result.place} {why}")
    for word, moved in result.moved.items():
        way = "to" if word == "pushed" else "from"
        room = f" ({size(moved.bytes)})" if moved.ids else ""
        counted = many(len(moved.ids), "recording") if moved.ids else "nothing new"
        say(f"reenact: {counted} {word} {way} {result.place}{room}")
