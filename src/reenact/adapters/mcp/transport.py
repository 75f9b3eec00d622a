"""The connections to MCP servers: out of sight in a recording, and not made in a replay.

What a transport does for itself (a child process, HTTP requests, timers) is how the session's requests are carried,
and no part of the program. In a replay the session gets streams with nobody at the other end. Only when a request is
let through, or a fork has gone live, is the real server started, by the first message that is sent to it.
"""

from __future__ import annotations

import functools
import math
from asyncio import _get_running_loop
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio

from reenact.adapters.scopes import listening
from reenact.boundary import Scope, entered
from reenact.store.writer import warn

Connect = Callable[[], AbstractAsyncContextManager[tuple[Any, Any]]]


def hook(function: Any) -> None:
    """Put our generator behind a transport that `contextlib.asynccontextmanager` made, once.

    The function itself stays, so that every name that a program has imported it by is hooked along.
    """
    cell = function.__closure__[function.__code__.co_freevars.index("func")]
    original = cell.cell_contents
    if getattr(original, "_reenact", False):
        return

    @functools.wraps(original)
    async def transport(*args: Any, **options: Any) -> AsyncIterator[tuple[Any, Any]]:
        scope = asked_in()
        connect = functools.partial(asynccontextmanager(original), *args, **options)
        if scope is None:
            connected: AbstractAsyncContextManager[tuple[Any, Any]] = connect()
        elif scope.run.replaying:
            connected = _nobody(connect, within(scope))
        else:
            connected = _Unseen(connect, within(scope))
        async with connected as streams:
            yield streams

    transport._reenact = True  # type: ignore[attr-defined]
    cell.cell_contents = transport


def asked_in() -> Scope | None:
    """The scope that a session's doings belong to, or None where they are nobody's business. Under trio nothing is
    recorded, for the boundary waits in asyncio.
    """
    scope = listening()
    return scope if scope is not None and _get_running_loop() is not None else None


def within(scope: Scope) -> Scope:
    """The inside of a session: nothing in it is recorded on its own."""
    return scope.inside(f"{scope.path}/mcp", call=scope.call, hidden=True)


class _Unseen:
    """A real connection, all of whose tasks are out of sight."""

    def __init__(self, connect: Connect, hidden: Scope) -> None:
        self._connected = connect()
        self._hidden = hidden

    async def __aenter__(self) -> tuple[Any, Any]:
        with entered(self._hidden):
            return await self._connected.__aenter__()

    async def __aexit__(self, *raised: object) -> bool | None:
        with entered(self._hidden):
            return await self._connected.__aexit__(*raised)  # type: ignore[arg-type]


@asynccontextmanager
async def _nobody(connect: Connect, hidden: Scope) -> AsyncIterator[tuple[Any, Any]]:
    """Streams with nobody at the other end, until somebody sends."""
    to_session, read = anyio.create_memory_object_stream[Any](math.inf)
    write, from_session = anyio.create_memory_object_stream[Any](math.inf)
    async with to_session, read, write, from_session, anyio.create_task_group() as tasks:
        with entered(hidden):
            tasks.start_soon(_when_asked, connect, from_session, to_session)
        try:
            yield read, write
        finally:
            tasks.cancel_scope.cancel()


async def _when_asked(connect: Connect, from_session: Any, to_session: Any) -> None:
    try:
        first = await from_session.receive()
    except (anyio.EndOfStream, anyio.ClosedResourceError):
        return
    try:
        async with connect() as (read, write), anyio.create_task_group() as tasks:
            tasks.start_soon(_forward, read, to_session)
            await write.send(first)
            await _forward(from_session, write)
    except Exception as error:
        # The session hears that its connection is closed; raised here, it would take the whole program with it.
        warn(f"an MCP server is asked live, and cannot be reached ({_said(error)})")
    finally:
        to_session.close()


async def _forward(source: Any, sink: Any) -> None:
    try:
        async for message in source:
            await sink.send(message)
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        # Either end may be the first to leave.
        return
    if hasattr(sink, "aclose"):
        await sink.aclose()


def _said(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}".partition("\n")[0][:200]
