"""`push`: recordings to the team's store, and the common parts of `pull` and `sync`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from reenact.core.dataclass import dataclass
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.team.location import OBJECTS, PROJECT, STORE
from reenact.team.open import place_of, team_store
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, optional
from reenact.verbs.marks import RECORDING, Cli

if TYPE_CHECKING:
    from reenact.team.ship.exchange import TeamExchange, Transferred
    from reenact.team.store import TeamStore


class StoreOptions(interface.Options):
    """The options of commands that name a team's store."""

    store: Annotated[
        str,
        Field(description=f"The team's Postgres; by default ${STORE}."),
        Cli(metavar="URL"),
        marks.NEVER,
    ] = ""
    objects: Annotated[
        str,
        Field(description=f"Its object store; by default ${OBJECTS}."),
        Cli(metavar="URL"),
        marks.NEVER,
    ] = ""


class TeamOptions(StoreOptions):
    """The options of commands that name a team's store, and a project there."""

    project: Annotated[
        str, Field(description=f"The project there; by default ${PROJECT}, or default."), marks.NEVER
    ] = ""


class ChosenOptions(TeamOptions):
    """The options of commands that copy some recordings, or all."""

    refs: Annotated[
        tuple[str, ...],
        Field(description="Ids, or the first characters of ids."),
        Cli(argument=True, metavar="[ID]..."),
        RECORDING,
    ] = ()
    all: Annotated[bool, Field(description="All recordings.")] = False


class Options(ChosenOptions):
    """Copy recordings to the team's store. Interrupted copies are completed.

    [bold]reenact push last[/bold]
    [bold]reenact push --all[/bold]
    """


@dataclass(frozen=True)
class Result(interface.Result):
    """The copied recordings.

    Attributes:
        place: The team's store.
        moved: The recordings that were `pushed` and `pulled`.
    """

    place: str
    moved: Mapping[str, Transferred]

    @property
    def problems(self) -> dict[str, str]:
        """The recordings that were not copied, with the reasons."""
        return {id: why for moved in self.moved.values() for id, why in moved.problems.items()}

    @property
    def status(self) -> int:
        """1 if a recording was not copied."""
        return int(bool(self.problems))

    def tree(self) -> dict[str, Any]:
        """Return the copied recordings as JSON values."""
        names = ("ids", "bytes", "problems", "deleted", "removed", "foreign")
        found = {word: {name: getattr(moved, name) for name in names} for word, moved in self.moved.items()}
        return {"store": self.place, **found}


def run(options: Options, context: Context) -> Result:
    """Push the recordings. Raises UsageError, StoreAway."""
    here = LocalStore(context.home)
    if bool(options.refs) == options.all:
        raise UsageError("say which to push: ids, `last`, or --all")
    chosen = here.ids() if options.all else [own(here, ref) for ref in options.refs]
    with exchanging(options, here) as (exchange, team):
        moved = exchange.push(list(dict.fromkeys(chosen)), progress(context, "pushing"))
        if options.refs:
            moved.problems |= moved.deleted
            moved.deleted = {}
        return Result(team.place, {"pushed": moved})


def own(here: LocalStore, ref: str) -> str:
    """Return the id of a recording of the home. Raises UsageError for one that lies elsewhere."""
    path = here.find(ref)
    if path.parent != here.recordings:
        raise UsageError(
            f"{path} lies outside of {here.root}: `reenact import {shlex.quote(str(path))}` brings it there"
        )
    return path.name


def progress(context: Context, what: str) -> Callable[[int, int], None]:
    """Return a function that reports how many parts are finished."""
    return partial(context.progress, what)


@contextmanager
def exchanging(options: TeamOptions, here: LocalStore) -> Iterator[tuple[TeamExchange, TeamStore]]:
    """Open the team's store, and the exchange with it."""
    with team_store(place_of(options.store, options.objects, options.project)) as team:
        exchange: TeamExchange
        with closing(
            optional("reenact.team.ship.exchange", "team", "the team's store").TeamExchange(here, team)
        ) as exchange:
            yield exchange, team
