"""asyncio's sets of futures, in an order that does not depend on their addresses in memory."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from typing import Any, TypeVar

from reenact.adapters.scopes import listening
from reenact.core.boundary import Scope

T = TypeVar("T")


class InOrder(set[T]):
    """A set that is iterated in a fixed order: that of the awaited futures."""

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
    from asyncio import ensure_future

    # The original starts them in the order of a set, which depends on their addresses in memory.
    return original([ensure_future(item) for item in fs], timeout=timeout)


def wait(original: Callable[..., Any], fs: Iterable[Any], **options: Any) -> Any:
    """`asyncio.wait`."""
    # Fast path, as some frameworks wait for single futures often. A single one has no order, unless the time limit
    # leaves it pending and others join it.
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
    ordered = InOrder(found)
    ordered._order = order
    return ordered


# -- futures of threads --------------------------------------------------------------------------------------

_named = threading.local()
"""The scope of the job whose future this thread makes."""


@contextmanager
def naming(scope: Scope) -> Iterator[None]:
    """Give the future that the body makes a hash of its job, the same in each run."""
    _named.scope = scope
    try:
        yield
    finally:
        _named.scope = None


def future(original: Callable[..., None], made: Any) -> None:
    """`concurrent.futures.Future()`."""
    original(made)
    job: Scope | None = getattr(_named, "scope", None)
    scope = listening()
    if job is not None:
        _named.scope = None
        made._reenact_hash = zlib.crc32(job.path.encode())
    elif scope is not None:
        made._reenact_hash = zlib.crc32(f"{scope.path}:{scope.count('future')}".encode())


def hash_of(original: Callable[..., int], made: Any) -> int:
    """`hash` of a future: `as_completed` and `wait` iterate over sets of futures."""
    fixed: int | None = made.__dict__.get("_reenact_hash")
    return original(made) if fixed is None else fixed
