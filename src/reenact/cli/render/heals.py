"""The output of `reenact heals`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from reenact.analysis.views.text import ago, many, one_line, seconds
from reenact.browser.page.target import written_identity
from reenact.cli import present
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.verbs.heals import Options, Result

if TYPE_CHECKING:
    from reenact.browser.heal.heal_record import HealRecord
    from reenact.browser.heal.statistics import RecordedHeal, StepStatistics

_STATE = {"mended": "green", "verified": "green", "unverified": "yellow", "failed": "red"}


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Print the patch, or the heals as a table."""
    if options.patch is not None:
        _tell_patch(result, options.patch)
        return
    if result.heals and not context.json:
        present.show(_runs(result.heals[::-1]) if options.runs else _table(result.stories))
    if not result.heals:
        where = "" if options.script is None else f" of {options.script}"
        say(f"no step{where} needed help{' there' if ' '.join(options.filter).strip() else ''}")


def _tell_patch(result: Result, script: Path) -> None:
    made = result.patch
    assert made is not None
    if result.written:
        for line in made.remarks:
            say(line)
        say(f"{many(len(made.changed), 'selector')} changed in {script}; {result.written}")
        return
    sys.stdout.write(made.text())
    if not made.changed:
        say(f"nothing to change in {script}: {many(len(result.heals), 'heal')} of it recorded")


def _table(found: Sequence[StepStatistics]) -> Table:
    rows = []
    for story in found:
        heal = story.last.heal
        state = f"mended, {many(story.since, 'run')} since" if story.since else story.state
        by = ", ".join(rung if count == 1 else f"{rung} {count}" for rung, count in story.rungs.items())
        rows.append(
            [
                _place(heal),
                Text(f"{heal.action} ") + _selector(heal.old),
                Text("" if story.runs is None else str(story.runs)),
                Text(str(story.helped)),
                Text(by, "cyan"),
                Text(ago(story.last.started), "dim"),
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
                Text(ago(one.started), "dim"),
                Text(f"{one.recording[:12]} {one.step}", "yellow"),
                _place(heal),
                Text(f"{heal.action} ") + _selector(heal.old),
                Text(heal.rung, "cyan"),
                _selector(heal.new),
                Text(_element(heal)),
                Text(seconds(heal.seconds), "dim"),
                Text(one_line(by, 60), "" if heal.verified else "yellow" if heal.healed else "red"),
            ]
        )
    return _laid_out(
        ("when", "recording", "step", "action", "by", "now", "element", ">time", "verified by"), rows
    )


_YIELDING = ("action", "now", "element", "verified by")
"""Columns that are narrowed to fit."""


def _laid_out(titles: Sequence[str], rows: Sequence[Sequence[Text]]) -> Table:
    """Return a table; the cells below a title that begins with `>` are aligned to the right."""
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
    return Text(one_line(f"{Path(heal.file).name}:{heal.line}" if heal.file else "?"))


def _element(heal: HealRecord) -> str:
    """Describe the intended element, or the one that was acted on."""
    if meant := heal.before.get("meant"):
        return one_line(str(meant), 60)
    parts = heal.after.get("identity") or {}
    return one_line(str(written_identity(parts)), 60) if parts else ""


def _selector(selector: Any) -> Text:
    first = next(iter(selector.values()), "") if isinstance(selector, dict) else selector
    return Text(one_line(str(first or ""), 48))
