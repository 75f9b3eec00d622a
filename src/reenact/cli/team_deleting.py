"""`reenact team rm`, `hold`, `receipts` and `readmit`: delete recordings, and hold them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from reenact.analysis.views.text import many, size
from reenact.cli.click_commands import CliGroup
from reenact.cli.context import TerminalContext
from reenact.cli.derive import GroupCommand, group_of
from reenact.cli.printing import dump, say
from reenact.errors import RecordingNotFound, UsageError
from reenact.team.open import place_of, team_store
from reenact.verbs import marks
from reenact.verbs.fields import Field
from reenact.verbs.marks import Cli
from reenact.verbs.push import TeamOptions

if TYPE_CHECKING:
    from reenact.team.store import TeamStore

_SECOND = 1_000_000_000

Filter = Annotated[
    str, Field("'tag:case-17', 'name:billing* and error' …"), Cli(argument=True, metavar="FILTER")
]


class EraseOptions(TeamOptions):
    """Delete recordings of the team's store for good, and print a receipt for each.

    Copies elsewhere stay, and cannot be pushed again. If one of them is under a hold, none is deleted.

    [bold]reenact team rm k3v9 --why "asked for by the customer"[/bold]
    """

    common: ClassVar = (marks.JSON,)

    refs: Annotated[
        tuple[str, ...],
        Field("Ids, or the first characters of ids."),
        Cli(argument=True, metavar="ID...", required=True),
    ]
    why: Annotated[str, Field("The reason, shown in receipts and refusals."), marks.NEVER] = "removed"


class ReceiptsOptions(TeamOptions):
    """Show the receipts of deletions, the oldest first: time, reason, user and digests.

    Each is checked against the project's key. Exit status 1: one is not signed, or was changed or forged.
    """

    common: ClassVar = (marks.JSON,)

    refs: Annotated[
        tuple[str, ...], Field("Whole ids: only their receipts."), Cli(argument=True, metavar="[ID]...")
    ] = ()


class ReadmitOptions(TeamOptions):
    """Remove the tombstone of a recording deleted by mistake, so that it can be pushed again."""

    common: ClassVar = ()

    id: Annotated[
        str, Field("The whole id of a recording that was deleted."), Cli(argument=True, metavar="ID")
    ]


class HoldOptions(TeamOptions):
    """Protect all recordings that match a filter, also future ones, from retention and deletion."""

    common: ClassVar = ()

    filter: Filter
    why: Annotated[str, Field("The reason, shown in receipts and refusals."), marks.NEVER] = ""


class ReleaseOptions(TeamOptions):
    """Remove a hold, given by its exact filter."""

    common: ClassVar = ()

    filter: Filter


class HoldsOptions(TeamOptions):
    """Show the holds."""

    common: ClassVar = (marks.JSON,)


def holds() -> CliGroup:
    """Return the commands of `hold`."""
    about = "Holds: recordings that match one of these filters cannot be deleted."
    parts = (
        GroupCommand("add", HoldOptions, hold_add),
        GroupCommand("remove", ReleaseOptions, hold_remove),
        GroupCommand("list", HoldsOptions, hold_list),
    )
    return group_of("hold", about, parts)


@contextmanager
def _team(options: TeamOptions) -> Iterator[TeamStore]:
    with team_store(place_of(options.store, options.objects, options.project)) as team:
        yield team


def rm(options: EraseOptions, context: TerminalContext) -> None:
    """Delete recordings, and print the receipts."""
    with _team(options) as team:
        ids = list(dict.fromkeys(team.named(ref) for ref in options.refs))
        made = team.erase(ids, why=options.why)
    if context.json:
        dump(made)
        return
    for receipt in made:
        _print(receipt, "deleted")


def receipts(options: ReceiptsOptions, context: TerminalContext) -> None:
    """Print receipts. Raises RecordingNotFound, or SystemExit if one cannot be trusted."""
    with _team(options) as team:
        found = team.receipts(list(options.refs) or None)
        problems = team.distrusted(found)
    if missing := set(options.refs) - {receipt["id"] for receipt in found}:
        raise RecordingNotFound(f"there is no receipt of {', '.join(sorted(missing))}")
    if context.json:
        dump(found)
    else:
        for receipt in found:
            _print(receipt, receipt["deleted"])
    for id, why in problems.items():
        say(f"reenact: the receipt of {id} is not to be trusted: {why}")
    if problems:
        raise SystemExit(1)


def readmit(options: ReadmitOptions, _context: TerminalContext) -> None:
    """Remove a tombstone. Raises RecordingNotFound."""
    with _team(options) as team:
        if not team.readmit(options.id):
            raise RecordingNotFound(f"{options.id} has no tombstone in {team.place}")
    say(f"reenact: {options.id} is taken again")


def hold_add(options: HoldOptions, _context: TerminalContext) -> None:
    """Add a hold. Raises UsageError without a reason."""
    if not options.why.strip():
        raise UsageError("say why it is held: --why 'case 17'")
    with _team(options) as team:
        team.hold(options.filter, options.why)
        say(f"reenact: what '{options.filter}' means is held in {team.place}")


def hold_remove(options: ReleaseOptions, _context: TerminalContext) -> None:
    """Remove a hold. Raises UsageError if there is none."""
    filter = options.filter
    with _team(options) as team:
        if not team.release(filter):
            there = team.database.place.options()
            raise UsageError(
                f"there is no hold '{filter}'; `reenact team hold list{there}` shows those there are"
            )
    say(f"reenact: '{filter}' is held no longer")


def hold_list(options: HoldsOptions, context: TerminalContext) -> None:
    """Print the holds."""
    with _team(options) as team:
        found = team.holds()
    if context.json:
        dump([{**asdict(one), "at": _day(one.at)} for one in found])
        return
    for one in found:
        say(f"'{one.filter}': {one.why} (by {one.who}, {_day(one.at)[:10]})")
    if not found:
        say("reenact: nothing is held")


PARTS = (
    GroupCommand("rm", EraseOptions, rm),
    GroupCommand("receipts", ReceiptsOptions, receipts),
    GroupCommand("readmit", ReadmitOptions, readmit),
)


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / _SECOND, UTC).isoformat(timespec="seconds")


def _print(receipt: dict[str, Any], word: str) -> None:
    total = sum(file["bytes"] for file in receipt["files"].values())
    blobs = receipt["blobs"]
    say(
        f"{word} {receipt['id']} ({receipt['name'] or '-'}): {size(total)} of lines, "
        f"{blobs.get('deleted', 0)} of {many(blobs['named'], 'blob')}; {receipt['why']}, by {receipt['who']}"
    )
