"""Answers in chunks, reported from the first one: a provider may refuse instead."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from reenact.adapters.langchain.object_wire import MessageWire
from reenact.core.boundary import Call, areporting, begin, reporting
from reenact.core.boundary.perform import areplayed, replayed
from reenact.core.model.event import Effect


def stream(effect: Effect, live: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """Return a stream as one effect. It gets its address at the call, not at the first read."""
    call = begin(effect, MessageWire())
    if call is None:
        return live()
    return replayed(call) if call.answer is not None else _live(call, live)


def astream(effect: Effect, live: Callable[[], AsyncIterator[Any]]) -> AsyncIterator[Any]:
    """`stream` for async iterators."""
    call = begin(effect, MessageWire())
    if call is None:
        return live()
    return areplayed(call) if call.answer is not None else _alive(call, live)


def _live(call: Call, live: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    first: list[Any] = []
    chunks: Iterator[Any] = iter(())
    # Called in here: a provider's `_stream` that calls that of its base class is one effect, not two.
    with reporting(call):
        chunks = iter(live())
        first.extend(_next(chunks))
    call.returned(None, stream=True)
    yield from call.tee(_rejoined(first, chunks))


def _next(chunks: Iterator[Any]) -> Iterator[Any]:
    for chunk in chunks:
        yield chunk
        return


def _rejoined(first: list[Any], chunks: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from first
        yield from chunks
    finally:
        close = getattr(chunks, "close", None)
        if close is not None:
            close()


async def _alive(call: Call, live: Callable[[], AsyncIterator[Any]]) -> AsyncIterator[Any]:
    first: list[Any] = []
    async with areporting(call):
        chunks = aiter(live())
        async for chunk in chunks:
            first.append(chunk)
            break
    await call.areturned(None, stream=True)
    async for chunk in call.atee(_arejoined(first, chunks)):
        yield chunk


async def _arejoined(first: list[Any], chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
    try:
        for chunk in first:
            yield chunk
        async for chunk in chunks:
            yield chunk
    finally:
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()
