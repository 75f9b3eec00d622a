"""The output of `reenact push`, `pull` and `sync`."""

from __future__ import annotations

from reenact.cli import present
from reenact.cli.context import Context
from reenact.verbs.push import Result


def show(result: Result, options: object, context: Context) -> None:
    """Report the copied, removed and refused recordings on standard error."""
    if context.json:
        return
    for id, why in result.problems.items():
        present.say(f"reenact: {id}: {why}")
    for word, moved in result.moved.items():
        for id, why in moved.foreign.items():
            present.say(f"reenact: {id} is {word}: {why}")
        for id, why in moved.deleted.items():
            present.say(f"reenact: {id} is not {word}: {why}")
        for id, why in moved.removed.items():
            present.say(f"reenact: {id} is removed here: in {result.place} {why}")
    for word, moved in result.moved.items():
        way = "to" if word == "pushed" else "from"
        size = f" ({present.size(moved.bytes)})" if moved.ids else ""
        many = present.many(len(moved.ids), "recording") if moved.ids else "nothing new"
        present.say(f"reenact: {many} {word} {way} {result.place}{size}")
