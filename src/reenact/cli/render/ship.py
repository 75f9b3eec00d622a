"""The output of `reenact ship`."""

from __future__ import annotations

from rich.text import Text

from reenact.cli import present
from reenact.cli.context import Context
from reenact.verbs.ship import Result


def show(result: Result, options: object, context: Context) -> None:
    """Report the sent recordings on standard error, or print the waiting ones as a table."""
    if context.json:
        return
    if result.waiting is None:
        for id, why in result.stuck.items():
            present.say(f"reenact: {id}: {why}")
        left = f"; {len(result.left)} not all there" if result.left else ""
        present.say(f"reenact: {present.many(len(result.sent), 'recording')} sent to {result.server}{left}")
    if result.trouble:
        present.say(f"reenact: {result.trouble}")
    if result.waiting:
        table = present.table("recording", "to", ">missing", "")
        for one in result.waiting:
            how = one.why or ("being recorded" if one.live else "waits")
            cells = (one.id, one.server, present.size(one.missing), how)
            table.add_row(*(Text(present.visible(cell)) for cell in cells))
        present.show(table)
    elif result.waiting is not None:
        present.say("reenact: nothing waits to be sent")
