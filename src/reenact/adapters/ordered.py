"""asyncio's sets of futures, in an order that does not depend on their places in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
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


def wait(original: Callable[..., Any], fs: Iterable[Any], **options: Any) -> Any:
    """`asyncio.wait`."""
    # Some frameworks wait for each little thing. Of one there is no order, unless it is left over and others join it.
    one = isinstance(fs, Sized) and len(fs) == 1 and options.get("timeout") is None
    if one or listening() is None:
        return original(fs, **options)
    return _wait(original, list(fs), options)


async def _wait(original: Callable[..., Any], given: list[Any], options: dict[str, Any]) -> Any:
    done, pending = await original(given, **options)
    order = {item: place for place, item in enumerate(given)}
    return _in_order(done, order), _in_order(pending, order)


def _in_order(found: set[T], order: Mapping[T, int]) -> set[T]:
    if not found:
        return found
    # Made so, it takes no time.
    ordered = InOrder(found)
    ordered._order = order
    return ordered
