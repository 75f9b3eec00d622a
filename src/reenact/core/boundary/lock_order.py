"""The recorded order in which threads take locks, as the locks ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reenact.core.boundary.scope import Scope


class LockOrder:
    """No recorded order: each thread takes a lock as it comes."""

    def ordered(self, lock: str) -> bool:
        """Return True if the recording says who takes that lock."""
        return False

    def turn(self, scope: Scope, lock: str, count: int) -> bool | None:
        """Return True if that scope takes the lock then, False if another does; None: as before."""
        return None

    def skipped(self, lock: str, count: int) -> int:
        """Return how many takes of the lock, from that one on, lie inside of answered calls."""
        return 0


NO_ORDER = LockOrder()
