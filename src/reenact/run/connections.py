"""Limit a server's connections: their number, and the time to send a request.

Uvicorn only has a time limit for idle connections. A client that sends a request line by line, or a body byte by byte,
could keep a connection forever.
"""

from __future__ import annotations

import asyncio
import sys

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if sys.platform != "win32":
    import resource

HEAD = 10.0
"""Seconds in which a request's line and headers must have come."""

BODY = 30.0
"""Seconds in which at least `LEAST` bytes of a body must come, while the server reads."""

LEAST = 4096

STALLED = 600.0
"""Seconds after which an answer is given up that the client does not read."""

_TICK = 5.0
_MOST = 1000
_SPARE = 200
_LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n"
)


def most() -> int:
    """Return the maximum number of open connections: below the process's limit of open files."""
    found = _MOST
    if sys.platform != "win32":
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY:
            found = max(16, min(_MOST, soft - _SPARE))
    return found


class Connection(H11Protocol):
    """One client's connection, with time limits. Give it to uvicorn as `http=Connection`."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Refuse the connection if there are too many. No client may have more than half."""
        super().connection_made(transport)
        self._came = 0
        self._marks: list[tuple[object, float, int]] = []
        self._timer: asyncio.TimerHandle | None = None
        if self._too_many():
            transport.write(_MANY)
            transport.close()
            return
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the received bytes."""
        if not self.transport.is_closing():
            self._came += len(data)
            super().data_received(data)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Leave the connection to WebSocket: it has no requests to wait for."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        super().handle_websocket_upgrade(event)

    def _too_many(self) -> bool:
        if len(self.connections) > most():
            return True
        if self.client is None:
            return False
        clients = [getattr(one, "client", None) for one in self.connections]
        same = [one for one in clients if one is not None and one[0] == self.client[0]]
        return len(same) > most() // 2

    def _look(self) -> None:
        """Close the connection when it has waited too long."""
        now, state = self.loop.time(), self._waits_for()
        waiting = (state, self.cycle)
        if state is None or (self._marks and self._marks[0][0] != waiting):
            self._marks.clear()
        if state is not None:
            self._marks.append((waiting, now, self._progress(state)))
            if self._late(state, now):
                self._close(state)
                return
        self._timer = self.loop.call_later(min(_TICK, HEAD / 2, BODY / 2), self._look)

    def _waits_for(self) -> str | None:
        if self.transport.get_write_buffer_size():
            return "reading"
        if self.flow.read_paused or getattr(self.cycle, "waiting_for_100_continue", False):
            return None
        if self.conn.their_state is h11.SEND_BODY:
            return "body"
        # Idle after an answer: uvicorn has a limit for that, until the next request begins.
        return "head" if self.conn.their_state is h11.IDLE and self.timeout_keep_alive_task is None else None

    def _progress(self, state: str) -> int:
        return -self.transport.get_write_buffer_size() if state == "reading" else self._came

    def _late(self, state: str, now: float) -> bool:
        seconds, least = {"head": (HEAD, None), "body": (BODY, LEAST), "reading": (STALLED, 1)}[state]
        # Compare with the newest of the marks that are old enough.
        while len(self._marks) > 1 and now - self._marks[1][1] >= seconds:
            del self._marks[0]
        _, since, before = self._marks[0]
        return now - since >= seconds and (least is None or self._progress(state) - before < least)

    def _close(self, state: str) -> None:
        if state == "head" and self._came:
            self.transport.write(_LATE)
        if state == "reading":
            self.transport.abort()
        else:
            self.transport.close()
