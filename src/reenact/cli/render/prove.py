"""The output of `reenact prove`, and of the proofs of other commands."""

from __future__ import annotations

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from reenact.analysis.views.text import many, visible
from reenact.cli import present
from reenact.cli.context import TerminalContext
from reenact.cli.framing import Framed
from reenact.verbs.prove import Options, Result
from reenact.verbs.prove.proving import Proved


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Print the result of the replays, unless it is printed as JSON."""
    if not context.json:
        present.out().print(panel(result.done))


def panel(done: Proved) -> Framed:
    """Return the result of the replays, with the likely cause and the untried conditions."""
    color = "green" if done.proof is not None else "red"
    word = (
        f"proved {many(done.proof.times, 'time')}"
        if done.proof is not None
        else "could not be proved"
        if done.unable
        else "not proved"
    )
    lines = [Text(visible(done.sentence))]
    lines += [Text(f"likely: {text}") for text in done.advice]
    lines += [Text(f"not tried: {each.value}: {why}", "yellow") for each, why in done.missed.items()]
    if done.unwritten:
        lines.append(Text(f"the proof could not be kept: {visible(done.unwritten)}", "yellow"))
    body = Group(*lines)
    if done.uncovered:
        uncovered = (Padding(Text(visible(text)), (0, 0, 0, 2)) for text in done.uncovered)
        body = Group(body, Text("not covered by the recording:", "dim"), *uncovered)
    title = Text.assemble(
        (word, f"bold {color}"),
        f"  {done.recording.id}",
        (f"  {visible(done.recording.name)}", "dim"),
    )
    return Framed(title, body, color)
