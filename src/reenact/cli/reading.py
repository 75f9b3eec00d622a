"""`reenact list` and `reenact show`: list recordings, and show one."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from reenact.analysis.views import recording as views
from reenact.analysis.views.listing import stored_line
from reenact.analysis.views.state import stored_state
from reenact.analysis.views.steps import shown_step
from reenact.analysis.views.values import pretty
from reenact.cli import pictures as images
from reenact.cli import present
from reenact.cli import state as states
from reenact.cli.context import opened
from reenact.cli.options import Home, Json, Ref, Team
from reenact.cli.transcript import Page, tell, tell_step
from reenact.cli.tree import drawn
from reenact.core.model.plain import plain
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.filter import Filter
from reenact.core.query.recording import Recording
from reenact.core.query.summary import summarise
from reenact.core.store import shared
from reenact.core.store.base import Library, Listed
from reenact.core.store.local import EVENTS, LocalStore
from reenact.core.store.local import home as home_of
from reenact.core.trust import Book, Standing
from reenact.core.trust.consent import standing_of
from reenact.errors import UsageError

_RANGE = re.compile(r"(\d+)(?:(-)(\d+)?)?")


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("list")(list_)
    app.command()(show)


def list_(
    filter: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILTER]", help="tool:cancel_order, error, tokens > 4000 …", show_default=False
        ),
    ] = None,
    *,
    tag: Annotated[
        list[str] | None,
        typer.Option(help="Only with this tag; may be given several times.", show_default=False),
    ] = None,
    status: Annotated[
        str, typer.Option(help="Only ok, error, stopped, unsealed or broken.", show_default=False)
    ] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many, the newest first.")] = 30,
    all: Annotated[bool, typer.Option("--all", "-a", help="All of them.")] = False,
    tree: Annotated[
        bool, typer.Option("--tree", help="Forks under the recordings that they come from.")
    ] = False,
    home: Home = None,
    team: Team = False,
    json: Json = False,
) -> None:
    """List recordings, the newest first.

    A filter finds those in which some step is as it says: [bold]reenact list 'tool:cancel_order and error'[/bold].
    `reenact list` says "found in" which steps. docs/filters.md has the language.
    """
    if status and status not in ("ok", "error", "stopped", "unsealed", "broken"):
        raise UsageError(f"--status {status}: it is one of ok, error, stopped, unsealed, broken")
    wanted = Filter(" ".join(filter or ()))
    with opened(home, team=team) as (store, index):
        with present.progress("reading new recordings") as report:
            found = index.listed(
                wanted, status=status, tags=tag or (), limit=None if all else limit, progress=report
            )
        shown, book = found.hits, Book(home_of(home))
        origins = {}
        if json or tree:
            origins = store.origins([hit.summary.id for hit in shown])
        if json:
            present.dump([stored_line(hit, origins.get(hit.summary.id), book) for hit in shown])
        elif shown and tree:
            present.out().print(drawn([hit.summary for hit in shown], origins))
        elif shown:
            steps = {hit.summary.id: hit.steps for hit in shown if wanted.about_steps}
            lines = [hit.summary for hit in shown]
            present.show(present.listed(lines, list(found.ids), steps, present.out().width, book))
        _remarks(store, index, wanted, found)


def _remarks(store: LocalStore, index: Library, wanted: Filter, found: Listed) -> None:
    shown = len(found.hits)
    if not shown and not (there := index.count()):
        present.say(f"no recordings in {store.place}; `reenact record -- python agent.py` makes one")
    elif not shown:
        unknown = [word for word in wanted.words if word not in index.kinds()]
        hint = f"; no step is of kind '{unknown[0]}': for text, write '\"{unknown[0]}\"'" if unknown else ""
        present.say(f"no recordings match ({there} searched){hint}")
    elif found.matching is None:
        present.say(f"the newest {shown}; --all shows the others")
    elif shown < found.matching:
        present.say(f"{shown} of {found.matching}; --all shows the others")


def show(
    ref: Ref,
    step: Annotated[
        str,
        typer.Argument(
            metavar="[STEP]", help="One step whole (7), or some of them (3-9, 12-).", show_default=False
        ),
    ] = "",
    *,
    filter: Annotated[
        str,
        typer.Option(
            "--filter",
            metavar="FILTER",
            help="Only steps that are so: tool:cancel_order and error …",
            show_default=False,
        ),
    ] = "",
    full: Annotated[bool, typer.Option("--full", "-f", help="Fold nothing, however long.")] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="The events as they are stored, one JSON object per line.")
    ] = False,
    state: Annotated[
        bool, typer.Option("--state", help="The tracked state as STEP was asked, or at the end.")
    ] = False,
    pictures: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write what pictures the steps gave as files there.", show_default=False
        ),
    ] = None,
    home: Home = None,
    team: Team = False,
    json: Json = False,
) -> None:
    """Show a recording as a conversation, or one step whole.

    Of each model call only what is new since the previous one; what a tool did inside stands further in.
    """
    if filter and step.isdigit():
        raise UsageError(f"step {step} is one step: --filter chooses among several (3-9, or all)")
    wanted = Filter(filter)
    with opened(home, team=team) as (store, _):
        facts = RecordingFacts(store.load(ref))
    within = _chosen(step, facts.recording)
    if state:
        found = facts.recording.state(states.number_of(step))
        if json:
            present.dump(stored_state(facts.recording, found))
        else:
            states.tell_state(Page(present.out(), full=full), facts.recording, found)
        return
    chosen: Sequence[int] = (
        [number for number in facts.where(wanted) if number in within] if filter else within
    )
    if pictures is not None:
        images.write(facts, chosen, pictures)
        return
    if raw:
        _raw(facts, chosen, whole=not step and not filter)
        return
    standing = standing_of(facts.recording, home_of(home))
    if json:
        one = step.isdigit()
        present.dump(
            shown_step(facts.steps[chosen[0] - 1]) if one else views.stored_recording(facts, chosen, standing)
        )
        return
    page = Page(present.out(), full=full)
    if step.isdigit():
        tell_step(page, facts, int(step))
        return
    whole = not step and not filter
    if whole:
        _head(page, facts, standing)
    tell(page, facts, frozenset(chosen), ref)
    if whole:
        _foot(page, facts)
    elif not chosen:
        present.say(f"no steps match ({len(within)} searched)")


def told(console: Console, store: LocalStore, ref: str) -> None:
    """A whole recording on a console, as a conversation. Raises RecordingError."""
    facts = RecordingFacts(store.load(ref))
    page = Page(console, full=False)
    _head(page, facts, standing_of(facts.recording, store.root))
    tell(page, facts, frozenset(range(1, len(facts.steps) + 1)), ref)
    _foot(page, facts)


def _chosen(step: str, recording: Recording) -> range:
    last = len(recording.steps)
    if not step:
        return range(1, last + 1)
    match = _RANGE.fullmatch(step)
    if match is None:
        raise UsageError(f"'{step}' is no step: give a number (7), or a range (3-9, 12-)")
    first = int(match[1])
    until = last if match[2] and not match[3] else int(match[3] or first)
    if not 1 <= first <= last or until < first:
        there = f"its steps go from 1 to {last}" if last else "it has no steps"
        raise UsageError(f"recording {recording.id} has no step {step}: {there}")
    return range(first, min(until, last) + 1)


def _head(page: Page, facts: RecordingFacts, standing: Standing) -> None:
    recording = facts.recording
    line = summarise(facts, path=recording.path)
    title = Text(present.one_line(recording.name) or "recording", "bold").append(
        f"  {recording.id}  ", "yellow"
    )
    page.line(title + present.status(line))
    used = line.input_tokens + line.output_tokens
    parts = [
        _moment(line.started),
        present.many(line.steps, "step"),
        present.seconds(line.duration) if line.duration else "",
        present.one_line(", ".join(line.models), 80),
        f"{present.count(used)} tokens" if used else "",
        present.money(line.cost),
        f"in {len(recording.logs)} processes" if len(recording.logs) > 1 else "",
    ]
    page.line(Text(" · ".join(part for part in parts if part), "dim"))
    if line.tags:
        page.line(Text(present.one_line(" ".join(f"#{tag}" for tag in line.tags)), "magenta"))
    if (said := shared.origin(recording.header)) is not None:
        page.line(Text(f"{said.how or 'child'} of {said.id}, step {said.step}", "cyan"))
    _origin(page, recording)
    if reason := (recording.logs[0].sealed or {}).get("reason"):
        page.block("stopped", str(reason), 0, "yellow")
    if line.problem:
        page.block("ended with", line.problem, 0, "red")
    if not standing.at_home or standing.name:
        page.line(Text(present.one_line(standing.sentence), "yellow"))
    if recording.status == "unsealed":
        page.line(Text("unsealed: the program still runs, or was cut off", "yellow"))
    for note in recording.notes:
        page.block("note", note, 0, "yellow")
    page.line(Text(""))


def _moment(started: str) -> str:
    age = present.ago(started)
    past = " ago" if age[-1] in "mhd" else ""
    return f"{started[:19].replace('T', ' ')} UTC ({age}{past})" if started else ""


def _origin(page: Page, recording: Recording) -> None:
    program, source = recording.header.get("program"), recording.header.get("source")
    if isinstance(program, dict):
        git = program.get("git") or {}
        revision = (
            f"  (git {str(git.get('revision'))[:8]}{', edited' if git.get('dirty') else ''})" if git else ""
        )
        words = " ".join(str(word) for word in program.get("argv") or ())
        page.line(Text(present.one_line(f"{words}{revision}"), "dim"))
    elif isinstance(source, dict):
        how = f"imported from {source['file']}" if source.get("file") else "collected"
        page.line(Text(present.one_line(f"{how} ({source.get('format')})"), "dim"))


def _foot(page: Page, facts: RecordingFacts) -> None:
    drawn: dict[str, int] = {}
    for log in facts.recording.logs:
        for (_, source), values in log.draws.items():
            # Each variable and file is a source of its own; the kind of it says enough here.
            kind = (
                source.partition(":")[0] if source.startswith(("env:", "file:")) else source.replace(":", " ")
            )
            drawn[kind] = drawn.get(kind, 0) + len(values)
        if log.fired:
            drawn["timers fired"] = drawn.get("timers fired", 0) + sum(map(len, log.fired.values()))
    if drawn:
        page.line(Text(""))
        counted = ", ".join(f"{count} {kind}" for kind, count in sorted(drawn.items()))
        page.line(Text(f"also recorded: {counted}", "dim"), 0, 5)
    output = facts.recording.logs[0].sealed or {}
    if "output" in output:
        page.line(Text(""))
        page.block("output", pretty(plain(output["output"])), 0)


def _raw(facts: RecordingFacts, chosen: Sequence[int], *, whole: bool) -> None:
    """The stored lines: all of them, or those of the chosen steps."""
    recording = facts.recording
    numbers: dict[str, set[Any]] = {}
    for number in chosen:
        step = facts.steps[number - 1].step
        numbers.setdefault(step.log.process, set()).add(step.call.number)
    for lines in views.stored(Path(recording.path), EVENTS):
        calls: set[Any] = set()
        for place, line in enumerate(lines):
            if place == 0:
                calls = numbers.get(views.process(line), set())
            if whole or views.call(line) in calls:
                sys.stdout.buffer.write(line + b"\n")
