"""How much of a recording fits into a page: long texts are cut, and once much is in it the rest is only counted."""

from __future__ import annotations

from reenact.analysis.report.page import cut


class Budget:
    """Letters that a page still takes; how many were left out is always said.

    Args:
        most: How many it takes in all.
        where: Where the rest is to be had, for the word that stands in a text's place.
    """

    def __init__(self, most: int, where: str) -> None:
        self._left = most
        self._where = where

    def text(self, value: str, longest: int) -> str:
        """A text, or as much of it as fits."""
        shown = cut(value, longest)
        if len(shown) > self._left:
            return f"… {len(value):,} letters left out, for the page is full; {self._where} has them …"
        self._left -= len(shown)
        return shown
