"""The order in which waits with a time limit take items from a queue, or put them into it.

An item is taken under the queue's own lock, and the end of the wait is recorded later; another thread may run in
between. So a recording lets the waits end in the order of their items, and a replay takes the items in that order.
"""

from __future__ import annotations

from _thread import allocate_lock
from functools import partial
from threading import get_ident
from typing import Any

from reenact.adapters.deadlines import pause, unordered

_PAUSE = 0.0005
_making = allocate_lock()


class QueueEnds:
    """The waits with a time limit at one side of a queue, while they are recorded."""

    def __init__(self) -> None:
        self._waiting: list[int] = []
        """The threads whose items have moved, in that order, and whose waits have not ended."""

    def moved(self) -> None:
        """Note that the running thread has taken or put an item. Call with the queue's lock held."""
        if unordered():
            self._waiting.append(get_ident())

    def await_turn(self) -> None:
        """Wait until the waits of earlier items have ended."""
        me = get_ident()
        while me in self._waiting and self._waiting[0] != me:
            pause(_PAUSE)

    def recorded(self) -> None:
        """Note that the end of the running thread's wait is recorded, or has failed."""
        me = get_ident()
        if me in self._waiting:
            self._waiting.remove(me)


def queue_ends(box: Any, what: str) -> QueueEnds:
    """Return the ends of the waits at one side of a queue: `get` or `put`."""
    name = f"_reenact_{what}"
    with _making:
        ends: QueueEnds | None = box.__dict__.get(name)
        if ends is None:
            ends = QueueEnds()
            setattr(box, name, ends)
            setattr(box, f"_{what}", partial(_moves, ends, getattr(box, f"_{what}")))
    return ends


def _moves(ends: QueueEnds, original: Any, *args: Any) -> Any:
    value = original(*args)
    ends.moved()
    return value
