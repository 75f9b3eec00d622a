"""Unpack blocks for a search, a little ahead of the search, on all processors."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Self

from reenact.core.store.details import unpacked

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_AHEAD = 16
_MANY = 4


class Blocks:
    """The blocks of many recordings, asked for in order.

    Args:
        fetch: Reads the packed block of a recording, by its key and the block's name. Called by the thread that asks.
    """

    def __init__(self, fetch: Callable[[int, str], bytes]) -> None:
        self._fetch = fetch
        self._pool: ThreadPoolExecutor | None = None
        self._name = ""
        self._expected: deque[int] = deque()
        self._coming: dict[int, Future[bytes]] = {}

    def expect(self, name: str | None, keys: Iterable[int]) -> None:
        """Announce the next block's name, and the keys of the recordings, in order."""
        self._coming.clear()
        self._expected = deque(keys if name is not None else ())
        self._name = name or ""
        if self._pool is None and len(self._expected) > _MANY:
            futures = import_module("concurrent.futures")
            self._pool = futures.ThreadPoolExecutor(min(_MANY, os.cpu_count() or 1), "reenact-unpack")

    def block(self, key: int, name: str) -> bytes:
        """Return a recording's block, unpacked."""
        if self._pool is None or name != self._name:
            return unpacked(self._fetch(key, name))
        while self._expected and len(self._coming) < _AHEAD:
            ahead = self._expected.popleft()
            self._coming[ahead] = self._pool.submit(unpacked, self._fetch(ahead, name))
        # Some expected blocks are never asked for.
        for old in list(self._coming):
            if old == key:
                break
            del self._coming[old]
        coming = self._coming.pop(key, None)
        return unpacked(self._fetch(key, name)) if coming is None else coming.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
