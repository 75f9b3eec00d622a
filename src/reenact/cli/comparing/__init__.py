"""`reenact diff`: two recordings side by side, on a terminal, as a page, as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reenact.analysis.diff import Diff
from reenact.analysis.pages.html import page_html
from reenact.analysis.views.diff import diff_view
from reenact.cli import present
from reenact.cli.comparing import page, terminal
from reenact.cli.options import Home, Json, ids
from reenact.core import private
from reenact.errors import UsageError
from reenact.verbs.diff import diff as compare

First = Annotated[
    str,
    typer.Argument(
        metavar="A",
        help="The first run, say the good one: an id, the beginning of one, `last`, or a path.",
        autocompletion=ids,
        show_default=False,
    ),
]
Second = Annotated[
    str, typer.Argument(metavar="B", help="The second run.", autocompletion=ids, show_default=False)
]
PARTED = 1


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("diff")(diff)


def diff(
    a: First,
    b: Second,
    *,
    html: Annotated[
        Path | None,
        typer.Option(help="Write a page to this file, to open in any browser.", show_default=False),
    ] = None,
    all: Annotated[
        bool, typer.Option("--all", "-a", help="Equal steps too, all pairs, and all texts whole.")
    ] = False,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            help="A part of questions to leave out (args.body.seed); may be given several times.",
            show_default=False,
        ),
    ] = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Compare two runs: what they share, what differs word by word, and the first difference.

    Exit status 0 where they are the same, 1 where they differ.
    """
    found = compare(a, b, ignore=ignore or (), home=home)
    if json:
        present.dump(diff_view(found, paths=True))
    else:
        _refuse_strangers(found, all=all)
    if html is not None:
        _write(html, page_html(page.page(found, whole=all)))
    elif not json:
        terminal.tell(terminal.Report(found, present.out(), whole=all))
    if not found.same:
        raise typer.Exit(PARTED)


def _refuse_strangers(found: Diff, *, all: bool) -> None:
    if not found.shared and not all:
        raise UsageError(
            f"{found.a.id} and {found.b.id} share nothing: none of the {present.many(found.a.steps, 'step')} of the "
            f"one resembles any of the {found.b.steps} of the other; are they runs of one agent? "
            f"`reenact list` shows which are, and --all compares these all the same"
        )


def _write(file: Path, text: str) -> None:
    if file.is_dir():
        raise UsageError(f"--html {file}: that is a folder; name a file, such as {file / 'diff.html'}")
    if not file.parent.is_dir():
        raise UsageError(f"--html {file}: there is no folder {file.parent}")
    private.write(file, text)
    present.say(f"written to {file}")
