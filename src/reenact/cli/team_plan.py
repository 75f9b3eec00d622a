"""`reenact team plan`: estimate the machines and disks for a number of runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from reenact.cli import present
from reenact.cli.options import Json
from reenact.server.operations.sizing import Load, Plan
from reenact.server.operations.sizing import plan as planned

_AS = Load()
_WORDS = {
    "laptop": "a folder on one machine is enough: nothing to set up",
    "server": "one `reenact serve` with its folder is enough",
    "team": "a server before a team's store: Postgres and an object store",
    "fleet": "a server before a team's store, and releases checked by several machines (--engine ray, or --shard)",
}


def plan(
    *,
    runs: Annotated[int, typer.Option(min=1, help="Runs recorded in a month.")] = _AS.runs,
    events: Annotated[int, typer.Option(min=1, help="Events of a run: two for each step.")] = _AS.events,
    size: Annotated[int, typer.Option(min=1, help="Bytes of an event.")] = _AS.size,
    blobs: Annotated[
        int, typer.Option(min=0, help="Bytes of a run's large values, such as screenshots.")
    ] = _AS.blobs,
    spans: Annotated[
        float, typer.Option(min=0, max=1, help="The share of the runs that comes as traces.")
    ] = _AS.spans,
    months: Annotated[int, typer.Option(min=1, help="The months for which they are kept.")] = _AS.months,
    peak: Annotated[
        float, typer.Option(min=1, help="The load of the busiest minute, as a multiple of the average.")
    ] = _AS.peak,
    replays: Annotated[int, typer.Option(min=0, help="Replays in the check of a release.")] = _AS.replays,
    work: Annotated[
        float, typer.Option(min=0, help="CPU seconds of the program itself in a replay.")
    ] = _AS.work,
    minutes: Annotated[float, typer.Option(min=0.1, help="Minutes for that check.")] = _AS.minutes,
    json: Json = False,
) -> None:
    """Estimate the cores and disks that a number of runs needs, and the setup that is enough.

    The estimate rests on figures of one machine (docs/fleet.md).

    [bold]reenact team plan --runs 1000000 --replays 10000[/bold]
    """
    load = Load(runs, events, size, blobs, spans, months, peak, replays, work, minutes)
    found = planned(load)
    if json:
        present.dump({"load": asdict(load), "plan": asdict(found)})
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for what, said in rows(load, found):
        table.add_row(what, said)
    present.show(table)
    present.say(f"reenact: {_WORDS[found.stage]}")


def rows(load: Load, found: Plan) -> list[tuple[str, str]]:
    """Return the rows of a plan."""
    cores = f"{present.many(found.server_cores, 'core')}, {large(found.memory)} of memory"
    database = f"{present.many(found.postgres_cores, 'core')}, {large(found.database)} of disk"
    return [
        ("kept", f"{present.many(found.kept, 'recording')}, after {present.many(load.months, 'month')}"),
        ("events", f"{found.events:,.1f} a second, {found.peak:,.0f} in the busiest minute"),
        ("uploads", f"{large(found.bytes)} a second in the busiest minute"),
        ("server", f"{cores}, {large(found.disk)} of disk"),
        ("Postgres", database),
        ("object store", large(found.objects)),
        (
            "replays",
            f"{present.many(found.replay_cores, 'core')} for {load.replays:,} in {load.minutes:g} minutes",
        ),
    ]


def large(size: float) -> str:
    """Bytes, also where there are very many."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:,.3g} {unit}"
    return f"{size / 1e3:,.3g} kB"
