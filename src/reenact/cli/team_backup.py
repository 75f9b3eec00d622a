"""`reenact team backup` and `restore`: back up a team's store, and restore it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from reenact.cli import present
from reenact.cli.options import Json, Objects, Store
from reenact.core.extras import needing
from reenact.errors import UsageError
from reenact.team.open import place_of

if TYPE_CHECKING:
    from reenact.team.backup import Kept

_DONE, _NOT_ALL = 0, 1

Where = Annotated[
    str,
    typer.Argument(
        metavar="URL", help="s3://bucket/prefix, gs://…, az://…, or a folder.", show_default=False
    ),
]
Tools = Annotated[
    Path | None,
    typer.Option(
        help="The folder of pg_dump and pg_restore; by default they are searched for.", show_default=False
    ),
]


def add(group: typer.Typer) -> None:
    """Add the commands to the group `team`."""
    group.command()(backup)
    group.command()(restore)


def backup(
    where: Where, *, store: Store = "", objects: Objects = "", tools: Tools = None, json: Json = False
) -> None:
    """Back up all projects of the team's store while it is in use.

    [bold]reenact team backup s3://backups/reenact[/bold]
    """
    found = _verbs().backup(place_of(store, objects), _url(where), tools=tools, say=_say)
    _tell(found, f"put aside in {where} as {found.name}", json=json)


def restore(
    where: Where,
    *,
    name: Annotated[
        str, typer.Option("--from", help="The name of the backup; by default the newest.", show_default=False)
    ] = "",
    store: Store = "",
    objects: Objects = "",
    tools: Tools = None,
    json: Json = False,
) -> None:
    """Restore a backup of `reenact team backup` into an empty Postgres.

    [bold]reenact team restore s3://backups/reenact[/bold]
    """
    found = _verbs().restore(place_of(store, objects), _url(where), name=name, tools=tools, say=_say)
    _tell(found, f"restored from {where}, {found.name}", json=json)


def _verbs() -> ModuleType:
    with needing("team", "reenact team"):
        from reenact.team import backup as verbs  # noqa: PLC0415 - drivers that no other command needs
    return verbs


def _url(where: str) -> str:
    if "://" in where:
        return where
    if not where.strip():
        raise UsageError("where to? s3://bucket/prefix, or a folder")
    return Path(where).absolute().as_uri()


def _say(what: str) -> None:
    present.say(f"reenact: {what} …")


def _tell(found: Kept, how: str, *, json: bool) -> None:
    if json:
        present.dump(asdict(found))
    else:
        present.say(
            f"reenact: {how}: {present.many(found.recordings, 'recording')}, a dump of {present.size(found.bytes)}, "
            f"{present.many(found.blobs, 'blob')}, {found.copied} of them new ({present.size(found.copied_bytes)})"
        )
        if found.deleted:
            many = present.many(len(found.deleted), "recording")
            present.say(f"reenact: {many} deleted after the backup was made: left out")
        for one in found.missing[:10]:
            present.say(f"reenact: {one} is missing, or damaged")
        if len(found.missing) > 10:
            present.say(f"reenact: {len(found.missing) - 10} more are missing")
    raise SystemExit(_NOT_ALL if found.missing else _DONE)
