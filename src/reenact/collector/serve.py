"""The collector as a server: it listens, makes recordings as traces end, and loses nothing when it ends itself."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

import uvicorn

from reenact.collector.app import application
from reenact.collector.traces import Kept, Traces
from reenact.errors import UsageError


@dataclass(frozen=True, slots=True)
class Address:
    """Where it listens: an open socket, and the URL that senders are given."""

    socket: socket.socket
    url: str


def listen(host: str, port: int) -> Address:
    """Open the port; 0 is any that is free. Raises UsageError where it cannot be had."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        found = socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{host}:{port} cannot be listened on ({why}); --port 0 takes any that is free"
        ) from None
    shown = f"[{host}]" if ":" in host else host
    return Address(found, f"http://{shown}:{found.getsockname()[1]}")


def serve(
    traces: Traces,
    address: Address,
    *,
    kept: Callable[[Kept], None],
    failed: Callable[[str], None],
    ended: Callable[[], None],
) -> None:
    """Collect until interrupted.

    Args:
        traces: Where the spans go; its clock is `time.monotonic`.
        address: Where to listen.
        kept: Told of each recording.
        failed: Told of a trace that could not be recorded.
        ended: Called when all that had come is recorded.
    """

    def settle(*, all: bool = False) -> None:
        for one in traces.settle(monotonic(), all=all, failed=failed):
            kept(one)

    def end() -> None:
        settle(all=True)
        ended()

    app = application(lambda spans: traces.take(spans, monotonic()), settle, end=end)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=5,
        server_header=False,
    )
    try:
        uvicorn.Server(config).run(sockets=[address.socket])
    except KeyboardInterrupt:
        # Uvicorn ends in good order, and then repeats the signal that it was ended by.
        return
    finally:
        address.socket.close()
