"""The time limits of a browser: for its whole run, and for the time without use."""

from __future__ import annotations

import asyncio
from time import monotonic


class Lifetime:
    """Counts the uses of a browser, and waits for its limits.

    Args:
        longest: The most seconds that it may run; 0: no limit.
        idle: The most seconds without use; 0: no limit.

    Attributes:
        uses: The number of current uses.
    """

    def __init__(self, longest: float, idle: float) -> None:
        self.uses = 0
        self._longest, self._idle = longest, idle
        self._began = self._used = monotonic()

    def use_begins(self) -> None:
        """Note that a use begins."""
        self.uses += 1

    def use_ends(self) -> None:
        """Note that a use has ended."""
        self.uses -= 1
        self._used = monotonic()

    async def over(self) -> str:
        """Wait for the first limit that is reached; return it in words, empty without limits."""
        while True:
            now = monotonic()
            due = []
            if self._longest:
                due.append((self._began + self._longest, f"it had run for {_minutes(self._longest)}"))
            if self._idle:
                since = now if self.uses else self._used
                due.append((since + self._idle, f"it was idle for {_minutes(self._idle)}"))
            if not due:
                return ""
            at, why = min(due)
            if at <= now:
                return why
            await asyncio.sleep(at - now)


def _minutes(seconds: float) -> str:
    count = seconds / 60
    return f"{count:g} minute{'' if count == 1 else 's'}"
