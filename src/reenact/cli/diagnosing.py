"""`reenact diagnose`: list the anomalies of recorded runs."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from reenact.analysis.anomalies import RULES, SEVERITIES, Anomaly
from reenact.cli import present
from reenact.cli.options import Home, Json, ids
from reenact.cli.teams import Team, opened
from reenact.cli.transcript import Page
from reenact.core.query.recording import Recording
from reenact.errors import ReenactError, UsageError
from reenact.verbs.diagnose import chosen, diagnosed, diagnosis_tree, usual_among

_COLOURS = {"error": "bold red", "warning": "yellow", "info": "cyan"}
_MANY = {"error": "error", "warning": "warning", "info": "remark"}


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(diagnose)


def diagnose(
    refs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID...",
            help="Ids, the beginnings of some, `last`, or paths.",
            autocompletion=ids,
            show_default=False,
        ),
    ] = None,
    *,
    rule: Annotated[
        list[str] | None,
        typer.Option(help="Ask only this rule (or `all`); may be given several times.", show_default=False),
    ] = None,
    no_rule: Annotated[
        list[str] | None,
        typer.Option(
            "--no-rule", help="Do not ask this rule; may be given several times.", show_default=False
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="FILTER",
            help="Compare time, tokens, cost and steps with these recordings: 'tag:good'.",
            show_default=False,
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Ask a model of Pydantic AI too (openai:gpt-4o); it is sent the recording's text.",
            show_default=False,
        ),
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules, and no more.")] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="How many steps, the most suspect first.")
    ] = 8,
    all: Annotated[bool, typer.Option("--all", "-a", help="All of them.")] = False,
    home: Home = None,
    team: Team = False,
    json: Json = False,
) -> None:
    """Say what is odd about recorded runs: named rules, each with the step, what it rests on, and a plain sentence.

    Exit status 0, or 1 where something of severity error is found. docs/diagnose.md has the rules and how to set them.
    """
    choice = chosen(rules=rule or (), without=no_rule or ())
    if rules:
        _list(json=json)
        return
    if not refs:
        raise UsageError("which recordings? `reenact diagnose last`, or ids that `reenact list` shows")
    found: list[tuple[Recording, list[Anomaly]]] = []
    failures = []
    with opened(home, team=team) as (store, index):
        recordings = [store.load(path) for path in dict.fromkeys(store.find(ref) for ref in refs)]
        for recording in recordings:
            usual = None
            if baseline is not None:
                with present.progress("reading the baseline") as report:
                    usual = usual_among(index, baseline, leave=recording.id, progress=report)
            try:
                found.append((recording, diagnosed(recording, choice, usual, judge)))
            except ReenactError as error:
                failures.append(str(error))
    if json:
        present.dump([diagnosis_tree(recording, anomalies) for recording, anomalies in found])
    else:
        page = Page(present.out())
        for recording, anomalies in found:
            _tell(page, recording, anomalies, 1 << 30 if all else limit)
    for failure in failures:
        present.say(f"reenact: {failure}")
    if failures:
        raise typer.Exit(2)
    if any(one.severity == "error" for _, anomalies in found for one in anomalies):
        raise typer.Exit(1)


def _tell(page: Page, recording: Recording, found: list[Anomaly], limit: int) -> None:
    title = Text(present.one_line(recording.name) or "recording", "bold").append(
        f"  {recording.id}", "yellow"
    )
    title.append(f"  {present.many(len(recording.steps), 'step')}, {recording.status}", "dim")
    page.line(title)
    if not found:
        page.line(Text("nothing odd", "green"), 2)
        return
    steps = list(dict.fromkeys(one.step for one in found))
    for step in steps[:limit]:
        _step(page, recording, step, [one for one in found if one.step == step])
    counts = [
        present.many(count, _MANY[severity])
        for severity in SEVERITIES
        if (count := sum(one.severity == severity for one in found))
    ]
    left = f"; {present.many(len(steps) - limit, 'step')} more with --all" if len(steps) > limit else ""
    hint = next((step for step in steps if step is not None), None)
    look = f"; `reenact show {recording.id} {hint}` shows the first" if hint is not None else ""
    page.line(Text(f"{', '.join(counts)}{left}{look}", "dim"), 2)


def _step(page: Page, recording: Recording, step: int | None, found: list[Anomaly]) -> None:
    about = Text("  the run as a whole" if step is None else f"  step {step}", "bold")
    if step is not None and 1 <= step <= len(recording.steps):
        call = recording.steps[step - 1].call
        about.append(f"  {present.one_line(call.label, 60)}", "cyan")
        places = [part for part in call.scope.split("/") if not part.startswith("thread:")]
        about.append(f"  {present.one_line((places or [call.scope])[-1], 40)}", "dim")
    page.line(about)
    for one in found:
        line = Text(f"{one.severity:<8}", _COLOURS[one.severity])
        line.append(present.one_line(one.sentence)).append(f"  [{one.rule}]", "dim")
        page.line(line, 4, 8)
        if one.evidence:
            page.line(Text(present.one_line(one.evidence), "dim italic"), 12)


def _list(*, json: bool) -> None:
    listed = sorted(RULES.values(), key=lambda one: one.name)
    if json:
        present.dump(
            [
                {
                    "rule": one.name,
                    "about": one.about,
                    "severity": one.severity,
                    "on": one.on,
                    "baseline": one.baseline,
                    "options": {
                        name: list(value) if isinstance(value, tuple) else value
                        for name, value in one.options.items()
                    },
                }
                for one in listed
            ]
        )
        return
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for title in ("rule", "severity", "", "what it finds"):
        table.add_column(title, no_wrap=title != "what it finds")
    for one in listed:
        state = "" if one.on else "off"
        state = "needs --baseline" if one.baseline else state
        table.add_row(one.name, Text(one.severity, _COLOURS[one.severity]), Text(state, "dim"), one.about)
    present.show(table)
