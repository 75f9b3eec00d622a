"""`reenact fsck`: check a home or a team's store, and repair it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from reenact.cli import present
from reenact.cli.exchanging import Objects, Project, Store
from reenact.cli.options import Home, Json, Team
from reenact.core.store.check import Check, Checked
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.team.open import place_of, team_store

_CLEAN, _FOUND = 0, 1


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(fsck)


def fsck(
    *,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair what can be; what is broken is moved to broken/.")
    ] = False,
    home: Home = None,
    team: Team = False,
    store: Store = "",
    objects: Objects = "",
    project: Project = "",
    json: Json = False,
) -> None:
    """Check all recordings, blobs and the index, and name each fault.

    Faults are broken recordings, torn last lines, damaged, missing or unused blobs, remains of interrupted writes,
    imports and uploads, and deleted recordings that are still there. Only --repair changes anything. Exit status 0: no
    fault; 1: a fault, also one that was repaired.

    [bold]reenact fsck --repair[/bold]
    """
    if team:
        if home is not None:
            raise UsageError("--team is the team's store and --home a folder here: one of the two")
        with team_store(place_of(store, objects, project)) as there, present.progress("checking") as report:
            from reenact.team.check import TeamCheck  # noqa: PLC0415 - drivers that no other command needs

            found, place = TeamCheck(there, repair=repair).run(report), there.place
    else:
        if store or objects or project:
            raise UsageError("--store, --objects and --project go with --team")
        here = LocalStore(home)
        with present.progress("checking") as report:
            found, place = Check(here, repair=repair).run(report), here.place
    _tell(found, place, json=json)
    raise SystemExit(_FOUND if found.findings else _CLEAN)


def _tell(found: Checked, place: str, *, json: bool) -> None:
    if json:
        present.dump({"store": place, **asdict(found)})
        return
    for one in found.findings:
        done = f" -> {one.repaired}" if one.repaired else ""
        print(present.one_line(f"{one.kind}: {one.what}: {one.detail}{done}"))
    looked = (
        f"{present.many(found.recordings, 'recording')} and {present.many(found.blobs, 'blob')} in {place}"
    )
    many = present.many(len(found.findings), "finding") if found.findings else "nothing is wrong"
    present.say(f"reenact: {looked}: {many}")
