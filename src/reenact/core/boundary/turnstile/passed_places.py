"""The places of a recorded order, and those of them that have passed."""

from __future__ import annotations

from collections.abc import Iterable


class PassedPlaces:
    """Counts the places that have passed, in any order.

    Args:
        total: The number of places.

    Attributes:
        next: The first place that has not passed.
    """

    __slots__ = ("_passed", "next", "total")

    def __init__(self, total: int) -> None:
        self.total = total
        self.next = 0
        self._passed = bytearray(total + 1)

    def take(self, place: int) -> None:
        """Mark a place as passed.

        Earlier places that have not passed will not: no thread is left to bring them.
        """
        if place < self.total:
            self.skip((place,))
            if place > self.next:
                self.next = place + 1

    def skip(self, places: Iterable[int]) -> None:
        """Mark places that have come or will not come."""
        passed, at = self._passed, self.next
        for place in places:
            passed[place] = 1
        while at < self.total and passed[at]:
            at += 1
        self.next = at
