"""A console that no recorded text controls: no cursor moves, titles or clipboard access."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from reenact.analysis.views.text import visible


class Terminal(Console):
    """Rich's console; control characters in all printed texts are made visible."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render to segments. Rich's own control segments (a spinner's) stay as they are."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text == "\n" or segment.text.isprintable():
                yield segment
            else:
                yield Segment(visible(segment.text), segment.style)
