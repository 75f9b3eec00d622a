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
        recording: Its id.
        width: The width for which it is rendered, in columns.
        told: The text, in colours.
        bar: The keys, for the last line.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,h", "app.leave", show=False)]

    def __init__(self, recording: str, width: int, told: str, bar: str) -> None:
        super().__init__()
        self.recording = recording
        self.width = width
        self._told = told
        self._bar = bar

    def compose(self) -> ComposeResult:
        """Yield the page."""
        yield LinesPane()
        yield Static(self._bar, id="bar")

    def on_mount(self) -> None:
        """Fill the page."""
        self.show(self._told)
        self.query_one(LinesPane).focus()

    def show(self, told: str) -> None:
        """Replace the text, and stay at the same part of it."""
        page = self.query_one(LinesPane)
        share = page.scroll_offset.y / max(page.virtual_size.height, 1)
        page.show([UnwrappedLine(text) for text in Text.from_ansi(told).split("\n", allow_blank=True)])
        page.scroll_to(0, round(share * page.virtual_size.height), animate=False)
