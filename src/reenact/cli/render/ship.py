"""The output of `reenact ship`."""

from __future__ import annotations

from rich.text import Text

from reenact.analysis.views.text import many, size, visible
from reenact.cli import present
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.verbs.ship import Result


def show(result: Result, options: object, context: TerminalContext) -> None:
    """Report the sent recordings on standard error, or print the waiting ones as a table."""
    if context.json:
        return
    if result.waiting is None:
        for id, why in result.stuck.items():
            say(f"reenact: {id}: {why}")
        left = f"; {len(result.left)} not all there" if result.left else ""
        say(f"reenact: {many(len(result.sent), 'recording')} sent to {result.server}{left}")
    if result.trouble:
        say(f"reenact: {result.trouble}")
    if result.waiting:
        table = present.table("recording", "to", ">missing", "")
        for one in result.waiting:
            how = one.why or ("being recorded" if one.live else "waits")
            cells = (one.id, one.server, size(one.missing), how)
            table.add_row(*(Text(visible(cell)) for cell in cells))
        present.show(table)
    elif result.waiting is not None:
        say("reenact: nothing waits to be sent")
