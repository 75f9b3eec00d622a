"""How much is measured: all of it, or a quick look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """How often. `tell` says what is being done now; after `minutes` nothing new is begun, where that is given."""

    quick: bool
    tell: Tell
    minutes: float | None = None

    def rounds(self, full: int) -> int:
        """How many rounds."""
        return 2 if self.quick else full

    def calls(self, full: int) -> int:
        """How many calls in a batch."""
        return max(4, full // 10) if self.quick else full

    @property
    def warm(self) -> int:
        """How many calls before those that count."""
        return 2 if self.quick else 10
