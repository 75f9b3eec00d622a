"""The waits of threads at queues, and `SimpleQueue` in the recorded order."""

from __future__ import annotations

import queue
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from sys import _getframe
from typing import Any

from reenact.adapters.deadlines import TooLate, deadline
from reenact.adapters.hooks import Replace
from reenact.adapters.locks import out_of_pool
from reenact.adapters.queue_ends import queue_ends
from reenact.adapters.readiness import resting
from reenact.adapters.stdlib import callers, early


def install(replace: Replace) -> None:
    """Patch queues."""
    replace(queue.Queue, "get", _get)
    replace(queue.Queue, "put", _put)
    early.put(queue, "SimpleQueue", _SimpleQueue)


def _get(original: Callable[..., Any], box: Any, block: bool = True, timeout: float | None = None) -> Any:
    """`Queue.get`."""
    return _at_queue("get", box, partial(original, box), queue.Empty, block=block, timeout=timeout)


def _put(
    original: Callable[..., Any], box: Any, item: Any, block: bool = True, timeout: float | None = None
) -> Any:
    """`Queue.put`."""
    return _at_queue("put", box, partial(original, box, item), queue.Full, block=block, timeout=timeout)


class _AnyQueue(type):
    """`isinstance` is true for plain queues, which libraries have, too."""

    def __instancecheck__(cls, thing: object) -> bool:
        return type.__instancecheck__(cls, thing) or isinstance(thing, SimpleQueue)


class _SimpleQueue(queue.Queue, metaclass=_AnyQueue):  # type: ignore[type-arg]
    """`queue.SimpleQueue`, whose items come and go in the recorded order, as those of a `Queue`."""

    def __new__(cls) -> Any:
        """Return a plain queue, in C, to libraries."""
        if cls is _SimpleQueue and not callers.program(out_of_pool(_getframe(1))):
            return SimpleQueue()
        return super().__new__(cls)


_SimpleQueue.__module__, _SimpleQueue.__name__, _SimpleQueue.__qualname__ = (
    "queue",
    "SimpleQueue",
    "SimpleQueue",
)


def _at_queue(
    what: str,
    box: Any,
    original: Callable[..., Any],
    late: type[Exception],
    *,
    block: bool,
    timeout: float | None,
) -> Any:
    waits = block and (timeout or 0) >= 0
    limited = deadline(what, timeout, _getframe(3), given=True) if waits else None
    if limited is None:
        return original(block, timeout)

    ends = None if limited.scope.run.replaying else queue_ends(box, what)

    def attempt(seconds: float) -> Any:
        try:
            value = original(True, seconds)
        except late:
            raise TooLate from None
        if ends is not None:
            with resting():
                ends.await_turn()
        return value

    try:
        return limited.answer(attempt)
    except TooLate:
        raise late from None
    finally:
        if ends is not None:
            ends.recorded()
