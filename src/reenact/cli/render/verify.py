"""The output of `reenact verify`."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from reenact.analysis.views.text import many
from reenact.analysis.views.verdict import changed_since
from reenact.analysis.views.verification import Status, Tone
from reenact.cli import present
from reenact.cli.context import TerminalContext
from reenact.verbs.verify.verb import Options, Result

_COLORS: dict[Tone, str] = {
    "good": "green",
    "live": "green",
    "bad": "red",
    "warn": "yellow",
    "quiet": "yellow",
}
_SHOWN = 5


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Print the outcomes by cause, and their counts, unless they are printed as JSON."""
    if context.json:
        return
    found = result.view
    console = present.out()
    if found.failures:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for heading in ("count", "outcome", "cause", "recordings"):
            table.add_column(heading, justify="right" if heading == "count" else "left", overflow="fold")
        for failures in found.failures:
            known = [
                one.recording + (f" (step {one.step})" if one.step is not None else "")
                for one in failures.outcomes
            ]
            more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
            shown = ", ".join(known[:_SHOWN])
            table.add_row(
                str(len(known)), _status_text(failures.status), escape(failures.cause), escape(shown) + more
            )
        present.show(table, console)
        console.print()
    since = {
        file: one.recording
        for one in reversed(found.outcomes)
        if one.verdict is not None
        for file in one.verdict.changed_since
    }
    if since:
        console.print(f"[yellow]![/] {escape(changed_since(sorted(since)))}")
        hint = f"reenact replay {since[min(since)]} --files live"
        console.print(f"  {escape(hint)} reads what is there now", soft_wrap=True)
    said = [_status_text(status, f"{count} ") for status, count in found.counts.items()]
    console.print(
        f"{many(len(found.outcomes), 'recording')}: {', '.join(said)}  "
        f"[dim]{found.seconds:.1f} s of replays[/]"
    )


def _status_text(status: Status, before: str = "") -> str:
    return f"[{_COLORS[status.tone]}]{before}{status.value}[/]"
