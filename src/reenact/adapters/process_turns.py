"""Turns of processes at what they share: a replay gives them in the recorded order."""

from __future__ import annotations

from collections.abc import Callable

from reenact.adapters.deadlines import pause
from reenact.adapters.locks import unit_of
from reenact.adapters.process_activity import StandStill
from reenact.core.boundary import RecordedTake, Scope

_FIRST, _LONGEST = 0.0002, 0.02
"""Seconds before the second look at whose turn it is, and the longest between two looks."""


class StandsStill(Exception):
    """No process of the replay goes on. The text is the path of the one whose turn it is."""


def await_lock(scope: Scope, lock: str, taken: Callable[[], int], what: str) -> RecordedTake | None:
    """Wait until it is the turn of the running thread to take a lock; see `await_turn`.

    Args:
        scope: The running code's scope.
        lock: The name of the lock.
        taken: Returns how often it has been taken.
        what: Names the lock in the divergence.

    Raises:
        DivergenceError: No process goes on, so that the turn cannot come.
    """
    try:
        return await_turn(scope, lock, taken)
    except StandsStill as stands:
        detail = f"{what} was taken by {stands} before when it was recorded"
        raise scope.run.handler.refuse(unit_of(scope).path, detail) from None


def await_turn(scope: Scope, name: str, taken: Callable[[], int | None]) -> RecordedTake | None:
    """Wait until it is the turn of the running thread.

    Args:
        scope: The running code's scope.
        name: The name of the lock or file.
        taken: Returns the number of turns that are over; None if the order is given up.

    Returns:
        The recorded turn; None if there is none, or the program is answered live.

    Raises:
        StandsStill: No process goes on.
    """
    handler, family, unit = scope.run.handler, scope.run.family, unit_of(scope).path
    seconds, still = _FIRST, StandStill(joined="/" in scope.run.root.path)
    while family is not None and not handler.gone_live:
        count = taken()
        turn = None if count is None else family.taker(name, count + 1)
        if turn is None or turn.path == unit:
            return turn
        if handler.poison is not None:
            raise handler.poison
        if still.found():
            raise StandsStill(turn.path)
        pause(seconds)
        seconds = min(seconds * 1.5, _LONGEST)
    return None
