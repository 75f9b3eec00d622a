"""`reenact team backup` and `restore`: back up a team's store, and restore it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, ClassVar

from reenact.analysis.views.text import many, size
from reenact.cli.context import TerminalContext
from reenact.cli.derive import GroupCommand
from reenact.cli.printing import dump, say
from reenact.core.extras import needing
from reenact.errors import UsageError
from reenact.team.open import place_of
from reenact.verbs import marks
from reenact.verbs.fields import Field
from reenact.verbs.marks import Cli
from reenact.verbs.push import StoreOptions

if TYPE_CHECKING:
    from reenact.team.backup import BackupResult

_DONE, _NOT_ALL = 0, 1

Where = Annotated[
    str, Field("s3://bucket/prefix, gs://…, az://…, or a folder."), Cli(argument=True, metavar="URL")
]
Tools = Annotated[
    Path | None,
    Field("The folder of pg_dump and pg_restore; by default they are searched for."),
    marks.NEVER,
]


class BackupOptions(StoreOptions):
    """Back up all projects of the team's store while it is in use.

    [bold]reenact team backup s3://backups/reenact[/bold]
    """

    common: ClassVar = (marks.JSON,)

    where: Where
    tools: Tools = None


class RestoreOptions(StoreOptions):
    """Restore a backup of `reenact team backup` into an empty Postgres.

    [bold]reenact team restore s3://backups/reenact[/bold]
    """

    common: ClassVar = (marks.JSON,)

    where: Where
    name: Annotated[
        str,
        Field("The name of the backup; by default the newest."),
        Cli(names=("--from",)),
        marks.NEVER,
    ] = ""
    tools: Tools = None


def backup(options: BackupOptions, context: TerminalContext) -> None:
    """Back up the store, and print the amounts."""
    place = place_of(options.store, options.objects)
    found = _verbs().backup(place, _url(options.where), tools=options.tools, say=_say)
    _print(found, f"put aside in {options.where} as {found.name}", json=context.json)


def restore(options: RestoreOptions, context: TerminalContext) -> None:
    """Restore a backup, and print the amounts."""
    place = place_of(options.store, options.objects)
    url = _url(options.where)
    found = _verbs().restore(place, url, name=options.name, tools=options.tools, say=_say)
    _print(found, f"restored from {options.where}, {found.name}", json=context.json)


PARTS = (GroupCommand("backup", BackupOptions, backup), GroupCommand("restore", RestoreOptions, restore))


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
    say(f"reenact: {what} …")


def _print(found: BackupResult, how: str, *, json: bool) -> None:
    if json:
        dump(asdict(found))
    else:
        say(
            f"reenact: {how}: {many(found.recordings, 'recording')}, a dump of {size(found.bytes)}, "
            f"{many(found.blobs, 'blob')}, {found.copied} of them new ({size(found.copied_bytes)})"
        )
        if found.deleted:
            deleted = many(len(found.deleted), "recording")
            say(f"reenact: {deleted} deleted after the backup was made: left out")
        for one in found.missing[:10]:
            say(f"reenact: {one} is missing, or damaged")
        if len(found.missing) > 10:
            say(f"reenact: {len(found.missing) - 10} more are missing")
    raise SystemExit(_NOT_ALL if found.missing else _DONE)
