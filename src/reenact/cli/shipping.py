"""`reenact ship`: send unsent recordings to the server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from reenact.cli import present
from reenact.cli.options import Home, Json, ids
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.team import ship as shipping

_THERE, _WAITS = 0, 1


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(ship)


def ship(
    refs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            help="Recordings that were not made with REENACT_SERVER set; by default what waits.",
            autocompletion=ids,
            show_default=False,
        ),
    ] = None,
    *,
    all_: Annotated[bool, typer.Option("--all", help="All recordings that there are here.")] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on for as long as something is being recorded.")
    ] = False,
    status: Annotated[bool, typer.Option("--status", help="Say what waits, and why. Sends nothing.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Send recordings to the server that REENACT_SERVER names.

    With REENACT_SERVER (and REENACT_API_KEY) set, each recording is sent as it is made, by a process apart; while the
    server is away they wait. This sends what waits now, and ends when all of it is there: before a container goes
    away, say. The exit status is 1 if something is not there.

    [bold]reenact ship[/bold]             what waits

    [bold]reenact ship 3k9 last[/bold]    these, too
    """
    store = LocalStore(home)
    to = shipping.Destination.of(os.environ)
    if status:
        _status(store, to, json=json)
        return
    if to is None:
        raise UsageError("which server? Set REENACT_SERVER=http://127.0.0.1:8090, and REENACT_API_KEY")
    _mark(store, to, store.ids() if all_ else refs or [])
    _send(store, to, follow=follow, json=json)


def _mark(store: LocalStore, to: shipping.Destination, refs: Sequence[str]) -> None:
    queue = shipping.Queue(store.root)
    known = {mark.id for mark in queue.marks() if mark.server == to.server}
    for ref in refs:
        path = store.find(ref)
        if path.parent != store.recordings:
            raise UsageError(f"{path} lies outside of {store.root}: `reenact import {path}` brings it there")
        if path.name not in known:
            queue.add(shipping.Mark(path.name, to.server, to.name)).release()


def _send(store: LocalStore, to: shipping.Destination, *, follow: bool, json: bool) -> None:
    from reenact.team.ship.sender import Away  # noqa: PLC0415 - an HTTP client that no other command needs
    from reenact.team.ship.shipper import Shipper  # noqa: PLC0415 - as above

    # By hand, this key sends all recordings for the server, also those recorded with another one.
    shipper = Shipper(store, to, chosen=lambda mark: mark.server == to.server)
    trouble = ""
    try:
        if follow:
            shipper.run()
        else:
            shipper.flush()
    except Away as away:
        trouble = str(away)
    finally:
        shipper.close()
    left = {mark.id for mark in shipping.Queue(store.root).marks() if mark.server == to.server}
    if json:
        told = {
            "server": to.server,
            "sent": shipper.finished,
            "waiting": sorted(left),
            "stuck": shipper.stuck,
        }
        present.dump({**told, "dropped": shipper.dropped, "trouble": trouble})
    else:
        for id, why in shipper.stuck.items():
            present.say(f"reenact: {id}: {why}")
        told_of = present.many(len(shipper.finished), "recording")
        present.say(
            f"reenact: {told_of} sent to {to.server}" + (f"; {len(left)} not all there" if left else "")
        )
        if trouble:
            present.say(f"reenact: {trouble}")
    raise SystemExit(_WAITS if left or trouble else _THERE)


def _status(store: LocalStore, to: shipping.Destination | None, *, json: bool) -> None:
    from reenact.team.ship.waiting import waiting  # noqa: PLC0415 - as above

    found, trouble = waiting(store, to)
    if json:
        listed = [{name: getattr(one, name) for name in one.__slots__} for one in found]
        present.dump({"server": to.server if to else "", "trouble": trouble, "waiting": listed})
        return
    if trouble:
        present.say(f"reenact: {trouble}")
    if not found:
        present.say("reenact: nothing waits to be sent")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("recording", "to", "missing", ""):
        table.add_column(title, justify="right" if title == "missing" else "left")
    for one in found:
        how = one.why or ("being recorded" if one.live else "waits")
        cells = (one.id, one.server, present.size(one.missing), how)
        table.add_row(*(Text(present.visible(cell)) for cell in cells))
    present.show(table)
