"""Run the server: listen, report the address, and end within two seconds."""

from __future__ import annotations

import errno
import ipaddress
import logging
import socket
from importlib.util import find_spec
from typing import Literal

import uvicorn
from starlette.types import ASGIApp

from reenact.errors import UsageError
from reenact.run.connections import Connection
from reenact.server.operations.logs import of_uvicorn

PORT = 8090
"""The default port."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""The names of this machine on itself."""

SOCKETS: Literal["websockets-sansio", "none"] = "websockets-sansio" if find_spec("websockets") else "none"
"""Uvicorn's WebSocket implementation, by which programs use hosted browsers."""

_GRACE = 1
"""Seconds for open streams to end by themselves."""


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach a listener on that host."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int | None) -> socket.socket:
    """Open the port.

    Args:
        host: An address or a name of this machine.
        port: The port; 0 for any free one; None for the default one, or any free one if that is taken.

    Raises:
        UsageError: The port cannot be opened.
    """
    try:
        try:
            return _open(host, PORT if port is None else port)
        except OSError as error:
            if port is not None or error.errno != errno.EADDRINUSE:
                raise
            return _open(host, 0)
    except (OSError, OverflowError) as error:
        taken = getattr(error, "errno", None) == errno.EADDRINUSE
        why = "is taken" if taken else f"cannot be listened on ({getattr(error, 'strerror', None) or error})"
        raise UsageError(f"{host}:{port} {why}; --port 0 takes one that is free") from None


def _open(host: str, port: int) -> socket.socket:
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    return socket.create_server((host, port), family=family, backlog=128)


def address_of(listening: socket.socket, host: str) -> str:
    """Return the address to open on this machine."""
    everywhere = host in ("0.0.0.0", "::")  # noqa: S104 - compared with, not listened on
    shown = "127.0.0.1" if everywhere else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}"


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Serve until a signal comes, then close open streams.

    After SIGTERM, clean up and end the process by that signal; after Ctrl-C, return.
    """
    config = uvicorn.Config(
        app, http=Connection, ws=SOCKETS, ws_max_size=64 << 20, lifespan="on", server_header=False,
        timeout_graceful_shutdown=_GRACE, **of_uvicorn(),
    )  # fmt: skip
    server = uvicorn.Server(config)
    # A stream that is closed because the server ends must not be logged as an error.
    logging.getLogger("uvicorn.error").addFilter(lambda _: not server.should_exit)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        # Uvicorn shuts down in order, and then raises the signal again.
        return
    finally:
        listening.close()
