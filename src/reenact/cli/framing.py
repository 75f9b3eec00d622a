"""Frames and pagers on a terminal; plain text in a pipe."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from reenact.analysis.views.terminal import Terminal
from reenact.analysis.views.text import WIDE
from reenact.core.dataclass import dataclass


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
            wide = options.update_width(WIDE)
            for line in console.render_lines(Padding(self.body, (0, 0, 0, 2), expand=False), wide, pad=False):
                yield Text("".join(part.text for part in line).rstrip())


def print_framed(framed: Framed) -> None:
    """Print on standard error: in a frame that fits a terminal, as whole lines in a pipe."""
    console = Terminal(stderr=True, highlight=False)
    console.soft_wrap = not console.is_terminal
    console.print(framed)


@contextmanager
def paged(console: Console) -> Iterator[None]:
    """Show long output in a pager, on a terminal with `less` or $PAGER."""
    pager = os.environ.get("PAGER") or ("less" if shutil.which("less") else "")
    if not console.is_terminal or pager in ("", "cat") or os.environ.get("TERM", "dumb") == "dumb":
        yield
        return
    # Quit at once if the text fits, keep colours, and leave the text on the screen.
    os.environ.setdefault("LESS", "FRX")
    with console.pager(styles=True):
        yield
