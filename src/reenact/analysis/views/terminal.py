"""A console on which no text acts: whatever was recorded cannot move the cursor, set a title or fill the clipboard."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from reenact.analysis.views.text import visible


class Terminal(Console):
    """Rich's console; the control characters of all that is printed are made visible, wherever they come from."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of something to be printed. Rich's own control segments (a spinner's) stay as they are."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text == "\n" or segment.text.isprintable():
                yield segment
            else:
                yield Segment(visible(segment.text), segment.style)
