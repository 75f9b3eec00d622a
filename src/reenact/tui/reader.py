"""A pane of long text, of which only the visible part is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

_NARROWEST = 12
_ABOVE = 2


@dataclass(frozen=True, slots=True)
class UnwrappedLine:
    """A line before it is wrapped.

    Attributes:
        text: Its text, which may contain line breaks.
        indent: Its indentation, in columns.
        beside: The text of the right half, if two texts are side by side.
        cut: True to cut it to one line.
        anchor: True if a new page is scrolled to this line.
    """

    text: Text
    indent: int = 0
    beside: Text | None = None
    anchor: bool = False
    cut: bool = False


class LinesPane(ScrollView, can_focus=True):
    """A pane of lines.

    It scrolls by arrow keys, pages, j and k, and keeps its position while the subject stays the same.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll_down", show=False),
        Binding("k,up", "scroll_up", show=False),
        Binding("home", "scroll_home", show=False),
        Binding("end,G", "scroll_end", show=False),
        Binding("left", "app.turn(-1)", show=False),
        Binding("right", "app.turn(1)", show=False),
        Binding("space,pagedown", "page_down", show=False),
        Binding("pageup", "page_up", show=False),
    ]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._lines: list[UnwrappedLine] = []
        self._rows: list[Text] = []
        self._width = 0
        self._of: object = None
        self._anchor = 0
        self._style = Style()

    def show(self, lines: Iterable[UnwrappedLine], of: object = None, *, at_end: bool = False) -> None:
        """Replace the lines. A new subject `of` the lines is shown from its beginning."""
        self._lines = list(lines)
        self._wrap()
        if at_end:
            self.scroll_end(animate=False)
        elif of != self._of:
            # The new page must be laid out first.
            self.call_after_refresh(self.scroll_to, 0, self._anchor, animate=False)
        self._of = of

    @property
    def said(self) -> str:
        """The whole content as text."""
        return "\n".join(row.plain.rstrip() for row in self._rows)

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the lines for the new width."""
        if self.scrollable_content_region.width != self._width:
            self._wrap()

    def _wrap(self) -> None:
        self._width = self.scrollable_content_region.width
        if self._width < _NARROWEST:
            self._rows = []
            return
        self._rows, self._anchor = [], 0
        for line in self._lines:
            if line.anchor:
                self._anchor = max(len(self._rows) - _ABOVE, 0)
            self._rows += self._wrapped(line)
        self.virtual_size = Size(self._width, len(self._rows))
        self.refresh()

    def _wrapped(self, line: UnwrappedLine) -> list[Text]:
        room = max(self._width - line.indent, _NARROWEST)
        if line.beside is not None:
            return self._side_by_side(line, line.beside, room)
        if line.cut:
            line.text.truncate(room, overflow="ellipsis")
        lead = Text(" " * line.indent)
        return [lead + part if line.indent else part for part in self._parts(line.text, room)]

    def _parts(self, text: Text, room: int) -> list[Text]:
        if "\n" not in text.plain and cell_len(text.plain) <= room:
            return [text]
        return list(text.wrap(self.app.console, room, tab_size=4)) or [Text()]

    def _side_by_side(self, line: UnwrappedLine, beside: Text, room: int) -> list[Text]:
        half = (room - 3) // 2
        left, right = self._parts(line.text, half), self._parts(beside, half)
        rows = []
        for place in range(max(len(left), len(right))):
            row = Text(" " * line.indent)
            part = left[place].copy() if place < len(left) else Text()
            part.truncate(half, pad=True)
            row.append(part).append(" │ ", "dim")
            if place < len(right):
                row.append(right[place])
            rows.append(row)
        return rows

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw some lines of the screen."""
        # Read once, because it is computed from all styles that apply.
        self._style = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        _, top = self.scroll_offset
        width, place = self.size.width, top + y
        if place >= len(self._rows):
            return Strip.blank(width, self._style)
        row = self._rows[place]
        # `render` ignores the base style if a text has no other.
        base = self.app.console.get_style(row.style)
        segments = Segment.apply_style(row.render(self.app.console), base)
        return Strip(segments).crop_extend(0, width, self._style).apply_style(self._style)
