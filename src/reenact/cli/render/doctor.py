"""The output of `reenact doctor`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from reenact.cli import present
from reenact.cli.context import TerminalContext
from reenact.verbs.doctor import Finding, Options, Result

_MARKS = {"ok": "[green]ok[/]", "note": "[yellow]note[/]", "bad": "[red]bad[/]"}


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Print the findings, unless they are printed as JSON."""
    if not context.json:
        present.show(table(result.findings))


def table(findings: Sequence[Finding]) -> Table:
    """Return findings as a table."""
    rows = Table(box=None, pad_edge=False, show_header=False)
    rows.add_column(no_wrap=True)
    rows.add_column(no_wrap=True, style="bold")
    rows.add_column(overflow="fold")
    for finding in findings:
        rows.add_row(_MARKS[finding.level], Text(finding.topic), Text(finding.text))
    return rows
