"""The browser's list: one recording on each line, of which only the visible ones are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from reenact.analysis.views.text import ago, count, marks, money, one_line, seconds, visible
from reenact.core.query.sorting import TEXTS
from reenact.core.query.summary import Summary
from reenact.core.store.base import Hit
from reenact.core.store.shared import Parentage
from reenact.core.trust import Book
from reenact.tui.cursor import CursorList

STATUS = {"ok": "green", "error": "red", "stopped": "yellow", "unsealed": "yellow", "broken": "bold red"}

_FIXED = (("id", 10), ("status", 8), ("steps", 5))
_WIDER = (
    (90, ("cost", 8)), (100, ("when", 10)), (120, ("tokens", 7)), (130, ("time", 8)), (150, ("model", 18)),
    (180, ("tags", 26)),
)  # fmt: skip
_TEXTS = {"agent": 1, "prompt": 2, "outcome": 2}
"""The columns that share the rest of the width, with their shares."""
_RIGHT = {"when", "steps", "tokens", "cost", "time"}
_DEEPEST = 6
_MEASURED = 1000
"""The number of rows that determine the widths of columns."""


@dataclass(frozen=True, slots=True)
class Row:
    """One recording of the list.

    Attributes:
        hit: The recording, and the steps that match the filter.
        depth: The number of forks between it and the root of its branch.
        origin: The origin of a fork, or None.
        mark: A warning about its origin, `foreign` or `changed`, or empty.
    """

    hit: Hit
    depth: int = 0
    origin: Parentage | None = None
    mark: str = ""

    @property
    def line(self) -> Summary:
        """The summary in the index."""
        return self.hit.summary


def arranged(
    hits: Sequence[Hit], origins: Mapping[str, Parentage], *, tree: bool, book: Book | None = None
) -> list[Row]:
    """Return the rows in the given order, or with each fork below its parent if that is listed."""
    if not tree or not origins:
        return [Row(hit, origin=origins.get(hit.summary.id), mark=_mark(hit, book)) for hit in hits]
    there = {hit.summary.id: hit for hit in hits}
    below: dict[str, list[str]] = {}
    for hit in reversed(hits):
        origin = origins.get(hit.summary.id)
        if origin is not None and origin.id in there:
            below.setdefault(origin.id, []).append(hit.summary.id)
    under = {id for ids in below.values() for id in ids}
    waiting = [(hit.summary.id, 0) for hit in reversed(hits) if hit.summary.id not in under]
    rows = []
    while waiting:
        id, depth = waiting.pop()
        rows.append(Row(there[id], depth, origins.get(id), _mark(there[id], book)))
        children = sorted(below.get(id, ()), key=lambda child: origins[child].step or 0)
        waiting += [(child, depth + 1) for child in reversed(children)]
    return rows


ORDER = (
    "id", "when", "agent", "status", "prompt", "outcome", "steps", "model", "tokens", "cost", "time", "tags",
)  # fmt: skip
SORTED = ("when", "agent", "status", "prompt", "outcome", "model", "steps", "tokens", "cost", "time")
"""The columns to sort by, in the order of the key `s`."""


def columns(width: int, needs: Mapping[str, int], sort: str = "when") -> list[tuple[str, int]]:
    """Return the columns that fit, with their widths.

    Empty columns are left out, unless they sort the list. Agent, prompt and outcome share the rest of the width.

    Args:
        width: The width of the list.
        needs: The width that each column needs.
        sort: The column that sorts the list.
    """
    wider = (column for least, column in _WIDER if width >= least and (needs[column[0]] or column[0] == sort))
    found = dict([*_FIXED, *wider])
    left = width - sum(found.values()) - len(found) - len(_TEXTS) + 1
    waiting = sorted(_TEXTS, key=lambda name: needs[name] / _TEXTS[name])
    while waiting:
        name = waiting.pop(0)
        share = left * _TEXTS[name] // (_TEXTS[name] + sum(_TEXTS[one] for one in waiting))
        found[name] = max(min(share, needs[name]) if waiting else left, 9)
        left -= found[name]
    return [(name, found[name]) for name in ORDER if name in found]


def _needs(rows: Sequence[Row]) -> dict[str, int]:
    """Return the width that each column needs for the first rows and its title."""
    found = {name: len(name) + 1 if name in _TEXTS else 0 for name in ORDER}
    for row in rows[:_MEASURED]:
        for name in ORDER:
            found[name] = max(found[name], cell_len(_cell_text(row, name)[0]))
    return found


class Rows(CursorList):
    """All matching recordings, with a cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "page(1)", show=False),
        Binding("g", "first", show=False),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor"}

    class Highlighted(Message):
        """The cursor has moved to another recording."""

    class Opened(Message):
        """The user opens the recording under the cursor."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.rows: list[Row] = []
        self.cursor = 0
        self.needs = _needs(())
        self.sort = "when"

    @property
    def current(self) -> Row | None:
        """The row under the cursor, or None without rows."""
        return self.rows[self.cursor] if self.rows else None

    def show(self, rows: list[Row]) -> None:
        """Replace the rows; the cursor stays on its recording if that is among them."""
        known = self.current.line.id if self.current is not None else ""
        self.rows, self.needs = rows, _needs(rows)
        self.cursor = next((place for place, row in enumerate(rows) if row.line.id == known), 0)
        self.virtual_size = Size(self.size.width, len(rows))
        self.go_to(self.cursor)
        self.post_message(self.Highlighted())
        self.refresh()

    def go_to(self, place: int) -> None:
        """Move the cursor to a row."""
        place = min(max(place, 0), max(len(self.rows) - 1, 0))
        if place != self.cursor:
            self.cursor = place
            self.post_message(self.Highlighted())
        self.scroll_to_region(
            Region(0, place - 1, 1, 3), animate=False, force=True, immediate=True, x_axis=False
        )
        self.refresh()

    def ends(self) -> tuple[int, int]:
        """Return the first and the last index."""
        return 0, len(self.rows) - 1

    def number_at(self, line: int) -> int | None:
        """Return the index of the row at a line."""
        return line if line < len(self.rows) else None

    def action_choose(self) -> None:
        """Open the recording under the cursor."""
        if self.rows:
            self.post_message(self.Opened())

    def titles(self, width: int, sort: str) -> Text:
        """Return the line of titles; the column that sorts the list has an arrow."""
        column = self.sort = sort.removeprefix("-")
        arrow = "▲" if (column in TEXTS) is not sort.startswith("-") else "▼"
        return Text(" ").join(
            Text(
                _cell(f"{name}{arrow}" if name == column else name, wide, right=name in _RIGHT),
                "" if name == column else "dim",
            )
            for name, wide in columns(width, self.needs, column)
        )

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        place, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        style = self.rich_style
        if place >= len(self.rows):
            return Strip.blank(width, style)
        if place == self.cursor:
            style += self.get_component_rich_style("rows--cursor")
        # The titles leave room for a scroll bar, so the rows do, too.
        shown = columns(min(width, self.app.size.width - 1), self.needs, self.sort)
        text = _drawn(self.rows[place], shown)
        strip = Strip(text.render(self.app.console)).crop_extend(0, width, style)
        return strip.apply_style(style)


def _mark(hit: Hit, book: Book | None) -> str:
    standing = book.of_line(hit.summary) if book is not None else None
    return " ".join(word for word in standing.words if word != "unsealed") if standing is not None else ""


def _drawn(row: Row, shown: list[tuple[str, int]]) -> Text:
    parts = []
    for name, wide in shown:
        said, style = _cell_text(row, name)
        parts.append(Text(_cell(said, wide, right=name in _RIGHT), style))
    return Text(" ").join(parts)


def _cell(text: str, wide: int, *, right: bool) -> str:
    if cell_len(text) > wide:
        return set_cell_size(text, wide - 1) + "…"
    return " " * (wide - cell_len(text)) + text if right else set_cell_size(text, wide)


def _cell_text(row: Row, column: str) -> tuple[str, str]:
    line = row.line
    if column == "id":
        return visible(line.id), "yellow"
    if column == "agent":
        return _agent(row), ""
    if column == "outcome":
        return one_line(line.broken or line.outcome), "red" if line.broken or line.problem else ""
    if column == "status":
        word = "broken" if line.broken else line.status
        return word, STATUS.get(word, "")
    if line.broken:
        return "", ""
    tokens = line.input_tokens + line.output_tokens
    found = {
        "when": (ago(line.started), "dim"),
        "prompt": (one_line(line.prompt), ""),
        "steps": (str(line.steps), ""),
        "tokens": (count(tokens) if tokens else "", ""),
        "cost": (money(line.cost), ""),
        "time": (seconds(line.duration) if line.duration else "", "dim"),
        "model": (one_line(", ".join(line.models)), ""),
        "tags": (tags_of(line), "magenta"),
    }
    return found[column]


def _agent(row: Row) -> str:
    # The mark has no column, which would be mostly empty; the line below the list has all of it.
    said = one_line(row.line.agent or "-") + (f" ({row.mark})" if row.mark else "")
    if not row.depth:
        return said
    at = f"@{row.origin.step} " if row.origin is not None and row.origin.step is not None else ""
    return f"{'  ' * (min(row.depth, _DEEPEST) - 1)}└ {at}{said}"


def tags_of(line: Summary) -> str:
    """Return the tags, labels and note of a recording, on one line."""
    return marks(line.tags, line.note)
