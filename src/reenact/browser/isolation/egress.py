"""A browser's only way to the network: a SOCKS 5 proxy that checks each address.

A browser that uses it resolves no names. The proxy resolves each name once and connects to the address that it has
checked, so a name that resolves to another address a moment later changes nothing.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import socket
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from reenact.browser.isolation.addresses import Address, Reach, RefusedAddressError

_PATIENCE = 10.0
"""Seconds for a greeting, for a name, and for a connection to one address."""
_IDLE = 900.0
"""Seconds after which an idle connection is closed."""
_MOST = 300
"""Connections at once."""
_PIECE = 1 << 16
_REASONS = 200
_RESOLVERS = 4

_DONE, _FAILED, _FORBIDDEN, _UNREACHABLE, _UNKNOWN_COMMAND = 0, 1, 2, 4, 7


class _Failed(Exception):
    """A connection is not made; `reply` is SOCKS's number for it."""

    def __init__(self, reply: int, why: str) -> None:
        super().__init__(why)
        self.reply = reply


class Egress:
    """A SOCKS 5 proxy for one session's browser. Use it in one event loop.

    Args:
        reach: The machines that may be connected to.
    """

    def __init__(self, reach: Reach) -> None:
        self.reach = reach
        self._reasons: OrderedDict[str, str] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._resolving = ThreadPoolExecutor(_RESOLVERS, "reenact egress", initializer=_mark)
        self._server: asyncio.Server | None = None

    async def start(self, listening: socket.socket | None = None) -> int:
        """Listen on a socket, or on a free port of loopback; return the port."""
        if listening is None:
            listening = socket.create_server(("127.0.0.1", 0))
        self._server = await asyncio.start_server(self._accept, sock=listening)
        port: int = listening.getsockname()[1]
        return port

    async def stop(self) -> None:
        """Close all connections. May be called again."""
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._resolving.shutdown(wait=False, cancel_futures=True)

    def why(self, host: str) -> str | None:
        """Return the reason that the last connection to a host failed, or None."""
        return self._reasons.get(_key(host))

    @property
    def last(self) -> str | None:
        """The reason of the last failed connection, or None."""
        return next(reversed(self._reasons.values()), None)

    # -- one connection ----------------------------------------------------------------------------------------

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            if len(self._tasks) <= _MOST:
                await self._serve(reader, writer)
        except (OSError, EOFError, TimeoutError, _Failed):
            pass
        finally:
            await _close(writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_PATIENCE):
            host, port = await _greeted(reader, writer)
        try:
            there, away = await self._connect(host, port)
        except _Failed as failed:
            self._note(host, str(failed))
            writer.write(_answer(failed.reply))
            await writer.drain()
            return
        self._reasons.pop(_key(host), None)
        try:
            writer.write(_answer(_DONE))
            await _both(_Pipe(reader, away), _Pipe(there, writer))
        finally:
            await _close(away)

    async def _connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        failed = _Failed(_UNREACHABLE, "there is no such host")
        for address in await self._resolve(host, port):
            try:
                self.reach.check(host, address, port)
                async with asyncio.timeout(_PATIENCE):
                    return await asyncio.open_connection(str(address), port)
            except RefusedAddressError as refused:
                failed = _Failed(_FORBIDDEN, str(refused))
            except TimeoutError:
                failed = _Failed(_FAILED, "the connection timed out")
            except OSError as error:
                failed = _Failed(_FAILED, _words(error))
        raise failed

    async def _resolve(self, host: str, port: int) -> list[Address]:
        """Return the addresses of a name, without repetition."""
        with suppress(ValueError):
            return [ipaddress.ip_address(host)]
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_PATIENCE):
                found = await loop.run_in_executor(self._resolving, resolve, host, port)
        except (OSError, UnicodeError, TimeoutError):
            raise _Failed(_UNREACHABLE, "there is no such host") from None
        return list(dict.fromkeys(ipaddress.ip_address(one.partition("%")[0]) for one in found))

    def _note(self, host: str, why: str) -> None:
        self._reasons[_key(host)] = why
        self._reasons.move_to_end(_key(host))
        if len(self._reasons) > _REASONS:
            self._reasons.popitem(last=False)


def _key(host: str) -> str:
    plain = host.strip("[]").lower()
    with suppress(ValueError):
        return str(ipaddress.ip_address(plain))
    return plain


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a name, as the system's resolver has them. Raises OSError."""
    return [str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def _mark() -> None:
    # The thread does not belong to the recorded program.
    threading.current_thread().reenact_own = True  # type: ignore[attr-defined]


async def _greeted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int]:
    """Read the requested host and port.

    Raises _Failed if the browser does not request a SOCKS 5 connection.
    """
    version, methods = await reader.readexactly(2)
    if version != 5 or 0 not in await reader.readexactly(methods):
        raise _Failed(_FAILED, "no SOCKS 5")
    writer.write(b"\x05\x00")
    version, command, _, kind = await reader.readexactly(4)
    if kind == 1:
        host = str(ipaddress.IPv4Address(await reader.readexactly(4)))
    elif kind == 4:
        host = str(ipaddress.IPv6Address(await reader.readexactly(16)))
    else:
        (length,) = await reader.readexactly(1)
        host = (await reader.readexactly(length)).decode("ascii", "replace")
    port = int.from_bytes(await reader.readexactly(2), "big")
    if version != 5 or command != 1 or not host or not port:
        writer.write(_answer(_UNKNOWN_COMMAND))
        await writer.drain()
        raise _Failed(_UNKNOWN_COMMAND, "no connection was asked for")
    return host, port


def _answer(reply: int) -> bytes:
    return bytes((5, reply, 0, 1, 0, 0, 0, 0, 0, 0))


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(1):
            await writer.wait_closed()


class _Pipe:
    """One direction of a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.moved = False

    async def run(self) -> None:
        """Copy until the end, and pass the end on."""
        while piece := await self.reader.read(_PIECE):
            self.moved = True
            self.writer.write(piece)
            await self.writer.drain()
        with suppress(OSError):
            self.writer.write_eof()


async def _both(one: _Pipe, other: _Pipe) -> None:
    """Copy in both directions until both have ended, one has failed, or both are idle too long."""
    tasks = {asyncio.create_task(one.run()), asyncio.create_task(other.run())}
    try:
        while tasks:
            one.moved = other.moved = False
            done, tasks = await asyncio.wait(tasks, timeout=_IDLE, return_when=asyncio.FIRST_COMPLETED)
            if any(task.exception() for task in done) or not (done or one.moved or other.moved):
                return
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


_WORDS = {
    errno.ECONNREFUSED: "nothing listens there (connection refused)",
    errno.ECONNRESET: "the connection was reset",
    errno.ETIMEDOUT: "the connection timed out",
    errno.ENETUNREACH: "the address cannot be reached",
    errno.EHOSTUNREACH: "the address cannot be reached",
}


def _words(error: OSError) -> str:
    return _WORDS.get(error.errno or 0) or os.strerror(error.errno or 0)
