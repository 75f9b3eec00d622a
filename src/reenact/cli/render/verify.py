"""The output of `reenact verify`."""

from __future__ import annotations

from collections import Counter

from rich.markup import escape
from rich.table import Table

from reenact.analysis.views.terminal import Terminal
from reenact.cli import present
from reenact.cli.context import Context
from reenact.verbs.verify import Status, grouped
from reenact.verbs.verify.verb import Options, Result

_COLORS = {
    Status.SAME: "green",
    Status.FIXED: "green",
    Status.DIVERGED: "red",
    Status.BROKEN: "red",
    Status.UNABLE: "yellow",
    Status.REFUSED: "yellow",
}
_SHOWN = 5


def show(result: Result, options: Options, context: Context) -> None:
    """Print the outcomes by cause, and their counts, unless they are printed as JSON."""
    if context.json:
        return
    outcomes = result.outcomes
    console = Terminal(highlight=False)
    groups = grouped(outcomes)
    if groups:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for heading in ("count", "outcome", "cause", "recordings"):
            table.add_column(heading, justify="right" if heading == "count" else "left", overflow="fold")
        for status, cause, members in groups:
            known = [
                f"{o.id or o.ref}" + (f" (step {o.step})" if o.step is not None else "") for o in members
            ]
            more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
            shown = f"[{_COLORS[status]}]{status.value}[/]"
            table.add_row(str(len(members)), shown, escape(cause), escape(", ".join(known[:_SHOWN]) + more))
        console.print(table)
        console.print()
    counts = Counter(outcome.status for outcome in outcomes)
    said = [f"[{_COLORS[status]}]{counts[status]} {status.value}[/]" for status in Status if counts[status]]
    took = sum(outcome.seconds for outcome in outcomes)
    console.print(
        f"{present.many(len(outcomes), 'recording')}: {', '.join(said)}  [dim]{took:.1f} s of replays[/]"
    )
