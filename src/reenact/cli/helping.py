"""The pages of `--help`, as text, with colours only on a terminal."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence

Rows = Sequence[tuple[str, str]]

_STYLES = {"bold": "1", "dim": "2", "name": "1;36", "title": "33"}
_MARKED = re.compile(r"\[bold\](.*?)\[/bold\]", re.DOTALL)
_LEAST_WIDTH, _MOST_WIDTH, _INDENT, _GAP = 40, 110, 2, 2
_WIDEST_NAME = 34


class HelpPage:
    """The text of a help page, as wide as the terminal, within limits."""

    def __init__(self) -> None:
        self.width = min(max(shutil.get_terminal_size().columns, _LEAST_WIDTH), _MOST_WIDTH)
        self._coloured = _coloured()
        self._lines: list[str] = []

    def __str__(self) -> str:
        return "\n".join(self._lines).rstrip() + "\n"

    def usage(self, text: str) -> None:
        """Add the line of usage."""
        title = "Usage: "
        wrapped = textwrap.wrap(text, self.width - len(title), break_long_words=False) or [""]
        self._lines.append(self._styled("title", title) + self._styled("bold", wrapped[0]))
        self._lines += [" " * len(title) + self._styled("bold", line) for line in wrapped[1:]]
        self._lines.append("")

    def paragraphs(self, text: str) -> None:
        """Add paragraphs. One that begins with an example is a list of examples."""
        for paragraph in text.split("\n\n"):
            if paragraph.startswith("[bold]"):
                lines = [_MARKED.sub(r"\1", line) for line in paragraph.splitlines()]
                self._lines += [f"  {self._styled('bold', line)}" for line in lines]
            else:
                self._lines += textwrap.wrap(_MARKED.sub(r"`\1`", paragraph), self.width)
            self._lines.append("")

    def examples(self, rows: Rows) -> None:
        """Add commands with a remark on each."""
        longest = max(len(name) for name, _ in rows)
        for name, text in rows:
            shown = self._styled("bold", name)
            self._lines.append(f"  {shown}{' ' * (longest - len(name) + 3)}{self._styled('dim', text)}")
        self._lines.append("")

    def section(self, title: str, rows: Rows, names: int = 0) -> None:
        """Add a list of names with texts below a title.

        Args:
            title: The title.
            rows: The names and the texts; without any nothing is added.
            names: The width of the column of names, to align several sections.
        """
        if not rows:
            return
        names = names or min(max(len(name) for name, _ in rows), _WIDEST_NAME)
        names = min(names, self.width // 2)
        room = max(self.width - names - _INDENT - _GAP, 12)
        self._lines.append(self._styled("title", f"{title}:"))
        for name, text in rows:
            parts = textwrap.wrap(text, room) or [""]
            first = f"{' ' * _INDENT}{self._styled('name', name)}"
            if len(name) > names:
                self._lines.append(first)
            else:
                self._lines.append((first + " " * (names - len(name) + _GAP) + parts.pop(0)).rstrip())
            self._lines += [" " * (names + _INDENT + _GAP) + part for part in parts]
        self._lines.append("")

    def show(self) -> None:
        """Print the page."""
        sys.stdout.write(str(self))

    def _styled(self, style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._coloured else text


def _coloured() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
