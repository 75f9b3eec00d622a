"""The recorded order in which threads take locks."""

from __future__ import annotations


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
