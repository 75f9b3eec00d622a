"""The recorded reads of clocks, entropy and environment variables, in each scope's order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from reenact.core.boundary import Scope
from reenact.core.model import codec
from reenact.core.model.event import Tree

Key = tuple[str, str]
"""The path of a scope and the name of a source."""


class Reads:
    """Answers reads from the recording, one after the other.

    Args:
        remark: Called with a sentence for each read that the recording does not have.
    """

    def __init__(self, remark: Callable[[str], None]) -> None:
        self._remark = remark
        self._taken: dict[Key, int] = {}

    def next(self, scope: Scope, key: Key, values: Sequence[Tree], live: Callable[[], Any]) -> Any:
        """Return the next of the recorded values; after the last one, a plausible value."""
        place = self._taken.get(key, 0)
        self._taken[key] = place + 1
        if place < len(values):
            return codec.rebuild(values[place])
        return self._unrecorded(scope, key[1], place, values, live)

    def left(self, key: Key, values: Sequence[Tree]) -> int:
        """Return the number of recorded values that were not read."""
        return len(values) - min(self._taken.get(key, 0), len(values))

    def _unrecorded(
        self, scope: Scope, source: str, place: int, values: Sequence[Tree], live: Callable[[], Any]
    ) -> Any:
        """Answer a read that the recording lacks (an edited program reads more), and note it."""
        kind = source.partition(":")[0]
        if kind == "times":
            # Something else has changed the file: the program sees it as it is now.
            return live()
        if kind == "clock" and values:
            got, given = (
                "a later time than the last",
                _later(codec.rebuild(values[-1]), place - len(values) + 1),
            )
        elif kind == "entropy":
            got, given = "a substitute", _steady(live(), f"{scope.path}|{source}|{place}")
        else:
            got, given = "the present value", live()
        self._remark(
            f"a read of {source} in {scope.path} that was not recorded got {got}; record again, or fork, to keep it"
        )
        return given


def _later(last: Any, steps: int) -> Any:
    """Return a clock's time after its last one.

    The steps grow, so that a loop that waits for a deadline ends.
    """
    if isinstance(last, int):
        return last + steps**2 * 1000  # nanoseconds
    return last + steps**2 * 1e-6 if isinstance(last, float) else last


def _steady(given: Any, place: str) -> Any:
    """Return random bytes, or a random number of 64 bits, that are the same in each replay."""
    if isinstance(given, bytes):
        return hashlib.shake_256(place.encode()).digest(len(given))
    number = int.from_bytes(hashlib.shake_256(place.encode()).digest(8), "big", signed=True)
    return number if isinstance(given, int) else given
