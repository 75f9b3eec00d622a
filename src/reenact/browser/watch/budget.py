"""Limit the texts of a page: cut long ones, and only count the rest once the page is full."""

from __future__ import annotations

from reenact.analysis.views.text import cut


class Budget:
    """The letters that a page still takes; the number of left out letters is always given.

    Args:
        most: The letters in all.
        where: The source of the rest, for the note in a text's place.
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
