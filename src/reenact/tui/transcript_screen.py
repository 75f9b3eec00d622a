"""The screen of one recording's transcript, in `reenact browse`."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Static

from reenact.tui.reader import LinesPane, UnwrappedLine


class TranscriptScreen(Screen[None]):
    """One recording, as `reenact show` prints it.

    Args:
        told: The text, in colours.
        bar: The keys, for the last line.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,h", "app.leave", show=False)]

    def __init__(self, told: str, bar: str) -> None:
        super().__init__()
        self._told = told
        self._bar = bar

    def compose(self) -> ComposeResult:
        """Yield the page."""
        yield LinesPane()
        yield Static(self._bar, id="bar")

    def on_mount(self) -> None:
        """Fill the page."""
        page = self.query_one(LinesPane)
        page.show([UnwrappedLine(text) for text in Text.from_ansi(self._told).split("\n", allow_blank=True)])
        page.focus()
