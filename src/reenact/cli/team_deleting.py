"""`reenact team rm`, `hold`, `receipts` and `readmit`: delete recordings, and hold them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from reenact.cli import present
from reenact.cli.options import Json, Objects, Project, Store
from reenact.errors import RecordingNotFound, UsageError
from reenact.team.open import place_of, team_store

_SECOND = 1_000_000_000

Why = Annotated[str, typer.Option(help="The reason, shown in receipts and refusals.")]
Filter = Annotated[str, typer.Argument(metavar="FILTER", help="'tag:case-17', 'name:billing* and error' …")]


def add(group: typer.Typer) -> None:
    """Add the commands to the group `team`."""
    group.command("rm")(rm)
    group.command("receipts")(receipts)
    group.command("readmit")(readmit)
    holding = typer.Typer(
        help="Holds: recordings that match one of these filters cannot be deleted.", no_args_is_help=True
    )
    holding.command("add")(hold_add)
    holding.command("remove")(hold_remove)
    holding.command("list")(hold_list)
    group.add_typer(holding, name="hold")


def rm(
    refs: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, or the first characters of ids.")],
    *,
    why: Why = "removed",
    store: Store = "",
    objects: Objects = "",
    project: Project = "",
    json: Json = False,
) -> None:
    """Delete recordings of the team's store for good, and print a receipt for each.

    Copies elsewhere stay, and cannot be pushed again. If one of them is under a hold, none is deleted.

    [bold]reenact team rm k3v9 --why "asked for by the customer"[/bold]
    """
    with team_store(place_of(store, objects, project)) as team:
        ids = list(dict.fromkeys(team.named(ref) for ref in refs))
        made = team.erase(ids, why=why)
    if json:
        present.dump(made)
        return
    for receipt in made:
        _tell(receipt, "deleted")


def receipts(
    refs: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Whole ids: only their receipts.")
    ] = None,
    *,
    store: Store = "",
    objects: Objects = "",
    project: Project = "",
    json: Json = False,
) -> None:
    """Show the receipts of deletions, the oldest first: time, reason, user and digests.

    Each is checked against the project's key. Exit status 1: one is not signed, or was changed or forged.
    """
    with team_store(place_of(store, objects, project)) as team:
        found = team.receipts(refs or None)
        problems = team.distrusted(found)
    if missing := set(refs or ()) - {receipt["id"] for receipt in found}:
        raise RecordingNotFound(f"there is no receipt of {', '.join(sorted(missing))}")
    if json:
        present.dump(found)
    else:
        for receipt in found:
            _tell(receipt, receipt["deleted"])
    for id, why in problems.items():
        present.say(f"reenact: the receipt of {id} is not to be trusted: {why}")
    if problems:
        raise typer.Exit(1)


def readmit(
    id: Annotated[str, typer.Argument(metavar="ID", help="The whole id of a recording that was deleted.")],
    *,
    store: Store = "",
    objects: Objects = "",
    project: Project = "",
) -> None:
    """Remove the tombstone of a recording deleted by mistake, so that it can be pushed again."""
    with team_store(place_of(store, objects, project)) as team:
        if not team.readmit(id):
            raise RecordingNotFound(f"{id} has no tombstone in {team.place}")
    present.say(f"reenact: {id} is taken again")


def hold_add(
    filter: Filter,
    *,
    why: Why = "",
    store: Store = "",
    objects: Objects = "",
    project: Project = "",
) -> None:
    """Protect all recordings that match a filter, also future ones, from retention and deletion."""
    if not why.strip():
        raise UsageError("say why it is held: --why 'case 17'")
    with team_store(place_of(store, objects, project)) as team:
        team.hold(filter, why)
    present.say(f"reenact: what '{filter}' means is held in {team.place}")


def hold_remove(filter: Filter, *, store: Store = "", objects: Objects = "", project: Project = "") -> None:
    """Remove a hold, given by its exact filter."""
    with team_store(place_of(store, objects, project)) as team:
        if not team.release(filter):
            raise UsageError(f"there is no hold '{filter}'; `reenact team hold list` shows those there are")
    present.say(f"reenact: '{filter}' is held no longer")


def hold_list(*, store: Store = "", objects: Objects = "", project: Project = "", json: Json = False) -> None:
    """Show the holds."""
    with team_store(place_of(store, objects, project)) as team:
        found = team.holds()
    if json:
        present.dump([{**asdict(one), "at": _day(one.at)} for one in found])
        return
    for one in found:
        present.say(f"'{one.filter}': {one.why} (by {one.who}, {_day(one.at)[:10]})")
    if not found:
        present.say("reenact: nothing is held")


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / _SECOND, UTC).isoformat(timespec="seconds")


def _tell(receipt: dict[str, Any], word: str) -> None:
    size = sum(file["bytes"] for file in receipt["files"].values())
    blobs = receipt["blobs"]
    present.say(
        f"{word} {receipt['id']} ({receipt['name'] or '-'}): {present.size(size)} of lines, "
        f"{blobs.get('deleted', 0)} of {present.many(blobs['named'], 'blob')}; {receipt['why']}, by {receipt['who']}"
    )
