"""The team's store, as commands open it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from reenact.core.store.base import Library
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.core.store.local import home as home_of
from reenact.errors import UsageError
from reenact.team.location import OBJECTS, STORE, Place
from reenact.team.open import Reaching, team_store

Team = Annotated[bool, typer.Option("--team", help=f"In the team's store, ${STORE}, and not here.")]


def place_of(store: str = "", objects: str = "", project: str = "") -> Place:
    """Return the team's store of the options or the environment. Raises UsageError without one."""
    place = Place.of(os.environ, store=store, objects=objects, project=project)
    if place is None:
        raise UsageError(
            f"which team's store? Set {STORE}=postgresql://user@host/database and {OBJECTS}=s3://bucket/prefix"
        )
    return place


@contextmanager
def opened(home: Path | None, *, team: bool) -> Iterator[tuple[LocalStore, Library]]:
    """Open the local recordings, or the team's, and their index. Raises UsageError."""
    if not team:
        here = Reaching(home)
        with closing(Index(here)) as index:
            yield here, index
        return
    if home is not None:
        raise UsageError("--team is the team's store and --home a folder here: one of the two")
    with team_store(place_of()) as there:
        from reenact.team.index import TeamIndex  # noqa: PLC0415 - as above

        # Its lines say where recordings come from.
        there.adopt([], home_of(None))
        with closing(TeamIndex(there)) as index:
            yield there, index
