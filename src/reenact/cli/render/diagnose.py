"""The output of `reenact diagnose`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from reenact.analysis.anomalies import SEVERITIES, Anomaly, Rule
from reenact.analysis.views.text import many, one_line
from reenact.cli import present
from reenact.cli.context import TerminalContext
from reenact.cli.reference import reference
from reenact.cli.transcript import TextPage
from reenact.core.query.recorded_run import RecordedRun
from reenact.verbs.diagnose import Options, Result

_COLOURS = {"error": "bold red", "warning": "yellow", "info": "cyan"}
_MANY = {"error": "error", "warning": "warning", "info": "remark"}


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Print the findings, or the rules, unless they are printed as JSON."""
    if context.json:
        return
    if result.rules is not None:
        _list(result.rules)
        return
    page = TextPage(present.out())
    for recording, anomalies in result.found:
        _tell(page, recording, anomalies, 1 << 30 if options.all else options.limit, context.home)


def _tell(
    page: TextPage, recording: RecordedRun, found: Sequence[Anomaly], limit: int, home: Path | None
) -> None:
    title = Text(one_line(recording.agent) or "recording", "bold").append(f"  {recording.id}", "yellow")
    title.append(f"  {many(len(recording.steps), 'step')}, {one_line(recording.status, 20)}", "dim")
    page.line(title)
    if not found:
        page.line(Text("nothing odd", "green"), 2)
        return
    steps = list(dict.fromkeys(one.step for one in found))
    for step in steps[:limit]:
        _step(page, recording, step, [one for one in found if one.step == step])
    counts = [
        many(count, _MANY[severity])
        for severity in SEVERITIES
        if (count := sum(one.severity == severity for one in found))
    ]
    left = f"; {many(len(steps) - limit, 'step')} more with --all" if len(steps) > limit else ""
    hint = next((step for step in steps if step is not None), None)
    named = reference(recording.id, recording.path, home)
    look = f"; `reenact show {named} {hint}` shows the first" if hint is not None else ""
    page.line(Text(f"{', '.join(counts)}{left}{look}", "dim"), 2)


def _step(page: TextPage, recording: RecordedRun, step: int | None, found: Sequence[Anomaly]) -> None:
    about = Text("  the run as a whole" if step is None else f"  step {step}", "bold")
    if step is not None and 1 <= step <= len(recording.steps):
        call = recording.steps[step - 1].call
        about.append(f"  {one_line(call.label, 60)}", "cyan")
        places = [part for part in call.scope.split("/") if not part.startswith("thread:")]
        about.append(f"  {one_line((places or [call.scope])[-1], 40)}", "dim")
    page.line(about)
    for one in found:
        line = Text(f"{one.severity:<8}", _COLOURS[one.severity])
        line.append(one_line(one.sentence)).append(f"  [{one.rule}]", "dim")
        page.line(line, 4, 8)
        if one.evidence and one_line(one.evidence) not in one_line(one.sentence):
            page.line(Text(one_line(one.evidence), "dim italic"), 12)


def _list(rules: Sequence[Rule]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for title in ("rule", "severity", "", "what it finds"):
        table.add_column(title, no_wrap=title != "what it finds")
    for one in rules:
        state = "" if one.on else "off"
        state = "needs --baseline" if one.baseline else state
        table.add_row(one.name, Text(one.severity, _COLOURS[one.severity]), Text(state, "dim"), one.about)
    present.show(table)
