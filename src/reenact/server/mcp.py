"""Serve a recorded MCP session as an MCP server, over stdio or HTTP, with the mcp package.

An agent in any language can be replayed against it: its calls get the recorded answers. The first call that was not
recorded gets an error with the divergence, and so do all later calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, get_args

from reenact.adapters.mcp.server_request import GREETINGS
from reenact.core.extras import needing
from reenact.errors import UsageError
from reenact.server.mcp_answers import ServerAnswers, UnrecordedCall

with needing("mcp", "reenact mcp"):
    import uvicorn
    from mcp.server.caching import CacheableMethod, CacheHint
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
    from mcp.shared.exceptions import MCPError
    from mcp_types import INTERNAL_ERROR, METHOD_NOT_FOUND, RequestParams
    from pydantic import ConfigDict

_SAID = ("capabilities", "instructions", "serverInfo")

_COMPLETE = {"resultType": "complete"}
"""Fields of every answer in newer protocol versions.

The library removes them for older ones.
"""

_FREELY = ("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe")
"""Methods that are answered without a recorded answer, because they have no result."""


class _Anything(RequestParams):
    """Unvalidated parameters; they are compared with the recorded ones."""

    model_config = ConfigDict(extra="allow")


def server_of(answers: ServerAnswers) -> Server[Any]:
    """Return an MCP server that gives only recorded answers.

    The library converts them to the client's version of the protocol, which may differ from the recorded one.
    """
    told = answers.free("initialize", None) or answers.free("server/discover", None) or {}
    info = told.get("serverInfo") or {}
    server: Server[Any] = Server(
        answers.server,
        version=str(info.get("version") or ""),
        instructions=told.get("instructions"),
        get_tool_input_schema=lambda _: None,
        # Newer clients require caching hints, which older answers do not have.
        cache_hints=dict.fromkeys(get_args(CacheableMethod), CacheHint(ttl_ms=0, scope="private")),
    )

    async def answer(ctx: Any, _: Any) -> dict[str, Any]:
        return await _answered(answers, ctx)

    for method in (*_FREELY, *answers.methods):
        server.add_request_handler(method, _Anything, answer)

    async def first(ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        if ctx.request_id is not None and ctx.method in GREETINGS:
            # Client and library negotiate the version of the protocol.
            agreed = await call_next(ctx)
            return {**agreed, **{name: told[name] for name in _SAID if name in told and name in agreed}}
        if ctx.request_id is not None and server.get_request_handler(ctx.method) is None:
            return await _answered(answers, ctx)
        return await call_next(ctx)

    server.middleware = [first]
    return server


async def _answered(answers: ServerAnswers, ctx: Any) -> dict[str, Any]:
    """Return the recorded answer, or raise MCPError with the recorded error or the divergence."""
    if not answers.is_call(ctx.method):
        known = answers.free(ctx.method, ctx.params)
        if known is None and ctx.method not in _FREELY:
            raise MCPError(METHOD_NOT_FOUND, f"reenact: {ctx.method} was not asked in this recording")
        return {**_COMPLETE, **(known or {})}
    try:
        step = answers.call(ctx.method, ctx.params)
    except UnrecordedCall as departed:
        raise MCPError(INTERNAL_ERROR, f"reenact: {departed}") from None
    for progress, total, message in answers.progress(step):
        await ctx.session.report_progress(progress, total, message)
    if step.call.status == "cancelled":
        # The recorded client gave up waiting, and this one is expected to do so, too.
        await asyncio.Event().wait()
    if step.call.outcome is None:
        raise MCPError(
            INTERNAL_ERROR, f"reenact: the recording ends in step {step.number}, before its answer"
        )
    failed = step.error
    if failed is not None:
        # An MCPError has the code, the text and the data of the server's answer in `error`.
        answered = getattr(failed, "error", failed)
        code = getattr(answered, "code", INTERNAL_ERROR)
        text = getattr(answered, "message", None) or str(failed)
        raise MCPError(
            code if isinstance(code, int) else INTERNAL_ERROR, str(text), getattr(answered, "data", None)
        )
    return {**_COMPLETE, **(step.output or {})}


def over_stdio(answers: ServerAnswers) -> None:
    """Serve one client on standard input and output, until it leaves."""

    async def serve() -> None:
        server = server_of(answers)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    with _quiet():
        asyncio.run(serve())


def over_http(answers: ServerAnswers, port: int, ready: Callable[[str], None]) -> None:
    """Serve clients by streamable HTTP on this machine, until a signal ends it.

    Args:
        answers: The answers to serve.
        port: The port; 0 takes a free one.
        ready: Called with the address, once it can be reached.
    """
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (")[0]
        raise UsageError(
            f"port {port} cannot be listened on ({reason}); --port 0 takes one that is free"
        ) from None
    config = uvicorn.Config(server_of(answers).streamable_http_app(), log_level="critical", ws="none")
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    with _quiet(), listening:
        asyncio.run(_until_told(_Web(config), listening, lambda: ready(url)))


class _Web(uvicorn.Server):
    """uvicorn without its handling of signals, because a verdict is printed afterwards."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing; uvicorn would raise the signals again at its end."""
        yield


async def _until_told(web: _Web, listening: socket.socket, ready: Callable[[], None]) -> None:
    def stop(*_: object) -> None:
        web.should_exit = web.force_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    # From here on, clients can connect, and are served a moment later.
    ready()
    await web.serve(sockets=[listening])


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence the library's log of error answers, which the verdict reports."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
