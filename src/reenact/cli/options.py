"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.team.location import OBJECTS, PROJECT, STORE


def ids(incomplete: str) -> list[tuple[str, str]]:
    """The recordings that a word in a shell may become, with their names."""
    try:
        known = [("last", "the newest"), *Index(LocalStore()).known()]
    except Exception:
        # A shell that completes a word shows all output: print nothing.
        return []
    return [(id, name) for id, name in known if id.startswith(incomplete)]


Home = Annotated[
    Path | None,
    typer.Option(
        help="The folder of the recordings; by default $REENACT_HOME, or .reenact here.", show_default=False
    ),
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
