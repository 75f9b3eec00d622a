"""Ports of the program's own sockets, and the servers of a run.

A port that the system chose is recorded, and a replay gives the program the same number. Where another program uses
that port by then, the socket has another one, and connections of this process to the recorded number go there.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers
from reenact.core.boundary import Run, Scope, current, draw, entered
from reenact.core.web_address import local_port

_SOURCE = "machine:port"

_CONNECTED = "socket:connected"
"""The source of the outcomes of connections to this machine: 0, or the error's number."""

_HERE = ("127.0.0.1", "localhost", "::1")
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
            port = _port_of(self)
            if port is not None and scope.run.family is not None:
                scope.run.family.listens(port, _getsockname(self)[1])

    kind: Any = socket.socket
    kind.getsockname, kind.bind, kind.listen = getsockname, bind, listening
    kind.connect, kind.connect_ex = _to_own(kind.connect), _to_own(kind.connect_ex)


def reach(port: int, actual: int) -> None:
    """Connect to a server of another process of the run by the port that the program is told."""
    if port != actual:
        _told[actual] = port


def _to_own(original: Callable[..., Any]) -> Callable[..., Any]:
    def connect(self: socket.socket, address: Any, /) -> Any:
        scope = _between_processes(self, address, sys._getframe(1))
        if scope is None:
            return original(self, _actual(address))
        return _connected(scope, original, self, address)

    connect.__name__ = original.__name__
    return connect


def _actual(address: Any) -> Any:
    """Return an address with the port that a server of the run has, if it had to be another one."""
    if _told and _has_port(address):
        port = next((port for port, told in list(_told.items()) if told == address[1]), address[1])
        return (address[0], port, *address[2:])
    return address


# -- connections between processes ---------------------------------------------------------------------------


def _between_processes(thing: socket.socket, address: Any, caller: FrameType | None) -> Scope | None:
    """Return the running code's scope if the program itself connects to this machine."""
    scope = listening()
    family = None if scope is None else scope.run.family
    if scope is None or family is None or not family.several or not _has_port(address):
        return None
    while caller is not None and caller.f_globals.get("__name__") == "socket":
        caller = caller.f_back
    if address[0] not in _HERE or thing.gettimeout() == 0 or not callers.program(caller):
        return None
    return scope if not scope.run.replaying or family.serves(address[1]) else None


def _connected(scope: Scope, connect: Callable[..., Any], thing: socket.socket, address: Any) -> Any:
    """Connect, with the recorded outcome: a program may try until a server is there."""
    live: list[Any] = []

    def attempt() -> int:
        try:
            live.append(connect(thing, _actual(address)))
        except OSError as error:
            return error.errno or errno.ETIMEDOUT
        return live[0] or 0

    found: Any = draw(_CONNECTED, attempt)
    family = scope.run.family
    if found == 0 and not live and family is not None and family.await_server(address[1]):
        place = f"{scope.path}/socket:{address[0]}:{address[1]}"
        with entered(scope.inside(place, call=scope.call, hidden=True)):
            found = attempt()
    if found == 0 or connect.__name__ == "connect_ex":
        return found or None if connect.__name__ == "connect" else found
    raise OSError(found, os.strerror(found))


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
    """Return True if a request (`POST host:port/path`) goes to one of these sockets."""
    port = local_port(name.partition(" ")[2])
    return port is not None and any(_port_of(server) == port for server in list(servers))


def _port_of(server: socket.socket) -> int | None:
    try:
        address = _told_address(_getsockname(server))
    except OSError:
        return None  # it is closed
    return address[1] if _has_port(address) else None
