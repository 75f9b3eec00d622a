"""Clocks that never go back: after its step, a fork continues from the last recorded value."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

_STEADY = {f"clock:{name}": name for name in ("monotonic", "perf_counter", "process_time", "thread_time")}


class SteadyClocks:
    """The monotonic clocks of one process of a fork."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._ahead: dict[str, int] = {}

    def read(self, source: str, value: Any) -> None:
        """Note a recorded value that the program has read."""
        if source in _STEADY:
            self._last[source] = max(value, self._last.get(source, value))

    def read_on(self, source: str, value: Any) -> None:
        """Note a recorded value, from which the clock goes on at once."""
        self.read(source, value)
        if source in _STEADY:
            ahead = self._last[source] - _now(source)
            self._ahead[source] = max(ahead, self._ahead.get(source, ahead))

    def go_live(self) -> None:
        """Read the real clocks from here on."""
        for source, last in self._last.items():
            self._ahead[source] = last - _now(source)

    def onward(self, source: str, live: Callable[[], Any]) -> Callable[[], Any]:
        """Continue a clock from its last value; other sources stay as they are."""
        ahead = self._ahead.get(source)
        return live if ahead is None else lambda: live() + ahead


def _now(source: str) -> int:
    now: int = getattr(time, f"{_STEADY[source]}_ns")()
    return now
