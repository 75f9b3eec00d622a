"""asyncio's sets of futures, in an order that does not depend on their places in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from reenact.adapters.scopes import listening

T = TypeVar("T")


class InOrder(set[T]):
    """A set that is walked in a fixed order: that of the futures that were given."""

    def __init__(self, items: Iterable[T], order: dict[T, int]) -> None:
        super().__init__(items)
        self._order = order

    def __iter__(self) -> Iterator[T]:
        return iter(sorted(super().__iter__(), key=lambda item: self._order.get(item, len(self._order))))

    def pop(self) -> T:
        """Remove and return the first."""
        for item in self:
            self.discard(item)
            return item
        raise KeyError("pop from an empty set")


def as_completed(original: Callable[..., Any], fs: Iterable[Any], *, timeout: float | None = None) -> Any:
    """`asyncio.as_completed`."""
    if listening() is None:
        return original(fs, timeout=timeout)
    # The standard one starts them in the order of a set, which is that of their places in memory.
    return original([asyncio.ensure_future(item) for item in fs], timeout=timeout)


async def wait(original: Callable[..., Any], fs: Iterable[Any], **options: Any) -> Any:
    """`asyncio.wait`."""
    if listening() is None:
        return await original(fs, **options)
    given = list(fs)
    done, pending = await original(given, **options)
    order = {item: place for place, item in enumerate(given)}
    return InOrder(done, order), InOrder(pending, order)
