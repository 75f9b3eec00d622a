"""Output on a terminal and in a pipe: consoles, tables, progress, the list of recordings."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from reenact.analysis.views.terminal import Terminal
from reenact.analysis.views.text import (
    ago,
    count,
    marks,
    money,
    numbers,
    one_line,
    seconds,
    visible,
)
from reenact.core.query.summary import Summary
from reenact.core.store.base import Progress as Report
from reenact.core.trust import Book
from reenact.core.trust.proofs import Proof

WIDE = 10_000
"""The width of a pipe: nothing is wrapped or cut for a terminal that is not there."""

Column = tuple[str, bool, list[Text]]
"""A title, whether its cells stand to the right, and its cells."""

_TEXTS = {"agent": 9, "prompt": 16, "outcome": 16, "model": 9, "tags": 9, "found in": 9}
"""The columns that are reduced to fit, with the least width of each."""

_LEFT_OUT = ("tags", "model", "time", "tokens", "cost", "when", "proved", "prompt")
"""The columns that a narrow terminal has no room for, the first to be left out first."""

_PIPED = 60
"""Maximum characters of a prompt and an outcome in a pipe; `--json` has them in full."""

_STATUS = {"ok": "green", "error": "red", "stopped": "yellow", "unsealed": "yellow", "broken": "bold red"}


def out() -> Console:
    """Return the console of standard output: as wide as the terminal, unbounded in a pipe."""
    return Terminal(
        width=None if sys.stdout.isatty() else WIDE, highlight=False, soft_wrap=not sys.stdout.isatty()
    )


def show(table: Table, console: Console | None = None) -> None:
    """A table on standard output, without the spaces that fill its last column."""
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


def short_lengths(ids: list[str]) -> dict[str, int]:
    """Return the number of letters of each id that identify it."""
    lengths = {}
    ordered = sorted(ids)
    for place, id in enumerate(ordered):
        beside = [ordered[other] for other in (place - 1, place + 1) if 0 <= other < len(ordered)]
        shared = max((_shared(id, other) for other in beside), default=0)
        lengths[id] = min(max(shared + 1, 3), len(id))
    return lengths


def listed(
    lines: list[Summary],
    all_ids: list[str],
    steps: dict[str, tuple[int, ...]],
    width: int,
    *,
    book: Book | None = None,
    proofs: Mapping[str, Proof] = MappingProxyType({}),
) -> Table:
    """Return the table of recordings, without empty columns; a narrow one has fewer columns."""
    columns = [
        column
        for column in _columns(
            lines, steps, short_lengths(all_ids), book, proofs, longest=_PIPED if width >= WIDE else 0
        )
        if any(cell.plain for cell in column[2])
    ]
    gap = 2 if width >= 100 else 1
    widths = _widths(columns, width, gap)
    for least in _LEFT_OUT:
        if sum(widths) + gap * (len(widths) - 1) > width:
            columns = [column for column in columns if column[0] != least]
            widths = _widths(columns, width, gap)
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="dim")
    for (title, right, _), wide in zip(columns, widths, strict=True):
        justify: JustifyMethod = "right" if right else "left"
        table.add_column(
            title, justify=justify, no_wrap=True, overflow="ellipsis", min_width=wide, max_width=wide
        )
    for row in zip(*(cells for _, _, cells in columns), strict=True):
        table.add_row(*row)
    return table


def _widths(columns: list[Column], width: int, gap: int) -> list[int]:
    """Return the widths of columns: numbers in full, the widest texts reduced first."""
    widths = [max(len(title), *(cell.cell_len for cell in cells)) for title, _, cells in columns]
    least = {place: _TEXTS[title] for place, (title, _, _) in enumerate(columns) if title in _TEXTS}
    while sum(widths) + gap * (len(widths) - 1) > width:
        texts = [place for place, few in least.items() if widths[place] > few]
        if not texts:
            break
        widths[max(texts, key=lambda place: widths[place])] -= 1
    return widths


def _columns(
    lines: list[Summary],
    steps: dict[str, tuple[int, ...]],
    lengths: dict[str, int],
    book: Book | None,
    proofs: Mapping[str, Proof],
    *,
    longest: int,
) -> list[Column]:
    return [
        ("id", False, [_id(line.id, lengths[line.id]) for line in lines]),
        ("when", True, [Text("" if line.broken else ago(line.started), "dim") for line in lines]),
        ("agent", False, [Text(one_line(line.agent or "-")) for line in lines]),
        ("status", False, [status(line) for line in lines]),
        ("origin", False, [Text(origin(line, book), "yellow") for line in lines]),
        ("proved", True, [Text(_times(proofs.get(line.id)), "green") for line in lines]),
        ("prompt", False, [Text(one_line(line.prompt, longest)) for line in lines]),
        ("outcome", False, [_outcome(line, longest) for line in lines]),
        ("steps", True, [Text("" if line.broken else str(line.steps)) for line in lines]),
        ("found in", False, [Text(numbers(steps.get(line.id, ())), "cyan") for line in lines]),
        ("model", False, [Text(one_line(", ".join(line.models))) for line in lines]),
        (
            "tokens",
            True,
            [Text(count(used) if (used := line.input_tokens + line.output_tokens) else "") for line in lines],
        ),
        ("cost", True, [Text(money(line.cost)) for line in lines]),
        ("time", True, [Text(seconds(line.duration) if line.duration else "", "dim") for line in lines]),
        (
            "tags",
            False,
            [Text(marks(line.tags, line.note), "magenta") for line in lines],
        ),
    ]


def _times(proof: Proof | None) -> str:
    return f"{proof.times}\N{MULTIPLICATION SIGN}" if proof is not None else ""


def _id(id: str, length: int) -> Text:
    return Text(visible(id[:length]), "bold yellow").append(visible(id[length:]), "dim")


def _outcome(line: Summary, longest: int) -> Text:
    if line.broken:
        # It is an error of this list, which nothing else tells.
        return Text(one_line(line.broken), "red")
    return Text(one_line(line.outcome, longest), "red" if line.problem else "")


def status(line: Summary) -> Text:
    """Return the status of a run, in its colour."""
    word = "broken" if line.broken else line.status
    return Text(word, _STATUS.get(word, ""))


def origin(line: Summary, book: Book | None) -> str:
    """Return a warning about the origin of a recording, or its signer; empty for most.

    Unsealed recordings are marked by their status.
    """
    standing = book.of_line(line) if book is not None else None
    if standing is None:
        return ""
    words = [word for word in standing.words if word != "unsealed"]
    return " ".join(words) if words else f"by {standing.name}" if standing.name else ""


def _shared(one: str, other: str) -> int:
    return next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one)
    )


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
