"""The proxy's server: uvicorn on loopback, in a thread of its own, while the program runs."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Self

import uvicorn

from reenact.run.proxy.asgi import ProxyRun, Upstream, application
from reenact.run.proxy.providers import Route

_IDLE = 3600
"""Seconds for an idle connection: programs expect a provider to keep it for minutes."""

_GRACE = 2
"""Seconds for running requests after the program's end."""


def free(port: int = 0) -> socket.socket:
    """Return a socket that listens on loopback, at that port if it is free, else at any."""
    for number in dict.fromkeys((port, 0)):
        # With this protocol, asyncio sends small pieces at once: else each piece of a stream waits 40 ms.
        found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(("127.0.0.1", number))
        except OSError:
            found.close()
            if number == 0:
                raise
            continue
        found.listen(128)
        return found
    raise AssertionError


class Serving:
    """`with Serving(...)`: the proxy answers while the body runs.

    Args:
        listening: The socket, from `free`.
        routes: The routes.
        begin: Makes the session; called in the server's own thread and event loop.

    Attributes:
        session: The session, in the body and after it.
        port: The port.
    """

    def __init__(
        self, listening: socket.socket, routes: Sequence[Route], begin: Callable[[], ProxyRun]
    ) -> None:
        self.port: int = listening.getsockname()[1]
        self.session: ProxyRun
        self._listening = listening
        self._routes = routes
        self._begin = begin
        self._up: Future[uvicorn.Server] = Future()
        self._thread = threading.Thread(target=self._run, name="reenact-proxy", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._server = self._up.result()
        except BaseException:
            self._listening.close()
            raise
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._listening.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._up.done():
                raise
            self._up.set_exception(error)

    async def _serve(self) -> None:
        self.session = self._begin()
        upstream = Upstream()
        config = uvicorn.Config(
            application(self._routes, self.session, upstream),
            http="h11",
            ws="none",
            lifespan="off",
            # No log: the program reports errors itself, and the server's lines would mix with its own.
            log_config=None,
            log_level="critical",
            access_log=False,
            # Headers are the provider's own.
            server_header=False,
            date_header=False,
            timeout_keep_alive=_IDLE,
            timeout_graceful_shutdown=_GRACE,
        )
        server = uvicorn.Server(config)
        try:
            self._up.set_result(server)
            await server.serve(sockets=[self._listening])
        finally:
            await upstream.close()
