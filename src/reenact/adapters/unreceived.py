"""The messages that the program puts into queues, and sends to other processes.

Whether they are received or not: a replay compares those that are left in a queue, and those that were sent.
"""

from __future__ import annotations

import asyncio
import multiprocessing.connection
import multiprocessing.queues
import os
import queue
from collections import deque
from collections.abc import Callable
from functools import wraps
from sys import _getframe
from typing import Any

from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers


def install(replace: Callable[[Any, str, Callable[..., Any]], None]) -> None:
    """Patch what makes queues, and what sends to processes.

    Args:
        replace: Puts `wrapper(original, *args)` in the place of an owner's attribute.
    """
    for kind in (queue.Queue, asyncio.Queue):
        kind.__init__ = _watched(kind.__init__)  # type: ignore[method-assign]
    if os.name == "nt":
        return
    connection, queues = multiprocessing.connection.Connection, multiprocessing.queues
    for owner in (queues.Queue, queues.JoinableQueue, queues.SimpleQueue):
        replace(owner, "put", _sent)
    replace(connection, "send", _sent)
    replace(connection, "send_bytes", _sent)


def _watched(original: Callable[..., None]) -> Callable[..., None]:
    """Return `Queue.__init__`, of threads or of asyncio, that notes the queue.

    The locks of a queue are the program's: `locks.py` looks through this one function to its caller.
    """

    @wraps(original)
    def made(box: Any, *args: Any, **options: Any) -> None:
        original(box, *args, **options)
        scope = listening()
        if scope is None or not callers.program(_getframe(1)):
            return
        items = box.queue if isinstance(box, queue.Queue) else box._queue
        if isinstance(items, (deque, list)):
            scope.run.unreceived.watch(f"{scope.path}~{scope.count('messages')}", box, items)

    return made


def _sent(original: Callable[..., Any], end: Any, message: Any, *args: Any, **options: Any) -> Any:
    """`put` of a queue between processes, `send` and `send_bytes` of a connection."""
    scope = listening()
    if scope is not None and callers.program(_getframe(2)):
        scope.run.unreceived.send(scope.path, message)
    return original(end, message, *args, **options)
