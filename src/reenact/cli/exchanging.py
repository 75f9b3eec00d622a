"""`reenact push`, `pull`, `sync`: recordings between this machine and the team's store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from reenact.cli import present
from reenact.cli.options import Home, Json, ids
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.team.location import OBJECTS, PROJECT, STORE, Place
from reenact.team.open import place_of, team_store

if TYPE_CHECKING:
    from reenact.team.ship.exchange import Exchange, Moved
    from reenact.team.store import TeamStore

_DONE, _NOT_ALL = 0, 1

Refs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ID]...", help="Ids, or the beginnings of some.", autocompletion=ids, show_default=False
    ),
]
All = Annotated[bool, typer.Option("--all", help="All that there are.")]
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
        "--project", help=f"Which project there; by default ${PROJECT}, or default.", show_default=False
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(push)
    app.command()(pull)
    app.command()(sync)


def push(
    refs: Refs = None,
    *,
    all_: All = False,
    store: Store = "",
    objects: Objects = "",
    project: Project = "",
    home: Home = None,
    json: Json = False,
) -> None:
    """Bring recordings to the team's store; of those that are there in part, the rest.

    [bold]reenact push last[/bold]
    [bold]reenact push --all[/bold]
    """
    here = LocalStore(home)
    if bool(refs) == all_:
        raise UsageError("say which to push: ids, `last`, or --all")
    chosen = here.ids() if all_ else [_own(here, ref) for ref in refs or ()]
    with _exchange(here, place_of(store, objects, project)) as (exchange, team):
        with present.progress("pushing") as report:
            moved = exchange.push(list(dict.fromkeys(chosen)), report)
        if refs:
            moved.problems |= moved.deleted
            moved.deleted = {}
        _tell({"pushed": moved}, team, json=json)


def pull(
    refs: Refs = None,
    *,
    all_: All = False,
    store: Store = "",
    objects: Objects = "",
    project: Project = "",
    home: Home = None,
    json: Json = False,
) -> None:
    """Bring recordings of the team's store here; of those that are here in part, the rest.

    [bold]reenact pull k3v9[/bold]
    [bold]reenact pull last[/bold]   the recording that was changed last
    """
    if bool(refs) == all_:
        raise UsageError("say which to pull: ids, `last`, or --all")
    with _exchange(LocalStore(home), place_of(store, objects, project)) as (exchange, team):
        chosen = team.ids() if all_ else [team.named(ref) for ref in refs or ()]
        with present.progress("pulling") as report:
            moved = exchange.pull(list(dict.fromkeys(chosen)), report, again=bool(refs))
        moved.removed = exchange.forget_deleted().removed
        _tell({"pulled": moved}, team, json=json)


def sync(
    *,
    store: Store = "",
    objects: Objects = "",
    project: Project = "",
    home: Home = None,
    json: Json = False,
) -> None:
    """Push all that is here, and pull all that is there.

    What was deleted on one side does not come back from the other: what came from the team and was deleted there goes
    here, too; what was recorded here stays, and is not pushed.
    """
    here = LocalStore(home)
    with _exchange(here, place_of(store, objects, project)) as (exchange, team):
        removed = exchange.forget_deleted()
        with present.progress("pushing") as report:
            pushed = exchange.push(here.ids(), report)
        with present.progress("pulling") as report:
            pulled = exchange.pull(team.ids(), report)
        pulled.removed = removed.removed
        pulled.problems |= removed.problems
        _tell({"pushed": pushed, "pulled": pulled}, team, json=json)


def _own(here: LocalStore, ref: str) -> str:
    path = here.find(ref)
    if path.parent != here.recordings:
        raise UsageError(f"{path} lies outside of {here.root}: `reenact import {path}` brings it there")
    return path.name


@contextmanager
def _exchange(here: LocalStore, place: Place) -> Iterator[tuple[Exchange, TeamStore]]:
    with team_store(place) as team:
        from reenact.team.ship.exchange import Exchange  # noqa: PLC0415 - drivers that no other command needs

        with closing(Exchange(here, team)) as exchange:
            yield exchange, team


def _tell(said: dict[str, Moved], team: TeamStore, *, json: bool) -> None:
    problems = {id: why for moved in said.values() for id, why in moved.problems.items()}
    if json:
        told = {
            word: {"ids": moved.ids, "bytes": moved.bytes, "problems": moved.problems}
            | {"deleted": moved.deleted, "removed": moved.removed, "foreign": moved.foreign}
            for word, moved in said.items()
        }
        present.dump({"store": team.place, **told})
    else:
        for id, why in problems.items():
            present.say(f"reenact: {id}: {why}")
        for word, moved in said.items():
            for id, why in moved.foreign.items():
                present.say(f"reenact: {id} is {word}: {why}")
            for id, why in moved.deleted.items():
                present.say(f"reenact: {id} is not {word}: {why}")
            for id, why in moved.removed.items():
                present.say(f"reenact: {id} is removed here: in {team.place} {why}")
        for word, moved in said.items():
            way = "to" if word == "pushed" else "from"
            size = f" ({present.size(moved.bytes)})" if moved.ids else ""
            many = present.many(len(moved.ids), "recording") if moved.ids else "nothing new"
            present.say(f"reenact: {many} {word} {way} {team.place}{size}")
    raise SystemExit(_NOT_ALL if problems else _DONE)
