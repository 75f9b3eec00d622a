"""`asyncio.wait_for` in a replay, as in the Python that made the recording.

Up to Python 3.11, a coroutine under a time limit is a task, which begins one turn of the loop later. From 3.12 on, it
begins at once. The order of a program's effects depends on that, so a replay does as the recording Python did.
"""

from __future__ import annotations

import asyncio
import functools
import sys
from asyncio import base_events
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from reenact.adapters import given_times
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import early

T = TypeVar("T")

_AT_ONCE = 3, 12
"""The first Python in which a coroutine under a time limit begins at once."""


def install() -> None:
    """Replace `asyncio.wait_for`, once: asyncio has been imported."""
    original = asyncio.wait_for
    early.put(asyncio, "wait_for", _in_the_recorded_way(original), everywhere=True)
    asyncio.tasks.wait_for = asyncio.wait_for


def _in_the_recorded_way(original: Callable[..., Any]) -> Callable[..., Any]:
    here = sys.version_info[:2] >= _AT_ONCE

    @functools.wraps(original)
    def wait_for(fut: Any, timeout: float | None) -> Any:
        scope = listening()
        recorded = None if scope is None else scope.run.python
        if recorded is None or (recorded >= _AT_ONCE) is here or timeout is None or timeout <= 0:
            return original(fut, timeout)
        return _by_task(fut, timeout) if here else _at_once(fut, timeout)

    return wait_for


async def _at_once(fut: Awaitable[T], timeout: float) -> T:  # noqa: ASYNC109 - as the library's
    async with asyncio.timeouts.timeout(timeout):
        return await fut


async def _by_task(fut: Any, timeout: float) -> Any:  # noqa: ASYNC109 - as the library's
    loop = asyncio.get_running_loop()
    over = loop.create_future()

    def ends(_: object = None) -> None:
        if not over.done():
            over.set_result(None)

    timer = loop.call_later(timeout, ends)
    task = _task_of(loop, fut)
    task.add_done_callback(ends)
    try:
        cancelled = await _waited(over)
        if task.done():
            return task.result()
        task.remove_done_callback(ends)
        await _end(task)
        if cancelled is not None:
            raise cancelled
        try:
            return task.result()
        except asyncio.CancelledError as error:
            raise TimeoutError from error
    finally:
        timer.cancel()


for _way in (_at_once, _by_task):
    # Its task has the recorded name, and its time limit is one that the program gives.
    _way.__name__ = _way.__qualname__ = "wait_for"
    given_times.MEMBERS[_way.__code__] = "timeout"


async def _end(task: asyncio.Future[Any]) -> None:
    """Cancel a task, and wait for its end."""
    over = asyncio.Event()
    task.add_done_callback(lambda _: over.set())
    task.cancel()
    await over.wait()


async def _waited(over: asyncio.Future[None]) -> asyncio.CancelledError | None:
    """Wait for a future; return the cancellation that ends the wait, or None."""
    try:
        await over
    except asyncio.CancelledError as error:
        return error
    return None


def _task_of(loop: Any, fut: Any) -> asyncio.Future[Any]:
    """Return an awaitable as a future; its task has no scope of its own."""
    if asyncio.isfuture(fut):
        return fut
    create = base_events.BaseEventLoop.create_task
    make: Callable[[Any, Any], asyncio.Future[Any]] = getattr(create, "__wrapped__", create)
    return make(loop, fut if asyncio.iscoroutine(fut) else _awaited(fut))


async def _awaited(fut: Awaitable[T]) -> T:
    return await fut
