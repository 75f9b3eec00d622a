"""asyncio's sets of futures, in an order that does not depend on their places in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from reenact.adapters.scopes import listening

T = TypeVar("T")


class InOrder(set[T]):
    """A set that is walked in a fixed order: that of the futures that were given."""

    _order: Mapping[T, int]

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
    order = {item: place for place, item in enumerate(given)}
    return tuple(_in_order(found, order) for found in await original(given, **options))


def _in_order(found: set[T], order: Mapping[T, int]) -> InOrder[T]:
    # Some frameworks wait for each little thing: made so, it takes no time.
    ordered = InOrder(found)
    ordered._order = order
    return ordered
