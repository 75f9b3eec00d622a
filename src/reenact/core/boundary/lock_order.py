"""The recorded order in which threads take locks."""

from __future__ import annotations

from typing import NamedTuple


class RecordedTake(NamedTuple):
    """A recorded take of what processes share.

    Attributes:
        path: The path of the thread or job that took it.
        number: The number in its line.
        name: The name in its line: the lock's, or that of a use of files.
    """

    path: str
    number: int
    name: str


class LockOrder:
    """No recorded order: each thread takes a lock as it comes."""

    def ordered(self, lock: str) -> bool:
        """Return True if the recording has an order for that lock."""
        return False

    def turn(self, path: str, lock: str, count: int) -> bool | None:
        """Return True if the scope of that path is the `count`th taker, False if another is.

        None: the scope that took it before takes it again.
        """
        return None

    def skipped(self, lock: str, count: int) -> int:
        """Return how many takes of the lock, from that one on, lie inside of answered calls."""
        return 0


NO_ORDER = LockOrder()
