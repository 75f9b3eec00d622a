"""The recorded order in which threads take locks, as the locks ask for it."""

from __future__ import annotations


class LockOrder:
    """No recorded order: each thread takes a lock as it comes."""

    def ordered(self, lock: str) -> bool:
        """Return True if the recording says who takes that lock."""
        return False

    def turn(self, path: str, lock: str, count: int) -> bool | None:
        """Return True if that scope (its path) takes the lock then, False if another does.

        None: the one that took it before.
        """
        return None

    def skipped(self, lock: str, count: int) -> int:
        """Return how many takes of the lock, from that one on, lie inside of answered calls."""
        return 0


NO_ORDER = LockOrder()
