"""The output of `reenact bisect`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from reenact.analysis.decisive import Alike, Change
from reenact.analysis.decisive import Result as Judged
from reenact.analysis.views.difference import difference
from reenact.analysis.views.text import many, one_line, visible
from reenact.cli import present
from reenact.cli.context import TerminalContext
from reenact.cli.framing import Framed
from reenact.verbs.bisect import Options, Result
from reenact.verbs.reproduce import Decisive


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Print the decisive answers, unless they are printed as JSON."""
    if context.json:
        return
    found = result.found
    color = "green" if found.changes else "yellow"
    title = Text.assemble((headline(found), f"bold {color}"), f"  {found.bad.id}")
    body = Group(*_decisive(found))
    present.out().print(Framed(title, body, color))


def _unjudged(found: Decisive) -> Iterator[RenderableType]:
    """Yield the undecided trials by reason: because of them, fewer changes may be enough."""
    reasons = Counter(trial.why for trial in found.trials if trial.result is Judged.UNDECIDED)
    if not reasons:
        return
    if found.changes:
        yield Text()
        yield Text.assemble(("! ", "yellow"), "some of these alone could not be judged: fewer may do")
    for why, count in reasons.most_common(3):
        yield Padding(Text(f"undecided \N{MULTIPLICATION SIGN} {count}: {one_line(why, 300)}"), (0, 0, 0, 2))
    yield Text("what neither run asked can run for real: --live tool", "dim")


def headline(found: Decisive) -> str:
    """Return the result in a few words."""
    if found.changes:
        return "decisive"
    return "not found within the trials" if found.spent else "no answer changes the outcome"


def _decisive(found: Decisive) -> Iterator[RenderableType]:
    yield Text(found.sentence, "bold")
    for change in found.changes:
        yield Text()
        yield from _change(change)
    if len(found.changes) != 1:
        yield from _unjudged(found)
    if found.back is not None:
        yield Text()
        yield Text(
            "the other way round too: with the bad run's answer the good run becomes bad"
            if found.back
            else "but not the other way round: with the bad run's answer the good run stays good"
        )
    for note in found.notes:
        yield Text.assemble(("! ", "yellow"), visible(note))
    if not found.minimal and found.changes:
        yield Text.assemble(
            ("! ", "yellow"), "the trials were used up: a smaller set may do; --trials allows more"
        )
    yield Text(f"{many(len(found.trials), 'trial')}, {many(found.runs, 'run')} of the program", "dim")


def _change(change: Change) -> Iterator[RenderableType]:
    yield Text(f"{change.name}", "cyan")
    if change.step is None:
        return
    if change.alike is not Alike.SAME:
        yield Padding(
            Text(f"{change.alike.value}; in the good run it is step {change.other}", "dim"), (0, 0, 0, 2)
        )
    bad, good = difference(visible(change.bad), visible(change.good))
    yield Padding(Text.assemble(("bad   ", "dim"), bad), (0, 0, 0, 2))
    yield Padding(Text.assemble(("good  ", "dim"), good), (0, 0, 0, 2))
