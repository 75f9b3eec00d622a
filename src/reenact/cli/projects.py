"""`reenact team`: list the projects of a team's store, set limits, clean up."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from typing import Annotated, Any, ClassVar

from reenact.analysis.views.text import many, size
from reenact.cli import present, sizes, team_backup, team_deleting
from reenact.cli.click_commands import CliGroup
from reenact.cli.context import TerminalContext
from reenact.cli.derive import GroupCommand, group_of
from reenact.cli.interfaces import GROUPS
from reenact.cli.printing import dump, say
from reenact.errors import UsageError
from reenact.team.location import TeamPlace
from reenact.team.open import place_of, team_store
from reenact.verbs import marks
from reenact.verbs.fields import Field
from reenact.verbs.marks import Cli
from reenact.verbs.push import StoreOptions

_AGE = re.compile(r"(\d+)\s*([hdwy])")
_AGES = {"h": 3600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}
_NONE = "none"
_LONGEST = 100  # characters of a limit

Named = Annotated[
    str, Field("The project; by default $REENACT_PROJECT."), Cli(argument=True, metavar="[PROJECT]")
]


class ProjectsOptions(StoreOptions):
    """List the projects with their use and their limits."""

    common: ClassVar = (marks.JSON,)


class LimitsOptions(StoreOptions):
    """Set the limits and the retention of a project; without options, show them.

    An upload beyond a limit is refused: the sender keeps it, and tries again later.

    Recordings whose retention is over are deleted by [bold]reenact team clean[/bold].

    [bold]reenact team limits support --keep 90d --most 200GB --recordings 1000000[/bold]
    """

    common: ClassVar = (marks.JSON,)

    project: Named = ""
    keep: Annotated[
        str,
        Field("Delete recordings this long after they were last written to: 90d, 1y, none."),
        Cli(metavar="TIME"),
        marks.NEVER,
    ] = ""
    most: Annotated[
        str, Field("Limit of the project's bytes: 200GB, none."), Cli(metavar="SIZE"), marks.NEVER
    ] = ""
    recordings: Annotated[
        str, Field("Limit of its recordings: 1000000, none."), Cli(metavar="NUMBER"), marks.NEVER
    ] = ""


class CleanOptions(StoreOptions):
    """Delete recordings whose retention is over, and large values that belong to no recording.

    The clock of the store's database decides. Recordings tagged [bold]keep[/bold] or under a hold are kept.

    Deleted recordings cannot be uploaded again. Run it once a day; others may use the store meanwhile.

    [bold]reenact team clean support --dry-run[/bold]
    """

    common: ClassVar = (marks.JSON,)

    project: Named = ""
    dry_run: Annotated[bool, Field("Show what would be deleted, and delete nothing."), marks.NEVER] = False


def group() -> CliGroup:
    """Return the commands."""
    parts = (
        GroupCommand("projects", ProjectsOptions, projects_),
        GroupCommand("limits", LimitsOptions, limits_),
        GroupCommand("clean", CleanOptions, clean),
        *team_deleting.PARTS,
        *team_backup.PARTS,
    )
    made = group_of("team", GROUPS["team"][1], parts)
    made.add_command(team_deleting.holds())
    return made


def projects_(options: ProjectsOptions, context: TerminalContext) -> None:
    """Print the projects."""
    _print(_projects(place_of(options.store, options.objects)), json=context.json)


def limits_(options: LimitsOptions, context: TerminalContext) -> None:
    """Set limits if any is given, and print them."""
    place = place_of(options.store, options.objects, options.project)
    given = {
        "keep": _parsed("--keep", options.keep, _age, "90d, 12h or 1y"),
        "most_bytes": _parsed("--most", options.most, sizes.parsed, "200GB or 500MB"),
        "most_recordings": _parsed("--recordings", options.recordings, _count, "1000000"),
    }
    changed = {name: value for name, (value, said) in given.items() if said}
    if changed:
        from reenact.team import limits  # noqa: PLC0415 - drivers that no other command needs

        with team_store(place) as team, team.database.administered() as connection:
            (one,) = limits.projects(connection, place.project)
            limits.limit(connection, one.key, replace(one.limits, **changed))
    _print(_projects(place, place.project), json=context.json)


def clean(options: CleanOptions, context: TerminalContext) -> None:
    """Delete expired recordings and unused blobs, and print how many."""
    dry_run = options.dry_run
    place = place_of(options.store, options.objects, options.project)
    with team_store(place) as team:
        from reenact.team import cleaning, limits  # noqa: PLC0415 - as above

        with team.database.administered() as connection:
            (one,) = limits.projects(connection, place.project)
        with present.progress("cleaning") as report:
            done = cleaning.Cleaner(team).clean(one.limits.keep, dry=dry_run, progress=report)
    if context.json:
        dump({"project": one.name, "dry_run": dry_run, **asdict(done)})
        return
    verb = "would delete" if dry_run else "deleted"
    for id in done.ids if dry_run else ():
        say(f"{verb} {id}")
    kept = f"; {many(done.kept, 'old recording')} tagged keep stay" if done.kept else ""
    loose = f" and {many(len(done.blobs), 'blob')} of no recording" if done.blobs else ""
    if one.limits.keep is None:
        there = place.options(project=False)
        kept = f"; {one.name} keeps recordings for ever (`reenact team limits {one.name} --keep 90d{there}`)"
    kept += f"; {many(done.held, 'old recording')} held stay" if done.held else ""
    room = f" ({size(done.bytes)} of lines)" if done.ids else ""
    say(f"{verb} {many(len(done.ids), 'recording')}{room}{loose}{kept}")


def _projects(place: TeamPlace, name: str = "") -> list[Any]:
    with team_store(place) as team:
        from reenact.team import limits  # noqa: PLC0415 - as above

        with team.database.administered() as connection:
            return limits.projects(connection, name)


def _print(found: list[Any], *, json: bool) -> None:
    if json:
        told = [{name: value for name, value in asdict(one).items() if name != "key"} for one in found]
        dump(told)
        return
    table = present.table("project", ">recordings", ">at most", ">size", ">at most", ">kept for")
    for one in found:
        limits = one.limits
        table.add_row(
            one.name,
            f"{one.recordings:,}",
            "-" if limits.most_recordings is None else f"{limits.most_recordings:,}",
            size(one.bytes),
            "-" if limits.most_bytes is None else size(limits.most_bytes),
            "ever" if limits.keep is None else _age_text(limits.keep),
        )
    present.out().print(table)


def _parsed(option: str, text: str, read: Any, such: str) -> tuple[int | None, bool]:
    """Return a limit, and True if it was given."""
    if not text or text == _NONE:
        return None, bool(text)
    value = read(text.strip()) if len(text) <= _LONGEST else None
    if value is None or value > sizes.LARGEST:
        raise UsageError(f"{option} {text}: such as {such}, or none")
    return value, True


def _age(text: str) -> int | None:
    match = _AGE.fullmatch(text)
    return int(match[1]) * _AGES[match[2]] if match else None


def _count(text: str) -> int | None:
    return int(text.replace("_", "")) if text.replace("_", "").isdecimal() else None


def _age_text(seconds: int) -> str:
    return f"{seconds // 86_400}d" if seconds % 86_400 == 0 else f"{seconds // 3600}h"
