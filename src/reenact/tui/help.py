"""Help: keys and commands, over the screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from reenact.run.debugger.commands import COMMANDS
from reenact.tui.key_table import KEYS
from reenact.tui.panes import title
from reenact.tui.reader import LinesPane, UnwrappedLine


class HelpScreen(ModalScreen[None]):
    """All keys and all commands."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss", "Close", show=False)
    ]

    def compose(self) -> ComposeResult:
        """Yield the page."""
        yield LinesPane(id="help")

    def on_mount(self) -> None:
        """Fill the page."""
        page = self.query_one(LinesPane)
        page.border_title = "keys and commands"
        page.border_subtitle = "Esc closes"
        page.show(_lines())
        page.focus()


def _lines() -> Iterator[UnwrappedLine]:
    yield title("keys", "Tab changes between timeline and panes; arrows, pages, j and k move in both")
    for key in KEYS:
        yield UnwrappedLine(Text.assemble((f"{key.shown:<9} ", "bold cyan"), key.help), 1)
    yield UnwrappedLine(Text())
    yield title("commands", "behind a colon, or with `reenact debug ID --plain`")
    for command in COMMANDS:
        words = f"{', '.join((command.name, *command.short))} {command.argument}".strip()
        yield UnwrappedLine(Text(words, "bold cyan"), 1)
        yield UnwrappedLine(Text(command.help), 5)
    yield UnwrappedLine(Text())
    yield title("the timeline")
    for mark, text in (
        ("▶", "the program is here, before the answer"),
        ("●", "a breakpoint stops here"),
        ("✎", "its answer is edited"),
        ("✗ ⊘ …", "it raised an error; was given up; has no answer in the recording"),
        ("▸ ▾", "something happened inside it: answered as a whole; run for real, to look inside"),
    ):
        yield UnwrappedLine(Text.assemble((f"{mark:<9} ", "bold"), text), 1)
