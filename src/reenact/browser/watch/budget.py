"""Limit the texts of a page: cut long ones, and leave out the rest once the page is full."""

from __future__ import annotations

from reenact.analysis.views.text import cut


class Budget:
    """The number of characters that a page can still take; each cut notes the missing number.

    Args:
        most: The number of characters of all texts.
        where: The source of the whole text, for the note.
    """

    def __init__(self, most: int, where: str) -> None:
        self._left = most
        self._where = where

    def text(self, value: str, longest: int) -> str:
        """Return a text, or the part of it that fits."""
        shown = cut(value, longest)
        if len(shown) > self._left:
            return f"… {len(value):,} letters left out, for the page is full; {self._where} has them …"
        self._left -= len(shown)
        return shown
