"""Frames and pagers on a terminal; plain text in a pipe."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text


@dataclass(frozen=True, slots=True)
class Framed:
    """A title and its content: in a frame on a terminal, indented below the title in a pipe."""

    title: Text
    body: RenderableType
    color: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render it for a console."""
        if console.is_terminal:
            yield Panel(
                self.body, title=self.title, title_align="left", border_style=self.color, expand=False
            )
        else:
            yield self.title
            yield Padding(self.body, (0, 0, 0, 2), expand=False)


@contextmanager
def paged(console: Console) -> Iterator[None]:
    """Show long output by a pager, if this is a terminal and `less` or $PAGER is there."""
    pager = os.environ.get("PAGER") or ("less" if shutil.which("less") else "")
    if not console.is_terminal or pager in ("", "cat") or os.environ.get("TERM", "dumb") == "dumb":
        yield
        return
    # Quit at once if it fits, keep colours, and leave the text on the screen.
    os.environ.setdefault("LESS", "FRX")
    with console.pager(styles=True):
        yield
