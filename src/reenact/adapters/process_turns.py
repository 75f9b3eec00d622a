"""Turns of processes at what they share: a replay gives them in the recorded order."""

from __future__ import annotations

from collections.abc import Callable

from reenact.adapters.deadlines import pause
from reenact.adapters.locks import unit_of
from reenact.adapters.process_activity import StandStill
from reenact.core.boundary import Scope

_FIRST, _LONGEST = 0.0002, 0.02
"""Seconds before the second look at whose turn it is, and the longest between two looks."""


def await_turn(scope: Scope, lock: str, taken: Callable[[], int], what: str) -> int | None:
    """Wait until it is the turn of the running thread to take a lock.

    Args:
        scope: The running code's scope.
        lock: The name of the lock.
        taken: Returns how often it has been taken.
        what: Names the lock in the divergence.

    Returns:
        The number of the turn in the recording; None if it has no turn, or the program is answered live.

    Raises:
        DivergenceError: No process goes on, so that the turn cannot come.
    """
    handler, family, unit = scope.run.handler, scope.run.family, unit_of(scope).path
    if family is None:
        return None
    seconds, still = _FIRST, StandStill(joined="/" in scope.run.root.path)
    while (taker := family.taker(lock, taken() + 1)) is not None and not handler.gone_live:
        if taker[0] == unit:
            return taker[1]
        if handler.poison is not None:
            raise handler.poison
        if still.found():
            raise handler.refuse(unit, f"{what} was taken by {taker[0]} before when it was recorded")
        pause(seconds)
        seconds = min(seconds * 1.5, _LONGEST)
    return None
