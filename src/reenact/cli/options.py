"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.server.operations.logs import Form
from reenact.team.location import OBJECTS, PROJECT, STORE


def ids(incomplete: str) -> list[tuple[str, str]]:
    """The recordings that a word in a shell may become, with their names."""
    try:
        known = [("last", "the newest"), *Index(LocalStore()).known()]
    except Exception:
        # A shell that completes a word shows all output: print nothing.
        return []
    return [(id, name) for id, name in known if id.startswith(incomplete)]


Ref = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="An id, the beginning of one, `last`, or a path.",
        autocompletion=ids,
        show_default=False,
    ),
]
Home = Annotated[
    Path | None,
    typer.Option(
        help="The folder of the recordings; by default $REENACT_HOME, or .reenact here.", show_default=False
    ),
]
Command = Annotated[
    list[str] | None,
    typer.Argument(help="The program and its arguments, behind `--`.", metavar="-- COMMAND..."),
]
Live = Annotated[
    list[str] | None, typer.Option(help="Let run for real: a kind (tool) or one (tool:cancel_order).")
]
Ignore = Annotated[
    list[str] | None, typer.Option(help="Parts that need not match: args.body.seed, order, stdout.")
]
OnDivergence = Annotated[str, typer.Option(help="raise, realign (for edited programs), or live.")]
Inserted = Annotated[str, typer.Option(help="With realign, what a new call gets: refuse or live.")]
Log = Annotated[
    Form | None,
    typer.Option(help="Write each request and event to standard error: json or text.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="As JSON.")]
Store = Annotated[
    str,
    typer.Option(
        "--store", metavar="URL", help=f"The team's Postgres; by default ${STORE}.", show_default=False
    ),
]
Objects = Annotated[
    str,
    typer.Option(
        "--objects", metavar="URL", help=f"Its object store; by default ${OBJECTS}.", show_default=False
    ),
]
Project = Annotated[
    str,
    typer.Option(
        "--project", help=f"The project there; by default ${PROJECT}, or default.", show_default=False
    ),
]
RunForeign = Annotated[
    bool,
    typer.Option(
        "--run-foreign", help="Let the recorded program run, though the recording comes from elsewhere."
    ),
]


def given(command: list[str] | None) -> list[str]:
    """The words of a program that stand behind `--`."""
    words = list(command or ())
    return words[1:] if words[:1] == ["--"] else words
