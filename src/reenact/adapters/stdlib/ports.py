"""Ports of the program's own sockets, and the servers of a run.

A port that the system chose is recorded, and a replay gives the program the same number. Where another program uses
that port by then, the socket has another one, and connections of this process to the recorded number go there.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from reenact.core.boundary import Run, current, draw
from reenact.core.web_address import local_port

_SOURCE = "machine:port"
_MOST = 64

_servers: WeakKeyDictionary[Run, WeakSet[socket.socket]] = WeakKeyDictionary()
"""The sockets at which each run listens."""

_getsockname, _bind = socket.socket.getsockname, socket.socket.bind

_told: dict[int, int] = {}
"""The port that the program is told, for each port that had to be another one."""

_given: set[int] = set()
"""The ports that the program has chosen, or that are recorded."""


def install(chosen: Callable[[int], None]) -> None:
    """Replace methods of sockets.

    Args:
        chosen: Takes a port that the system chose and that is not recorded.
    """
    listen = socket.socket.listen

    def getsockname(self: socket.socket) -> Any:
        address = _told_address(_getsockname(self))
        if _has_port(address) and address[1] not in _given and not _in_pair(sys._getframe(1)):
            chosen(address[1])
        return address

    def bind(self: socket.socket, address: Any, /) -> None:
        scope = current()
        if not _has_port(address) or address[1]:
            _bind(self, address)
            if _has_port(address):
                _given.add(address[1])
        elif (
            scope is None
            or scope.hidden
            or self.family not in (socket.AF_INET, socket.AF_INET6)
            or _in_pair(sys._getframe(1))
        ):
            _bind(self, address)
        else:
            _given.add(_bound(self, address))

    def listening(self: socket.socket, *backlog: int) -> None:
        listen(self, *backlog)
        scope = current()
        if scope is not None and not scope.hidden and len(_servers.setdefault(scope.run, WeakSet())) < _MOST:
            _servers[scope.run].add(self)
            scope.run.serves = partial(_serves, _servers[scope.run])

    kind: Any = socket.socket
    kind.getsockname, kind.bind, kind.listen = getsockname, bind, listening
    kind.connect, kind.connect_ex = _to_own(kind.connect), _to_own(kind.connect_ex)


def _to_own(original: Callable[..., Any]) -> Callable[..., Any]:
    def connect(self: socket.socket, address: Any, /) -> Any:
        if _told and _has_port(address):
            port = next((port for port, told in list(_told.items()) if told == address[1]), address[1])
            address = (address[0], port, *address[2:])
        return original(self, address)

    connect.__name__ = original.__name__
    return connect


def _bound(thing: socket.socket, address: Any) -> int:
    """Bind a socket to a port that the system chooses, or to the recorded one.

    Return the port that the program is told.
    """
    live: list[int] = []

    def choose() -> int:
        _bind(thing, address)
        live.append(_getsockname(thing)[1])
        return live[0]

    port: Any = draw(_SOURCE, choose)
    if not live and isinstance(port, int) and 0 < port < 1 << 16:
        with suppress(OSError):
            _bind(thing, (address[0], port, *address[2:]))
            live.append(port)
    told = port if live else 0
    actual = live[0] if live else choose()
    for known in [known for known, number in list(_told.items()) if actual in (known, number)]:
        _told.pop(known, None)
    if not told and isinstance(port, int):
        told = _told[actual] = port
    return told or actual


def _in_pair(frame: FrameType) -> bool:
    """Return True in `socket.socketpair`, which on Windows connects two sockets."""
    return "socketpair" in frame.f_code.co_name and frame.f_globals.get("__name__") == "socket"


def _has_port(address: Any) -> bool:
    return isinstance(address, tuple) and len(address) > 1 and isinstance(address[1], int)


def _told_address(address: Any) -> Any:
    if _told and _has_port(address):
        return (address[0], _told.get(address[1], address[1]), *address[2:])
    return address


def _serves(servers: WeakSet[socket.socket], name: str) -> bool:
    """Return True if a request's name (`POST host:port/path`) has the port of one of these sockets, on this machine."""
    port = local_port(name.partition(" ")[2])
    return port is not None and any(_port_of(server) == port for server in list(servers))


def _port_of(server: socket.socket) -> int | None:
    try:
        address = _told_address(_getsockname(server))
    except OSError:
        return None  # it is closed
    return address[1] if _has_port(address) else None
