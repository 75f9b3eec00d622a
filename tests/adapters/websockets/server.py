"""A websocket server on loopback, in a thread and a loop of its own. Every answer carries a number that never comes
again, so that a replay which reads anything but its recording shows.
"""

from __future__ import annotations

import asyncio
import json
import threading
from http import HTTPStatus
from itertools import count

from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed
from websockets.sync import client


def connect_directly(url):
    """A connection in threads without `with`: websockets 17 warns of it unless it is told."""
    options = {"legacy": True} if hasattr(client, "reconnect") else {}
    return client.connect(url, **options)


class Server:
    """Runs from its making until `stop`. `opened` counts handshakes, `sent` the fragments of streamed messages."""

    def __init__(self):
        self.opened = 0
        self.sent = 0
        self.numbers = count(1)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(60)
        self.url = f"ws://127.0.0.1:{self._port}"

    def stop(self):
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join()

    def _run(self):
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self):
        self._over = asyncio.Event()
        async with serve(
            self._talk,
            "127.0.0.1",
            0,
            process_request=self._asked,
            process_response=self._numbered,
            select_subprotocol=lambda _, offered: offered[0] if offered else None,
        ) as server:
            self._port = server.sockets[0].getsockname()[1]
            self._ready.set()
            await self._over.wait()
            for connection in server.connections:
                connection.transport.abort()

    async def _asked(self, connection, request):
        self.opened += 1
        if request.path.startswith("/bad"):
            response = connection.respond(HTTPStatus.FORBIDDEN, f"no entry, number {next(self.numbers)}\n")
            response.headers["X-Why"] = "closed"
            return response
        if request.path.startswith("/slow"):
            await asyncio.sleep(1.2)
        return None

    def _numbered(self, connection, request, response):
        response.headers["X-Number"] = str(next(self.numbers))
        return response

    async def _talk(self, connection):
        path = connection.request.path.strip("/").split("/")
        try:
            await getattr(self, f"on_{path[0]}", self.on_echo)(connection)
        except ConnectionClosed:
            pass

    async def on_echo(self, connection):
        """Answer each message."""
        async for message in connection:
            text = message if isinstance(message, str) else f"{len(message)} bytes"
            await connection.send(f"{next(self.numbers)}: {text}")

    async def on_talkative(self, connection):
        """Say something by oneself, and again for each message."""
        for _ in range(2):
            await connection.send(json.dumps({"hello": next(self.numbers)}))
        async for message in connection:
            for part in ("one", "two"):
                await connection.send(json.dumps({part: next(self.numbers), "to": json.loads(message)}))

    async def on_leaves(self, connection):
        """Answer once and leave with a code of one's own."""
        await connection.send(f"bye {next(self.numbers)}")
        await connection.close(4001, "session expired")

    async def on_patient(self, connection):
        """Answer late."""
        async for message in connection:
            await asyncio.sleep(0.3)
            await connection.send(f"{next(self.numbers)} late: {message}")

    async def on_pieces(self, connection):
        """One message in four fragments."""

        async def pieces():
            for _ in range(4):
                self.sent += 1
                yield f"piece {next(self.numbers)} "
                await asyncio.sleep(0.02)

        await connection.send(pieces())
        await connection.wait_closed()
