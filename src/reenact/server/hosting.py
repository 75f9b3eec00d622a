"""Run the server as a process: listen, report the address, end within two seconds."""

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
"""The names of this machine to itself."""

SOCKETS: Literal["websockets-sansio", "none"] = "websockets-sansio" if find_spec("websockets") else "none"
"""The WebSocket implementation for uvicorn: programs reach hosted browsers by WebSockets."""

_GRACE = 1
"""Seconds that open streams are given to end by themselves."""


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a listener at that host."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int | None) -> socket.socket:
    """Open the port.

    Args:
        host: An address or a name of this machine.
        port: The port; 0 is any that is free, None is the usual one, or any where that is taken.

    Raises:
        UsageError: It cannot be had.
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
    """The address that a person on this machine opens."""
    everywhere = host in ("0.0.0.0", "::")  # noqa: S104 - compared with, not listened on
    shown = "127.0.0.1" if everywhere else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}"


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Serve until a signal ends it. Streams that are open then are closed.

    SIGTERM ends the process as it ends others, after all is put away; Ctrl-C returns.
    """
    config = uvicorn.Config(
        app, http=Connection, ws=SOCKETS, ws_max_size=64 << 20, lifespan="on", server_header=False,
        timeout_graceful_shutdown=_GRACE, **of_uvicorn(),
    )  # fmt: skip
    server = uvicorn.Server(config)
    # A stream that is closed because the server ends is no error of the route that wrote it.
    logging.getLogger("uvicorn.error").addFilter(lambda _: not server.should_exit)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        # Uvicorn ends in good order, and then repeats the signal that it was ended by.
        return
    finally:
        listening.close()
