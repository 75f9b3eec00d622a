"""The output of `reenact show`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from reenact.analysis.views import whole_recording as views
from reenact.analysis.views.text import ago, count, many, marks, moment, money, one_line, seconds
from reenact.analysis.views.values import pretty
from reenact.cli import pictures, present
from reenact.cli.context import TerminalContext
from reenact.cli.framing import paged
from reenact.cli.printing import say
from reenact.cli.reference import reference
from reenact.cli.render.files import tell_differences
from reenact.cli.shown_state import tell_state
from reenact.cli.transcript import TextPage, tell, tell_step
from reenact.core.model.plain import error_line, plain
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.query.summary import summarise
from reenact.core.store import shared
from reenact.core.store.local import EVENTS, LocalStore
from reenact.core.trust import Book, Provenance
from reenact.core.trust.consent import standing_of
from reenact.core.trust.proofs import Proof, Proofs
from reenact.verbs.show import Options, Result


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Print the state, some steps or the conversation, or write pictures as files."""
    facts = result.facts
    ref = reference(facts.recording.id, facts.recording.path, context.home, typed=options.ref)
    if result.state is not None:
        if not context.json:
            tell_state(TextPage(present.out(), full=options.full), facts.recording, result.state)
    elif result.files is not None:
        if not context.json:
            tell_differences(TextPage(present.out(), full=options.full), result.files, ref)
    elif options.pictures is not None:
        pictures.write(facts, result.chosen, options.pictures)
    elif options.raw:
        _raw(result)
    elif not context.json:
        console = present.out()
        with paged(console):
            _texts(TextPage(console, full=options.full), result, options, ref)
        if not result.whole and not result.chosen and not options.step.isdigit():
            say(f"no steps match ({len(result.within)} searched)")


def _texts(page: TextPage, result: Result, options: Options, ref: str) -> None:
    facts = result.facts
    if options.step.isdigit():
        tell_step(page, facts, int(options.step))
        return
    if result.whole:
        _whole(page, facts, result.standing, result.proof, ref)
    else:
        tell(page, facts, frozenset(result.chosen), ref)


def told(console: Console, store: LocalStore, ref: str) -> None:
    """Print a whole recording as a conversation. Raises RecordingError."""
    facts = RecordingFacts(store.load(ref))
    proof = Proofs(Book(store.root)).of(facts.recording.id, facts.recording.path)
    _whole(TextPage(console, full=False), facts, standing_of(facts.recording, store.root), proof, ref)


def _whole(
    page: TextPage, facts: RecordingFacts, standing: Provenance, proof: Proof | None, ref: str
) -> None:
    _head(page, facts, standing, proof)
    tell(page, facts, frozenset(range(1, len(facts.steps) + 1)), ref)
    _foot(page, facts)


def _head(page: TextPage, facts: RecordingFacts, standing: Provenance, proof: Proof | None) -> None:
    recording = facts.recording
    line = summarise(facts, path=recording.path)
    title = Text(one_line(recording.agent) or "recording", "bold").append(f"  {recording.id}  ", "yellow")
    page.line(title + present.status(line))
    used = line.input_tokens + line.output_tokens
    parts = [
        _moment(line.started),
        many(line.steps, "step"),
        seconds(line.duration) if line.duration else "",
        one_line(", ".join(line.models), 80),
        f"{count(used)} tokens" if used else "",
        money(line.cost),
        f"in {len(recording.logs)} processes" if len(recording.logs) > 1 else "",
    ]
    page.line(Text(" · ".join(part for part in parts if part), "dim"))
    if line.tags:
        page.line(Text(marks(line.tags, ""), "magenta"))
    if line.note:
        page.block("note", line.note, 0, "magenta")
    if (said := shared.origin(recording.header)) is not None:
        page.line(Text(f"{said.how or 'child'} of {said.id}, step {said.step}", "cyan"))
    _origin(page, recording)
    if reason := (recording.logs[0].sealed or {}).get("reason"):
        page.block("stopped", str(reason), 0, "yellow")
    if line.problem:
        error = (recording.logs[0].sealed or {}).get("error")
        # For an imported run, the class of the error is only a name in its format.
        raised = isinstance(error, dict) and isinstance(recording.header.get("program"), dict)
        page.block("ended with", error_line(error) if raised else line.problem, 0, "red")
    if not standing.at_home or standing.name:
        page.line(Text(one_line(standing.sentence), "yellow"))
    if proof is not None:
        page.line(Text(one_line(proof.sentence, 300), "green"))
    if recording.status == "unsealed":
        page.line(Text("unsealed: the program still runs, or was cut off", "yellow"))
    for note in recording.notes:
        page.block("note", note, 0, "yellow")
    for text in recording.resumed:
        page.block("resumed", text, 0, "yellow")
    for source in recording.sources:
        page.block("unrecorded", source, 0, "yellow")
    page.line(Text(""))


def _moment(started: str) -> str:
    age = ago(started)
    past = " ago" if age[-1] in "mhd" else ""
    return f"{moment(started)} ({age}{past})" if started else ""


def _origin(page: TextPage, recording: RecordedRun) -> None:
    program, source = recording.header.get("program"), recording.header.get("source")
    if isinstance(program, dict):
        git = program.get("git") or {}
        revision = (
            f"  (git {str(git.get('revision'))[:8]}{', edited' if git.get('dirty') else ''})" if git else ""
        )
        words = " ".join(str(word) for word in program.get("argv") or ())
        page.line(Text(one_line(f"{words}{revision}"), "dim"))
    elif isinstance(source, dict):
        how = f"imported from {source['file']}" if source.get("file") else "collected"
        page.line(Text(one_line(f"{how} ({source.get('format')})"), "dim"))


def _foot(page: TextPage, facts: RecordingFacts) -> None:
    drawn: dict[str, int] = {}
    for log in facts.recording.logs:
        for (_, source), values in log.draws.items():
            # Each variable and file is a separate source; only their kinds are counted here.
            kind = (
                source.partition(":")[0] if source.startswith(("env:", "file:")) else source.replace(":", " ")
            )
            drawn[kind] = drawn.get(kind, 0) + len(values)
        if log.fired:
            drawn["timers fired"] = drawn.get("timers fired", 0) + sum(map(len, log.fired.values()))
    if drawn:
        if facts.recording.steps:
            page.line(Text(""))
        counted = ", ".join(f"{times} {kind}" for kind, times in sorted(drawn.items()))
        page.line(Text(f"also recorded: {counted}", "dim"), 0, 5)
    output = facts.recording.logs[0].sealed or {}
    if "output" in output:
        page.line(Text(""))
        page.block("output", pretty(plain(output["output"])), 0)


def _raw(result: Result) -> None:
    """Print the stored lines: all of them, or those of the chosen steps."""
    numbers: dict[str, set[Any]] = {}
    for number in result.chosen:
        step = result.facts.steps[number - 1].step
        numbers.setdefault(step.log.process, set()).add(step.call.number)
    for lines in views.stored(Path(result.facts.recording.path), EVENTS):
        calls: set[Any] = set()
        for place, line in enumerate(lines):
            if place == 0:
                calls = numbers.get(views.process(line), set())
            if result.whole or views.call(line) in calls:
                sys.stdout.buffer.write(line + b"\n")
