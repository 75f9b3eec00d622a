"""Output on a terminal and in a pipe: consoles, tables, times, numbers, escaped text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from reenact.analysis.views.terminal import Terminal
from reenact.analysis.views.text import WIDE
from reenact.cli import recordings
from reenact.core.query.summary import Summary
from reenact.core.store.base import Progress as Report

_TEXTS = {"agent": 9, "prompt": 16, "outcome": 16, "model": 9, "tags": 9, "found in": 9}
"""The columns that are narrowed to fit, with the least width of each."""

_LEFT_OUT = ("tags", "model", "time", "tokens", "cost", "when", "proved", "prompt")
"""The columns that a narrow terminal leaves out, in this order."""


def out() -> Console:
    """Return the console of standard output: as wide as the terminal, unbounded in a pipe."""
    return Terminal(
        width=None if sys.stdout.isatty() else WIDE,
        highlight=False,
        soft_wrap=not sys.stdout.isatty(),
    )


def show(table: Table, console: Console | None = None) -> None:
    """Print a table on standard output, without the spaces that fill its last column."""
    console = console or out()
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as capture:
        console.print(table)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


def table(*titles: str) -> Table:
    """Return a table without rows; `>` in front of a title aligns its column to the right."""
    made = Table(box=None, pad_edge=False, header_style="dim")
    for title in titles:
        made.add_column(title.removeprefix(">"), justify="right" if title.startswith(">") else "left")
    return made


def err() -> Console:
    """Return the console of standard error."""
    return Terminal(stderr=True, highlight=False, soft_wrap=True)


# -- the list ------------------------------------------------------------------------------------------------


def listed(columns: list[recordings.Column], width: int) -> Table:
    """Return the table of recordings; a narrow one has fewer columns."""
    shown = [(title, right, [Text.assemble(*cell) for cell in cells]) for title, right, cells in columns]
    gap = 2 if width >= 100 else 1
    widths = _widths(shown, width, gap)
    for least in _LEFT_OUT:
        if sum(widths) + gap * (len(widths) - 1) > width:
            shown = [column for column in shown if column[0] != least]
            widths = _widths(shown, width, gap)
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="dim")
    for (title, right, _), wide in zip(shown, widths, strict=True):
        justify: JustifyMethod = "right" if right else "left"
        table.add_column(
            title, justify=justify, no_wrap=True, overflow="ellipsis", min_width=wide, max_width=wide
        )
    for row in zip(*(cells for _, _, cells in shown), strict=True):
        table.add_row(*row)
    return table


def _widths(columns: list[tuple[str, bool, list[Text]]], width: int, gap: int) -> list[int]:
    """Return the widths of columns: numbers in full, the widest texts narrowed first."""
    widths = [max(len(title), *(cell.cell_len for cell in cells)) for title, _, cells in columns]
    least = {place: _TEXTS[title] for place, (title, _, _) in enumerate(columns) if title in _TEXTS}
    while sum(widths) + gap * (len(widths) - 1) > width:
        texts = [place for place, few in least.items() if widths[place] > few]
        if not texts:
            break
        widths[max(texts, key=lambda place: widths[place])] -= 1
    return widths


def status(line: Summary) -> Text:
    """Return the status of a run, in its colour."""
    return Text(*recordings.status(line))


@contextmanager
def progress(what: str) -> Iterator[Report]:
    """Show a progress bar on standard error, if it is a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415 - few commands

    console = err()
    with Progress(
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = None

        def report(done: int, total: int) -> None:
            nonlocal task
            if task is None:
                task = bar.add_task(what, total=total)
            bar.update(task, completed=done, total=total)

        yield report
