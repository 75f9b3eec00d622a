"""The connections to MCP servers: unrecorded, and not made in a replay.

A transport's own actions (a child process, HTTP requests, timers) only carry the session's requests, and are not part
of the program. In a replay the session gets unconnected streams. The real server is started only by the first message
to it, if a request runs for real or a fork has gone live.
"""

from __future__ import annotations

import functools
import math
from asyncio import _get_running_loop
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio

from reenact.adapters.mcp.server_program import name_changes
from reenact.adapters.scopes import listening
from reenact.core.boundary import Scope, entered
from reenact.core.store.writer import warn

Connect = Callable[[], AbstractAsyncContextManager[tuple[Any, ...]]]


def hookable(*functions: Any) -> None:
    """Raise AttributeError if `hook` cannot wrap one of these functions."""
    for function in functions:
        if "func" not in function.__code__.co_freevars:
            raise AttributeError(f"{function.__name__} is no context manager of contextlib's")


def hook(function: Any, *more: Any) -> None:
    """Wrap a transport that `contextlib.asynccontextmanager` made, once.

    The function object stays, so it is hooked under every name by which a program has imported it.

    Args:
        function: The transport.
        more: Its results after the two streams, without a connection.
    """

    def wrapper(original: Any) -> Any:
        async def transport(*args: Any, **options: Any) -> AsyncIterator[tuple[Any, ...]]:
            scope = asked_in()
            if scope is not None and function.__name__ == "stdio_client":
                name_changes(scope, args[0] if args else options.get("server"))
            connect = functools.partial(asynccontextmanager(original), *args, **options)
            if scope is None:
                connected: AbstractAsyncContextManager[tuple[Any, ...]] = connect()
            elif scope.run.replaying:
                connected = _nobody(connect, within(scope), more)
            else:
                connected = _Unseen(connect, within(scope))
            async with connected as streams:
                yield streams

        return transport

    _put_behind(function, wrapper)


def beside(function: Any, streams: Any) -> None:
    """Wrap MCP 1.x's session with a server in the same process, once.

    The server's actions are hidden, and a replay does not start it before the first live request.

    Args:
        function: The context manager that gives the session of a server.
        streams: The one that gives the streams of both.
    """

    def wrapper(original: Any) -> Any:
        async def session(server: Any, *args: Any, **options: Any) -> AsyncIterator[Any]:
            scope = asked_in()
            if scope is not None:
                server = _Beside(getattr(server, "_mcp_server", server), streams, scope)
            async with asynccontextmanager(original)(server, *args, **options) as client:
                yield client

        return session

    _put_behind(function, wrapper)


def _put_behind(function: Any, wrapper: Callable[[Any], Any]) -> None:
    cell = function.__closure__[function.__code__.co_freevars.index("func")]
    original = cell.cell_contents
    if not getattr(original, "_reenact", False):
        hooked = functools.wraps(original)(wrapper(original))
        hooked._reenact = True  # type: ignore[attr-defined]
        cell.cell_contents = hooked


class _Beside:
    """A server in the program's own process: its calls are recorded whole, not its actions."""

    def __init__(self, server: Any, streams: Any, scope: Scope) -> None:
        self._server = server
        self._streams = streams
        self._scope = scope

    def __getattr__(self, name: str) -> Any:
        return getattr(self._server, name)

    async def run(self, read: Any, write: Any, *args: Any, **options: Any) -> None:
        with entered(within(self._scope)):
            if self._scope.run.replaying:
                await when_asked(functools.partial(self._started, *args, **options), read, write)
            else:
                await self._server.run(read, write, *args, **options)

    @asynccontextmanager
    async def _started(self, *args: Any, **options: Any) -> AsyncIterator[tuple[Any, ...]]:
        async with self._streams() as (client, server), anyio.create_task_group() as tasks:
            tasks.start_soon(functools.partial(self._server.run, *server, *args, **options))
            try:
                yield client
            finally:
                tasks.cancel_scope.cancel()


def asked_in() -> Scope | None:
    """Return the scope of a session's actions, or None if they are not recorded.

    Under trio nothing is recorded, for the boundary waits in asyncio.
    """
    scope = listening()
    return scope if scope is not None and _get_running_loop() is not None else None


def within(scope: Scope) -> Scope:
    """Return the scope inside of a session, where nothing is recorded on its own."""
    return scope.inside(f"{scope.path}/mcp", call=scope.call, hidden=True)


class _Unseen:
    """A real connection, with hidden tasks."""

    def __init__(self, connect: Connect, hidden: Scope) -> None:
        self._connected = connect()
        self._hidden = hidden

    async def __aenter__(self) -> tuple[Any, ...]:
        with entered(self._hidden):
            return await self._connected.__aenter__()

    async def __aexit__(self, *raised: object) -> bool | None:
        with entered(self._hidden):
            return await self._connected.__aexit__(*raised)  # type: ignore[arg-type]


@asynccontextmanager
async def _nobody(connect: Connect, hidden: Scope, more: tuple[Any, ...]) -> AsyncIterator[tuple[Any, ...]]:
    """Yield unconnected streams, and connect at the first message sent."""
    to_session, read = anyio.create_memory_object_stream[Any](math.inf)
    write, from_session = anyio.create_memory_object_stream[Any](math.inf)
    async with to_session, read, write, from_session, anyio.create_task_group() as tasks:
        with entered(hidden):
            tasks.start_soon(when_asked, connect, from_session, to_session)
        try:
            yield read, write, *more
        finally:
            tasks.cancel_scope.cancel()


async def when_asked(connect: Connect, from_session: Any, to_session: Any) -> None:
    """Connect when the session sends its first message, and carry all messages from then on."""
    try:
        first = await from_session.receive()
    except (anyio.EndOfStream, anyio.ClosedResourceError):
        return
    try:
        async with connect() as (read, write, *_), anyio.create_task_group() as tasks:
            tasks.start_soon(_forward, read, to_session)
            await write.send(first)
            await _forward(from_session, write)
    except Exception as error:
        # The session sees a closed connection; the error, raised here, would end the whole program.
        warn(f"an MCP server is called live, and cannot be reached ({_said(error)})")
    finally:
        to_session.close()


async def _forward(source: Any, sink: Any) -> None:
    try:
        async for message in source:
            await sink.send(message)
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        # Either end may close first.
        return
    if hasattr(sink, "aclose"):
        await sink.aclose()


def _said(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}".partition("\n")[0][:200]
