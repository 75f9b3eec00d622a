"""`reenact report`: one page about a recording, for readers without Reenact."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reenact.cli import present
from reenact.cli.consent import agreed
from reenact.cli.options import Command, Home, Ref, RunForeign, given, ids
from reenact.verbs.reproduce import reporting
from reenact.verbs.reproduce.reporting import Wanted


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(report)


def report(
    ref: Ref,
    command: Command = None,
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page: report.html or report.md.", show_default=False)
    ],
    good: Annotated[
        str,
        typer.Option(help="A run that went well, to show what it was told otherwise.", autocompletion=ids),
    ] = "",
    check: Annotated[
        str, typer.Option(help="With --good: find the decisive step too, as `reenact bisect --check`.")
    ] = "",
    times: Annotated[
        int,
        typer.Option(min=0, help="Replay it so often for the page; by default nothing is run."),
    ] = 0,
    world: Annotated[
        bool, typer.Option("--check-world", help="Ask the recorded GET and HEAD requests again.")
    ] = False,
    attach: Annotated[
        bool, typer.Option("--attach/--no-attach", help="Put the recording in the page, or beside it.")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    run_foreign: RunForeign = False,
    home: Home = None,
) -> None:
    """Write one page about a recording for somebody who has never seen it: what was asked, what came out, what
    happened, where it ran, and the commands to go on with.

    Nothing is run for it, unless --times, --check or --check-world ask for that.

    [bold]reenact report last -o report.html --good 3f9a[/bold]
    """
    wanted, words = Wanted(good, check, times, world, attach), given(command)
    if wanted.runs:
        refs = (ref, good) if check and good else (ref,)
        run_foreign = agreed(refs, words, home, run_foreign=run_foreign, requests=world)
    beside = reporting.report(
        ref, output, wanted, command=words, home=home, run_foreign=run_foreign, force=force,
        progress=present.say,
    )  # fmt: skip
    with_it = "with the recording in it" if beside is None else f"the recording lies beside it: {beside}"
    present.say(f"wrote {output} ({present.size(output.stat().st_size)}), {with_it}")
