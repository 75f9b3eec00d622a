"""A WebSocket by which other programs use a session's browser: on loopback, with a key."""

from __future__ import annotations

import asyncio
import logging
import secrets
from http import HTTPStatus

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from reenact.browser.isolation.pipe import PipeProtocol, ProtocolClient

_LONGEST = 64 << 20
"""Most bytes of one message of a client."""
_MOST = 8
"""Most clients at once."""
_LOG = logging.getLogger("reenact.browser.endpoint")
"""A separate logger, because broken handshakes of strangers do not concern the program."""
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False


class DebugEndpoint:
    """The endpoint of one browser. Use it in the protocol's event loop.

    Args:
        protocol: The link that passes commands on to the browser.
    """

    def __init__(self, protocol: PipeProtocol) -> None:
        self._protocol = protocol
        self._key = secrets.token_urlsafe(32)
        self._open = 0
        self._server: Server | None = None

    async def url(self) -> str:
        """Listen if it does not yet, and return the address."""
        if self._server is None:
            self._server = await serve(
                self._serve, "127.0.0.1", 0, process_request=self._enter, max_size=_LONGEST, compression=None,
                server_header=None, ping_interval=None, logger=_LOG,
            )  # fmt: skip
        return f"ws://127.0.0.1:{self._port()}/{self._key}"

    async def close(self) -> None:
        """Disconnect all clients. May be called again."""
        await self._protocol.stop()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    def _enter(self, connection: ServerConnection, request: Request) -> Response | None:
        """Admit clients that have the key; refuse web pages, even with another host name."""
        given = request.path.strip("/").encode("utf-8", "surrogateescape")
        named = [f"{host}:{self._port()}" for host in ("127.0.0.1", "localhost")]
        of_a_page = "Origin" in request.headers or request.headers.get_all("Host") not in (
            [one] for one in named
        )
        if of_a_page or not secrets.compare_digest(given, self._key.encode()):
            return connection.respond(HTTPStatus.FORBIDDEN, "this address is not known\n")
        if self._open >= _MOST:
            return connection.respond(HTTPStatus.TOO_MANY_REQUESTS, f"{_MOST} clients are connected\n")
        return None

    def _port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _serve(self, connection: ServerConnection) -> None:
        said: asyncio.Queue[str | None] = asyncio.Queue()
        client = ProtocolClient(said.put_nowait, lambda: said.put_nowait(None))
        self._open += 1
        try:
            await self._protocol.attach(client)
            writing = asyncio.create_task(_write(connection, said))
            try:
                async for text in connection:
                    self._protocol.received(client, text if isinstance(text, str) else text.decode())
            except (ConnectionClosed, UnicodeDecodeError):
                pass
            finally:
                writing.cancel()
        finally:
            self._open -= 1
            await self._protocol.detach(client)


async def _write(connection: ServerConnection, said: asyncio.Queue[str | None]) -> None:
    while (text := await said.get()) is not None:
        await connection.send(text)
    await connection.close()
