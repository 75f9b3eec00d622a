"""`reenact reproduce` and `reenact bisect`: run a failure again; find the decisive change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from reenact.analysis.attempts import Reproduces, Reproduction
from reenact.analysis.decisive import Alike, Change, Result
from reenact.analysis.views.difference import difference
from reenact.analysis.world import Asked
from reenact.cli import present
from reenact.cli.consent import agreed
from reenact.cli.options import Command, Home, Ignore, Live, Ref, RunForeign, given, ids
from reenact.errors import UsageError
from reenact.team.open import Reaching
from reenact.verbs.reproduce import Decisive, bisect, reproduce
from reenact.verbs.reproduce.attempts import TIMES
from reenact.verbs.reproduce.bisection import TRIALS
from reenact.verbs.reproduce.rerun import PATIENCE
from reenact.verbs.reproduce.trees import decisive_tree, reproduction_tree, summary
from reenact.verbs.reproduce.world import READING, check_world

Patience = Annotated[
    float, typer.Option("--timeout", min=0.1, help="Seconds that each run of the program may take.")
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON on standard output.")]

_WORDS = {
    Reproduces.REPRODUCED: ("green", 0),
    Reproduces.DIFFERENT: ("red", 1),
    Reproduces.FLAKY: ("yellow", 1),
    Reproduces.CANNOT_RUN: ("red", 2),
}


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("reproduce")(reproduce_)
    app.command("bisect")(bisect_)


# -- reproduce -----------------------------------------------------------------------------------------------


def reproduce_(
    ref: Ref,
    command: Command = None,
    *,
    times: Annotated[int, typer.Option(min=1, help="How often to replay it.")] = TIMES,
    live: Live = None,
    ignore: Ignore = None,
    world: Annotated[
        bool,
        typer.Option("--check-world", help="Ask the recorded GET and HEAD requests again, and compare."),
    ] = False,
    timeout: Patience = PATIENCE,
    run_foreign: RunForeign = False,
    home: Home = None,
    json: AsJson = False,
) -> None:
    """Does the failure reproduce? Replay it several times, quietly, and tell the replays together.

    Exit status: 0 reproduced, 1 different or flaky, 2 it cannot be run.
    """
    recording, words = Reaching(home).load(ref), given(command)
    run_foreign = agreed((recording,), words, home, run_foreign=run_foreign, requests=world)
    done = reproduce(
        recording,
        times=times,
        live=tuple(live or ()),
        ignore=tuple(ignore or ()),
        patience=timeout,
        command=words,
        home=home,
        run_foreign=run_foreign,
        progress=None if json else present.say,
    )
    asked = None
    if world:
        said = None if json else present.say
        asked = check_world(recording, home=home, run_foreign=run_foreign, progress=said)
    if json:
        present.dump(reproduction_tree(done, asked))
    else:
        color, _ = _WORDS[done.result]
        title = Text.assemble(
            (done.result.value, f"bold {color}"), f"  {recording.id}", (f"  {recording.name}", "dim")
        )
        body = Group(*_reproduction(done), *_world(asked))
        present.out().print(Panel(body, title=title, title_align="left", border_style=color, expand=False))
    raise SystemExit(_WORDS[done.result][1])


def _reproduction(done: Reproduction) -> Iterator[RenderableType]:
    count = Counter(
        "no verdict" if each.verdict is None else "faithful" if each.verdict.faithful else "not faithful"
        for each in done.attempts
    )
    told = ", ".join(f"{number} {word}" for word, number in count.items())
    yield Text(f"{present.many(len(done.attempts), 'replay')}: {told}" if told else "it was not started")
    if done.where:
        yield Text(present.visible(done.where))
    if done.uncovered:
        yield Text("\nnot covered by the recording:", "dim")
        yield from (Padding(Text(present.visible(text)), (0, 0, 0, 2)) for text in done.uncovered)


def _world(asked: Sequence[Asked] | None) -> Iterator[RenderableType]:
    if asked is None:
        return
    yield Text("\nthe world today:", "dim")
    if not asked:
        yield Padding(Text(f"nothing recorded was a {' or '.join(READING)} request"), (0, 0, 0, 2))
    for each in asked:
        color = "green" if each.change == "same" else "yellow"
        text = Text.assemble((each.change, color), f"  {present.visible(each.label)}")
        text.append(f"  {each.detail}" if each.detail else "")
        yield Padding(text, (0, 0, 0, 2))
        for mismatch in each.mismatches:
            yield Padding(Text(present.one_line(str(mismatch), 300)), (0, 0, 0, 4))
        if each.left_out:
            names = ", ".join(each.left_out)
            yield Padding(Text(f"not sent, since it was replaced as a secret: {names}", "dim"), (0, 0, 0, 4))


# -- bisect --------------------------------------------------------------------------------------------------


def bisect_(
    bad: Annotated[
        str,
        typer.Argument(
            metavar="BAD", help="The run that went wrong.", autocompletion=ids, show_default=False
        ),
    ],
    command: Command = None,
    *,
    good: Annotated[
        str,
        typer.Option(
            help="A run of the same program that went well.", autocompletion=ids, show_default=False
        ),
    ],
    check: Annotated[
        str,
        typer.Option(
            help="A command that says whether an outcome is good: exit status 0; 125 for undecided. It finds the "
            "program's output in the file $REENACT_STDOUT.",
            show_default=False,
        ),
    ] = "",
    check_output: Annotated[
        bool, typer.Option("--check-output", help="Good is what gives the output of the good run.")
    ] = False,
    live: Live = None,
    ignore: Ignore = None,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Answer only what was asked to the letter, with the same history."),
    ] = False,
    trials: Annotated[int, typer.Option(min=1, help="How many trials the search may take.")] = TRIALS,
    timeout: Patience = PATIENCE,
    run_foreign: RunForeign = False,
    home: Home = None,
    json: AsJson = False,
) -> None:
    """Find the decisive step: the smallest set of a good run's answers that turns the bad run good.

    Each trial runs the program again, offline, with some answers replaced by those of the good run.

    [bold]reenact bisect 3f9a --good last --check 'grep -q refunded "$REENACT_STDOUT"'[/bold]

    Exit status: 0 found, 1 no answer changes the outcome, 2 could not search.
    """
    if bool(check) == check_output:
        raise UsageError("say what is good: either --check 'a command', or --check-output")
    words = given(command)
    run_foreign = agreed((bad, good), words, home, run_foreign=run_foreign)
    found = bisect(
        bad,
        good,
        check=check or None,
        live=tuple(live or ()),
        ignore=tuple(ignore or ()),
        exact=exact,
        trials=trials,
        patience=timeout,
        command=words,
        home=home,
        run_foreign=run_foreign,
        progress=None if json else present.say,
    )
    if json:
        present.dump(decisive_tree(found))
    else:
        color = "green" if found.changes else "yellow"
        present.out().print(
            Panel(Group(*_decisive(found)), title_align="left", border_style=color, expand=False,
                  title=Text.assemble((headline(found), f"bold {color}"), f"  {found.bad.id}"))
        )  # fmt: skip
    raise SystemExit(0 if found.changes else 1)


def _unjudged(found: Decisive) -> Iterator[RenderableType]:
    """Yield the undecided trials by reason: then fewer changes may be enough."""
    reasons = Counter(trial.why for trial in found.trials if trial.result is Result.UNDECIDED)
    if not reasons:
        return
    if found.changes:
        yield Text()
        yield Text.assemble(("! ", "yellow"), "some of these alone could not be judged: fewer may do")
    for why, count in reasons.most_common(3):
        yield Padding(
            Text(f"undecided \N{MULTIPLICATION SIGN} {count}: {present.one_line(why, 300)}"), (0, 0, 0, 2)
        )
    yield Text("what neither run asked can run for real: --live tool", "dim")


def headline(found: Decisive) -> str:
    """Return the result in a few words."""
    if found.changes:
        return "decisive"
    return "not found within the trials" if found.spent else "no answer changes the outcome"


def _decisive(found: Decisive) -> Iterator[RenderableType]:
    yield Text(summary(found), "bold")
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
        yield Text.assemble(("! ", "yellow"), present.visible(note))
    if not found.minimal and found.changes:
        yield Text.assemble(
            ("! ", "yellow"), "the trials were used up: a smaller set may do; --trials allows more"
        )
    yield Text(
        f"{present.many(len(found.trials), 'trial')}, {present.many(found.runs, 'run')} of the program", "dim"
    )


def _change(change: Change) -> Iterator[RenderableType]:
    yield Text(f"{change.name}", "cyan")
    if change.step is None:
        return
    if change.alike is not Alike.SAME:
        yield Padding(
            Text(f"{change.alike.value}; in the good run it is step {change.other}", "dim"), (0, 0, 0, 2)
        )
    bad, good = difference(present.visible(change.bad), present.visible(change.good))
    yield Padding(Text.assemble(("bad   ", "dim"), bad), (0, 0, 0, 2))
    yield Padding(Text.assemble(("good  ", "dim"), good), (0, 0, 0, 2))
