"""The debugger's prompt, in the line above the keys."""

from __future__ import annotations

from textual.widgets import Input


class PromptLine(Input):
    """The input for a command after `:`, a search after `/`, or a fork's command after `$`.

    Attributes:
        asked: The character before it.
    """

    def __init__(self) -> None:
        super().__init__(id="prompt", compact=True, select_on_focus=False)
        self.asked = ":"
        self.display = False

    def open(self, asked: str, text: str = "") -> None:
        """Show it with an initial text."""
        self.asked = asked
        self.placeholder = "a command; help lists them" if asked == ":" else "a step's number, or a filter"
        self.value = text
        self.display = True
        # Focus at once, because the next key already belongs to the prompt.
        self.screen.set_focus(self)
        self.cursor_position = len(text)
