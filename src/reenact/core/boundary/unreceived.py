"""The messages between parts of the program that nothing may ever receive.

What is left in a queue of the process is kept when the queue is gone, or at the end of the run. A message to another
process may be received there, so all of them are added up, and the signals to the program's own processes, too. A
replay compares all this at its end.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b
from threading import Lock
from typing import Any
from weakref import finalize

from reenact.core.model import codec
from reenact.core.model.event import Tree

_MOST = 1000
"""The number of queues whose messages are kept when they are gone."""
_SIZE = 2000
"""Bytes of one queue's messages that are kept; the rest is only counted."""
_MODULUS = 1 << 52


class Unreceived:
    """The messages of one run that are left, or go to other processes."""

    def __init__(self) -> None:
        self._queues: dict[str, Collection[Any]] = {}
        self._left: dict[str, Tree] = {}
        self._sent: dict[str, int] = {}
        self._signals: dict[str, int] = {}
        self._lock = Lock()

    def watch(self, name: str, box: Any, items: Collection[Any]) -> None:
        """Look at a queue's items when the queue is gone, or the run ends."""
        self._queues[name] = items
        finalize(box, self._gone, name).atexit = False

    def _gone(self, name: str) -> None:
        # Called wherever the last reference to a queue ends: it takes no lock.
        items = self._queues.pop(name, ())
        if items and len(self._left) < _MOST:
            self._left[name] = _summary(items)

    def left(self) -> dict[str, Tree]:
        """Return the number of messages that are left in each queue, and the first of them.

        Empty queues are left out.
        """
        alive = {name: _summary(items) for name, items in list(self._queues.items()) if items}
        return {**self._left, **alive}

    def send(self, path: str, value: Any) -> None:
        """Add a message that the scope of this path sends to another process."""
        self._add(self._sent, path, codec.dumps(codec.typed(codec.Encoder().encode(value))))

    def signal(self, path: str, number: int) -> None:
        """Add a signal that the scope of this path sends to a process that the program has started."""
        self._add(self._signals, path, str(number).encode())

    def _add(self, sums: dict[str, int], path: str, data: bytes) -> None:
        digest = int.from_bytes(blake2b(data, digest_size=8).digest())
        with self._lock:
            sums[path] = (sums.get(path, 0) + digest) % _MODULUS

    def sent(self) -> dict[str, int]:
        """Return the sum of the digests of the messages, by the path of the scope."""
        with self._lock:
            return dict(self._sent)

    def signals(self) -> dict[str, int]:
        """Return the sum of the digests of the signals, by the path of the scope."""
        with self._lock:
            return dict(self._signals)


def _summary(items: Collection[Any]) -> Tree:
    first: list[Tree] = []
    size = 0
    for item in list(items):
        tree = codec.typed(codec.Encoder().encode(item))
        size += len(codec.dumps(tree))
        if size > _SIZE:
            break
        first.append(tree)
    return {"count": len(items), "first": first}
