"""`reenact heals`: list the heals of all recordings, and make patches from them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from reenact.cli import present
from reenact.cli.context import opened
from reenact.cli.options import Home, Json, Team
from reenact.core.query.filter import Filter
from reenact.errors import UsageError

if TYPE_CHECKING:
    from reenact.browser.heal.record import HealRecord
    from reenact.browser.heal.statistics import RecordedHeal, StepStatistics

_STATE = {"mended": "green", "verified": "green", "unverified": "yellow", "failed": "red"}


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(heals)


def heals(
    filter: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILTER]", help="Only recordings that it means.", show_default=False),
    ] = None,
    *,
    script: Annotated[
        Path | None,
        typer.Option(metavar="SCRIPT", help="Only the steps of this script.", show_default=False),
    ] = None,
    patch: Annotated[
        Path | None,
        typer.Option(metavar="SCRIPT", help="What was learned as a diff of this script.", show_default=False),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="With --patch: change the script, unless it has changes of yours.")
    ] = False,
    runs: Annotated[bool, typer.Option("--runs", help="Each heal by itself, the newest first.")] = False,
    home: Home = None,
    team: Team = False,
    json: Json = False,
) -> None:
    """List the steps of scripts that needed help, and how it went.

    Of each step in how many runs it ran, in how many it needed help, which rung of the ladder helped, when it did
    last, and whether it was verified. A step that runs with what was learned counts as mended.
    """
    if patch is not None and (json or runs or script is not None):
        raise UsageError("--patch prints a diff, and goes with no --script, --runs or --json")
    if write and patch is None:
        raise UsageError("--write goes with --patch SCRIPT")
    wanted = Filter(" ".join(filter or ()))
    statistics, told = _part("statistics"), _part("view")
    with opened(home, team=team) as (_, index):
        with present.progress("reading new recordings") as report:
            found = statistics.heals(index, wanted, report)
        chosen = script or patch
        own = found if chosen is None else statistics.of_script(found, chosen)
        if patch is not None:
            _patch(patch, own, write=write)
            return
        if runs:
            newest = list(reversed(own))
            _tell(newest, [told.recorded(one) for one in newest] if json else None, _runs)
        else:
            stories = statistics.stories(index, own)
            _tell(stories, [told.story(one) for one in stories] if json else None, _table)
    if not own:
        where = "" if chosen is None else f" of {chosen}"
        present.say(f"no step{where} needed help{' there' if wanted.text.strip() else ''}")


def _part(name: str) -> Any:
    try:
        return importlib.import_module(f"reenact.browser.heal.{name}")
    except ModuleNotFoundError as error:
        raise UsageError(
            f"browser sessions need more ({error.name}): pip install 'reenact[browser]'"
        ) from None


def _tell(found: Sequence[Any], data: list[Any] | None, table: Any) -> None:
    if data is not None:
        present.dump(data)
    elif found:
        present.show(table(found))


# -- as a patch --------------------------------------------------------------------------------------------------


def _patch(script: Path, own: Sequence[RecordedHeal], *, write: bool) -> None:
    try:
        data = script.read_bytes()
    except OSError as error:
        raise UsageError(f"{script}: {error.strerror}") from None
    patching = _part("patch")
    made = patching.patched(script, data, [one.heal for one in own])
    if write and made.changed:
        for line in made.remarks:
            present.say(line)
        said = patching.write(made)
        present.say(f"{present.many(len(made.changed), 'selector')} changed in {script}; {said}")
        return
    sys.stdout.write(made.text())
    if not made.changed:
        present.say(f"nothing to change in {script}: {present.many(len(own), 'heal')} of it recorded")


# -- as tables ---------------------------------------------------------------------------------------------------


def _table(found: Sequence[StepStatistics]) -> Table:
    rows = []
    for story in found:
        heal = story.last.heal
        state = f"mended, {present.many(story.since, 'run')} since" if story.since else story.state
        by = ", ".join(rung if count == 1 else f"{rung} {count}" for rung, count in story.rungs.items())
        rows.append(
            [
                _place(heal),
                Text(f"{heal.action} ") + _selector(heal.old),
                Text("" if story.runs is None else str(story.runs)),
                Text(str(story.helped)),
                Text(by, "cyan"),
                Text(present.ago(story.last.started), "dim"),
                Text(f"{story.last.recording[:12]} {story.last.step}", "yellow"),
                Text(state, _STATE[story.state]),
            ]
        )
    return _laid_out(("step", "action", ">ran", ">helped", "by", ">last", "recording", "state"), rows)


def _runs(found: Sequence[RecordedHeal]) -> Table:
    rows = []
    for one in found:
        heal = one.heal
        by = heal.verified_by if heal.verified else "unverified" if heal.healed else "failed"
        rows.append(
            [
                Text(present.ago(one.started), "dim"),
                Text(f"{one.recording[:12]} {one.step}", "yellow"),
                _place(heal),
                Text(f"{heal.action} ") + _selector(heal.old),
                Text(heal.rung, "cyan"),
                _selector(heal.new),
                Text(present.seconds(heal.seconds), "dim"),
                Text(present.one_line(by, 60), "" if heal.verified else "yellow" if heal.healed else "red"),
            ]
        )
    return _laid_out(("when", "recording", "step", "action", "by", "now", ">time", "verified by"), rows)


_YIELDING = ("action", "now", "verified by")
"""Columns that give way where it is narrow."""


def _laid_out(titles: Sequence[str], rows: Sequence[Sequence[Text]]) -> Table:
    """A table; a title with `>` in front has its cells to the right."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for title, cells in zip(titles, zip(*rows, strict=True), strict=True):
        name = title.removeprefix(">")
        least = None if name in _YIELDING else max(len(name), *(cell.cell_len for cell in cells))
        right = title.startswith(">")
        table.add_column(name, justify="right" if right else "left", no_wrap=True, min_width=least)
    for row in rows:
        table.add_row(*row)
    return table


def _place(heal: HealRecord) -> Text:
    return Text(present.one_line(f"{Path(heal.file).name}:{heal.line}" if heal.file else "?"))


def _selector(selector: Any) -> Text:
    first = next(iter(selector.values()), "") if isinstance(selector, dict) else selector
    return Text(present.one_line(str(first or ""), 48))
