"""The output of `reenact reproduce`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from reenact.analysis.attempts import Reproduces, Reproduction
from reenact.analysis.views.text import many, one_line, visible
from reenact.analysis.world import RepeatedQuestion
from reenact.cli import present
from reenact.cli.context import TerminalContext
from reenact.cli.framing import Framed
from reenact.verbs.reproduce.verb import Options, Result
from reenact.verbs.reproduce.world import READING

_COLORS = {
    Reproduces.REPRODUCED: "green",
    Reproduces.DIFFERENT: "red",
    Reproduces.FLAKY: "yellow",
    Reproduces.CANNOT_RUN: "red",
}


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Print the replays and their comparison, unless they are printed as JSON."""
    if context.json:
        return
    done, recording = result.reproduction, result.recording
    color = _COLORS[done.result]
    title = Text.assemble(
        (done.result.value, f"bold {color}"), f"  {recording.id}", (f"  {recording.name}", "dim")
    )
    body = Group(*_reproduction(done), *_world(result.asked))
    present.out().print(Framed(title, body, color))


def _reproduction(done: Reproduction) -> Iterator[RenderableType]:
    count = Counter(
        "no verdict" if each.verdict is None else "faithful" if each.verdict.faithful else "not faithful"
        for each in done.attempts
    )
    told = ", ".join(f"{number} {word}" for word, number in count.items())
    yield Text(f"{many(len(done.attempts), 'replay')}: {told}" if told else "it was not started")
    if done.where:
        yield Text(visible(done.where))
    if done.uncovered:
        yield Text("\nnot covered by the recording:", "dim")
        yield from (Padding(Text(visible(text)), (0, 0, 0, 2)) for text in done.uncovered)


def _world(asked: Sequence[RepeatedQuestion] | None) -> Iterator[RenderableType]:
    if asked is None:
        return
    yield Text("\nthe world today:", "dim")
    if not asked:
        yield Padding(Text(f"nothing recorded was a {' or '.join(READING)} request"), (0, 0, 0, 2))
    for each in asked:
        color = "green" if each.change == "same" else "yellow"
        text = Text.assemble((each.change, color), f"  {visible(each.label)}")
        text.append(f"  {each.detail}" if each.detail else "")
        yield Padding(text, (0, 0, 0, 2))
        for mismatch in each.mismatches:
            yield Padding(Text(one_line(str(mismatch), 300)), (0, 0, 0, 4))
        if each.left_out:
            names = ", ".join(each.left_out)
            yield Padding(Text(f"not sent, since it was replaced as a secret: {names}", "dim"), (0, 0, 0, 4))
