"""The messages that the program puts into queues, and sends to other processes.

A replay compares those that are left in a queue at the end, and all that were sent, received or not.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable
from functools import wraps
from sys import _getframe
from typing import Any

from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers


def watch(kind: Any) -> None:
    """Patch the constructor of a class of queues, of threads or of asyncio."""
    kind.__init__ = _watched(kind.__init__)


def _watched(original: Callable[..., None]) -> Callable[..., None]:
    """Return `Queue.__init__`, of threads or of asyncio, that notes the queue.

    The locks of a queue are the program's: `lock_names.py` looks through this one function to its caller.
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


def sent(original: Callable[..., Any], end: Any, message: Any, *args: Any, **options: Any) -> Any:
    """`put` of a queue between processes, `send` and `send_bytes` of a connection."""
    scope = listening()
    if scope is not None and callers.program(_getframe(2)):
        scope.run.unreceived.send(scope.path, message)
    return original(end, message, *args, **options)
