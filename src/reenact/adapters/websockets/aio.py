"""`websockets.asyncio.client`."""

from __future__ import annotations

import asyncio
from asyncio import CancelledError
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.uri import parse_uri

from reenact.adapters import hooks
from reenact.adapters.scopes import listening
from reenact.adapters.websockets import link
from reenact.core.boundary import aperform, areporting, astream, begin, entered


def opener(connect: Any) -> str:
    """Return the name of the method that opens a connection; it has changed in websockets 17."""
    return "__await_impl__" if "__await_impl__" in vars(connect) else "connect"


def install(library: Any) -> None:
    """Patch the module; the caller has checked that it has all names."""
    connection = library.ClientConnection.__mro__[1]
    hooks.patch(library.connect, "__init__", _noted, library="websockets")
    hooks.patch(library.connect, opener(library.connect), _connect, library="websockets")
    for name, wrapper in {
        "recv": _recv,
        "recv_streaming": _recv_streaming,
        "send": _send,
        "close": _close,
        "wait_closed": _wait_closed,
        "ping": _ping,
        "pong": _pong,
    }.items():
        hooks.patch(connection, name, wrapper, library="websockets")


class _Transport:
    """Replaces a transport: a replay has none."""

    def __init__(self, addresses: list[Any]) -> None:
        self._known = dict(zip(("sockname", "peername"), addresses, strict=True))

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._known.get(name, default)

    def is_closing(self) -> bool:
        return True

    def can_write_eof(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Callable[..., None]:
        # write, abort, pause_reading …: nothing happens.
        return lambda *_args, **_options: None


# -- opening ---------------------------------------------------------------------------------------------------


def _noted(original: Any) -> Any:
    def __init__(connecting: Any, uri: str, **options: Any) -> None:  # noqa: N807 - it is one
        connecting._subprotocols = options.get("subprotocols")
        original(connecting, uri, **options)

    return __init__


def _connect(original: Any) -> Any:
    async def connect(connecting: Any) -> Any:
        if (scope := listening()) is None:
            return link.inside(await original(connecting))
        url, asked = connecting.uri, getattr(connecting, "_subprotocols", None)
        call = begin(link.opening(url, connecting.additional_headers, asked))
        assert call is not None
        joined = link.Link(scope, url)
        if call.answer is not None:
            try:
                kept = await call.recorded.aserve()
            except Exception as error:
                raise link.refusal(error) from error.__cause__
            connection = _opened(connecting, kept)
        else:
            async with areporting(call):
                connection = await _for_real(original, connecting)
            try:
                await call.areturned(link.head(connection))
            except BaseException:
                connection.transport.abort()
                raise
        connection._reenact = joined
        if hasattr(connecting, "protocol_factory"):
            # Before websockets 17, whose `__aenter__` sets it.
            connecting.connection = connection
        return connection

    return connect


async def _for_real(original: Any, connecting: Any) -> Any:
    try:
        return await original(connecting)
    except Exception as error:
        link.refused(error)
        raise


def _opened(connecting: Any, kept: Any) -> Any:
    """Return an open but unconnected connection of the program's own class."""
    factory = getattr(connecting, "protocol_factory", None) or connecting.factory
    with entered(None):
        connection = factory(parse_uri(connecting.uri))
        connection.connection_made(_Transport(kept["addresses"]))
        link.opened(connection, kept)
    # A use after the replay does not wait.
    connection.recv_messages.close()
    connection.connection_lost_waiter.set_result(None)
    return connection


# -- messages --------------------------------------------------------------------------------------------------


def _recv(original: Any) -> Any:
    async def recv(connection: Any, decode: bool | None = None) -> Any:
        joined = link.of(connection)
        if joined is None:
            return await original(connection, decode)
        with entered(joined.scope()):
            call = begin(joined.effect("receive", link.receiving(decode)))
        assert call is not None
        if call.answer is not None:
            return await _served(connection, call.recorded.aserve)
        if joined.taken:
            message = joined.taken.popleft()
        else:
            async with areporting(call):
                message = await link.really(original, connection, decode)
        try:
            return await call.areturned(message)
        except CancelledError:
            joined.taken.append(message)
            raise

    return recv


def _recv_streaming(original: Any) -> Any:
    def recv_streaming(connection: Any, decode: bool | None = None) -> AsyncIterator[Any]:
        joined = link.of(connection)
        if joined is None:
            found: AsyncIterator[Any] = original(connection, decode)
            return found
        with entered(joined.scope()):
            effect = joined.effect("receive", {**link.receiving(decode), "streaming": True})
            return astream(effect, lambda: link.really(original, connection, decode))

    return recv_streaming


def _send(original: Any) -> Any:
    async def send(connection: Any, message: Any, text: bool | None = None) -> None:
        joined = link.of(connection)
        if joined is None:
            return await original(connection, message, text=text)  # type: ignore[no-any-return]
        if isinstance(message, AsyncIterable):
            # The message is compared as a whole, so it is read first.
            message = [part async for part in message]
        message = link.whole(message)
        await _asked(
            connection,
            joined,
            "send",
            link.sending(message, text),
            lambda: link.really(original, connection, message, text=text),
        )
        return None

    return send


def _close(original: Any) -> Any:
    async def close(connection: Any, code: int = 1000, reason: str = "") -> None:
        joined = link.of(connection)
        if joined is None:
            return await original(connection, code, reason)  # type: ignore[no-any-return]

        async def live() -> Any:
            await original(connection, code, reason)
            return link.closing(connection)

        kept = await _asked(connection, joined, "close", {"code": int(code), "reason": reason}, live)
        link.closed(connection, kept)
        return None

    return close


def _wait_closed(original: Any) -> Any:
    async def wait_closed(connection: Any) -> None:
        joined = link.of(connection)
        if joined is None:
            return await original(connection)  # type: ignore[no-any-return]

        async def live() -> Any:
            await original(connection)
            return link.closing(connection)

        link.closed(connection, await _asked(connection, joined, "wait for the end of", {}, live))
        return None

    return wait_closed


async def _asked(
    connection: Any, joined: link.Link, verb: str, args: dict[str, Any], live: Callable[[], Awaitable[Any]]
) -> Any:
    with entered(joined.scope()):
        return await _served(connection, lambda: aperform(joined.effect(verb, args), live))


async def _served(connection: Any, answer: Callable[[], Awaitable[Any]]) -> Any:
    try:
        return await answer()
    except ConnectionClosed as error:
        link.closed(connection, error)
        raise


# -- pings: no questions of the program's ----------------------------------------------------------------------


def _ping(original: Any) -> Any:
    async def ping(connection: Any, data: Any = None) -> Any:
        if not isinstance(connection.transport, _Transport):
            return await original(connection, data)
        pong: asyncio.Future[float] = connection.loop.create_future()
        pong.set_result(0.0)
        return pong

    return ping


def _pong(original: Any) -> Any:
    async def pong(connection: Any, data: Any = b"") -> None:
        if not isinstance(connection.transport, _Transport):
            await original(connection, data)

    return pong
