"""A long list with a cursor: the base of the timeline and the list of recordings."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.scroll_view import ScrollView


class CursorList(ScrollView, can_focus=True):
    """Rows with a cursor. Subclasses define the rows and their numbers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("pagedown,ctrl+f", "page(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("home", "first", show=False),
        Binding("end,G", "last", show=False),
        Binding("enter", "choose", show=False),
    ]

    cursor = 0

    def go_to(self, number: int) -> None:
        """Move the cursor to a row, or to the nearest existing one."""
        raise NotImplementedError

    def ends(self) -> tuple[int, int]:
        """Return the numbers of the first and of the last row."""
        raise NotImplementedError

    def number_at(self, line: int) -> int | None:
        """Return the number of the row at a line of the whole list, or None."""
        raise NotImplementedError

    def action_choose(self) -> None:
        """Run the list's action on the row under the cursor."""
        raise NotImplementedError

    def action_move(self, by: int) -> None:
        """Move up or down."""
        self.go_to(self.cursor + by)

    def action_page(self, by: int) -> None:
        """Move a page up or down."""
        self.go_to(self.cursor + by * max(self.size.height - 2, 1))

    def action_first(self) -> None:
        """Move to the first row."""
        self.go_to(self.ends()[0])

    def action_last(self) -> None:
        """Move to the last row."""
        self.go_to(self.ends()[1])

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked row; a double click chooses it."""
        number = self.number_at(event.y + self.scroll_offset.y)
        if number is not None:
            self.go_to(number)
            if event.chain > 1:
                self.action_choose()
