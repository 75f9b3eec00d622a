"""A small proxy for HTTP that stands between a client and an object store, and behaves as networks do on bad days."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_WORDS = {500: b"Internal Server Error", 503: b"Slow Down"}


class Between:
    """Passes requests on, one a connection, as it is told.

    Args:
        port: The server behind it, on this machine.

    Attributes:
        faults: What becomes of the next requests, over and over: a number is a status that is answered in place of the
            server; `late:2` waits two seconds before it is passed on; `cut` passes half of the request on and hangs up;
            `lost` passes all on and hangs up in place of the answer; `torn` passes half of the answer on; `deaf` never
            answers; an empty text passes it on as it is.
        seen: How many requests came, by what became of them.
    """

    def __init__(self, port):
        self.faults = [""]
        self.seen = {}
        self._behind = port
        self._count = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._run(asyncio.start_server(self._met, "127.0.0.1", 0))
        self.port = self._server.sockets[0].getsockname()[1]

    def close(self):
        async def ended():
            self._server.close()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        self._run(ended())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, what):
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(10)

    async def _met(self, reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            body = await reader.readexactly(int(length[1])) if length else b""
            fault = self.faults[self._count % len(self.faults)]
            self._count += 1
            self.seen[fault] = self.seen.get(fault, 0) + 1
            await self._answered(head, body, fault, writer)
        writer.close()

    async def _answered(self, head, body, fault, writer):
        kind, _, seconds = str(fault).partition(":")
        if kind.isdigit():
            status = int(kind)
            writer.write(
                b"HTTP/1.1 %d %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % (status, _WORDS[status])
            )
            await writer.drain()
            return
        if kind == "deaf":
            await asyncio.sleep(3600)
        if kind == "late":
            await asyncio.sleep(float(seconds))
        request = head[:-2] + b"Connection: close\r\n\r\n" + body
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._behind, limit=1 << 26)
        try:
            to_server.write(request[: len(request) // 2] if kind == "cut" else request)
            await to_server.drain()
            if kind == "cut":
                return
            answer = await from_server.read()
        finally:
            to_server.close()
        if kind != "lost":
            writer.write(answer[: len(answer) // 2] if kind == "torn" else answer)
            await writer.drain()
