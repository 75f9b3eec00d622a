"""Write a call once for programs with and without an event loop.

A call is a generator. It yields an `AwaitedValue` for each thing that it waits for, and is sent the value. `run`
blocks for it; `arun` awaits it. So `session.execute` and `session.aexecute` are the same call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AwaitedValue:
    """A value that a call waits for.

    Attributes:
        block: Returns the value; blocks until it is there.
        wait: Returns an awaitable of the same value.
    """

    block: Callable[[], Any]
    wait: Callable[[], Awaitable[Any]]


Steps: TypeAlias = Generator[AwaitedValue, Any, T]
"""A call that results in a `T`."""


def run(call: Steps[T]) -> T:
    """Run a call, and block until it is done."""
    try:
        wanted = next(call)
        while True:
            try:
                value = wanted.block()
            except BaseException as error:
                wanted = call.throw(error)
            else:
                wanted = call.send(value)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def arun(call: Steps[T]) -> T:
    """Run a call, and await it."""
    try:
        wanted = next(call)
        while True:
            try:
                value = await wanted.wait()
            except BaseException as error:
                wanted = call.throw(error)
            else:
                wanted = call.send(value)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def in_a_loop() -> bool:
    """Return True if an event loop runs in this thread, as it does in a notebook's cell."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
