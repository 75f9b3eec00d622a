"""`websockets.sync.client`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed
from websockets.uri import parse_uri

from reenact.adapters import hooks
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import early
from reenact.adapters.websockets import link
from reenact.core.boundary import begin, entered, perform, reporting, stream
from reenact.core.model.event import Effect


def methods(library: Any) -> tuple[str, ...]:
    """Return the methods patched for threads alone; websockets 17 adds a wait for the end."""
    return ("recv_events", "keepalive", *(("wait_closed",) if hasattr(library, "reconnect") else ()))


def install(library: Any) -> None:
    """Patch the module; the caller has checked that it has all names."""
    original = library.connect
    if getattr(original, "_reenact", False):
        return
    connection = library.ClientConnection.__mro__[1]
    for name, wrapper in {
        "recv": _recv,
        "recv_streaming": _recv_streaming,
        "send": _send,
        "close": _close,
        "ping": _ping,
        "pong": _pong,
    }.items():
        hooks.patch(connection, name, _warned(wrapper), library="websockets")
    for name in methods(library):
        wrapper = _wait_closed if name == "wait_closed" else _plumbing
        hooks.patch(connection, name, wrapper, library="websockets")
    if hasattr(library, "reconnect"):
        # Since websockets 17, `connect` calls this method, too.
        hooks.patch(library.reconnect, "connect", _reconnect, library="websockets")
        return
    connect = wraps(original)(_connect(original, library.ClientConnection))
    connect._reenact = True  # type: ignore[attr-defined]
    # Also in modules that have imported it by name.
    early.put(library, "connect", connect, everywhere=True)
    early.rebind()


class _Socket:
    """Replaces a socket: a replay has none."""

    def __init__(self, addresses: list[Any]) -> None:
        self._addresses = addresses

    def getsockname(self) -> Any:
        return self._addresses[0]

    def getpeername(self) -> Any:
        return self._addresses[1]

    def __getattr__(self, name: str) -> Callable[..., None]:
        # sendall, shutdown, close …: nothing happens.
        return lambda *_args, **_options: None


# -- opening ---------------------------------------------------------------------------------------------------


def _connect(original: Any, standard: Any) -> Callable[..., Any]:
    def connect(uri: str, **options: Any) -> Any:
        headers, asked = options.get("additional_headers"), options.get("subprotocols")
        kind = options.get("create_connection") or standard
        return _joined(link.opening(uri, headers, asked), uri, kind, lambda: original(uri, **options))

    return connect


def _reconnect(original: Any) -> Any:
    def connect(connecting: Any) -> Any:
        asked = connecting.protocol_kwargs["subprotocols"]
        effect = link.opening(connecting.uri, connecting.additional_headers, asked)
        return _joined(effect, connecting.uri, connecting.create_connection, lambda: original(connecting))

    return connect


def _joined(effect: Effect, uri: str, kind: Any, live: Callable[[], Any]) -> Any:
    if (scope := listening()) is None:
        return link.inside(live())
    call = begin(effect)
    assert call is not None
    joined = link.Link(scope, uri)
    if call.answer is not None:
        try:
            kept = call.recorded.serve()
        except Exception as error:
            raise link.refusal(error) from error.__cause__
        connection = _opened(kind, uri, kept)
    else:
        scope.run.turnstile.settle()
        with reporting(call):
            connection = _for_real(live)
        call.returned(link.head(connection))
    connection._reenact = joined
    return connection


def _for_real(live: Callable[[], Any]) -> Any:
    try:
        return live()
    except Exception as error:
        link.refused(error)
        raise


def _opened(kind: Any, uri: str, kept: Any) -> Any:
    """Return an open but unconnected connection of the program's class, without a read thread."""
    connection = kind.__new__(kind)
    connection.recv_events = lambda: None
    with entered(None):
        connection.__init__(_Socket(kept["addresses"]), ClientProtocol(parse_uri(uri)))
        connection.recv_events_thread.join()
        link.opened(connection, kept)
    connection.recv_messages.close()
    if hasattr(connection, "shutdown_watcher"):
        # They would wake a reading thread, which a replay does not have.
        connection.shutdown_watcher.close()
        connection.shutdown_notifier.close()
    return connection


def _plumbing(original: Any) -> Any:
    """Hook the library's own threads: they are not recorded, and not waited for."""

    def run(connection: Any) -> None:
        with entered(None):
            original(connection)

    return run


def _warned(wrapper: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Make websockets 17 warn of a missing `with` at the program's line, in a replay, too."""

    def patched(original: Any) -> Any:
        run = wrapper(original)

        def method(connection: Any, *args: Any, **options: Any) -> Any:
            if hasattr(connection, "maybe_raise_legacy_warning"):
                connection.maybe_raise_legacy_warning()
            return run(connection, *args, **options)

        return method

    return patched


# -- messages --------------------------------------------------------------------------------------------------


def _recv(original: Any) -> Any:
    def recv(connection: Any, timeout: float | None = None, decode: bool | None = None) -> Any:
        joined = link.of(connection)
        if joined is None:
            return original(connection, timeout, decode)
        args = link.receiving(decode)
        return _asked(
            connection, joined, "receive", args, lambda: link.really(original, connection, timeout, decode)
        )

    return recv


def _recv_streaming(original: Any) -> Any:
    def recv_streaming(connection: Any, decode: bool | None = None) -> Iterator[Any]:
        joined = link.of(connection)
        if joined is None:
            found: Iterator[Any] = original(connection, decode)
            return found
        with entered(joined.scope()):
            effect = joined.effect("receive", {**link.receiving(decode), "streaming": True})
            return stream(effect, lambda: link.really(original, connection, decode))

    return recv_streaming


def _send(original: Any) -> Any:
    def send(connection: Any, message: Any, text: bool | None = None) -> None:
        joined = link.of(connection)
        if joined is None:
            original(connection, message, text=text)
            return
        message = link.whole(message)
        args = link.sending(message, text)
        _asked(
            connection, joined, "send", args, lambda: link.really(original, connection, message, text=text)
        )

    return send


def _close(original: Any) -> Any:
    def close(connection: Any, code: int = 1000, reason: str = "") -> None:
        joined = link.of(connection)
        if joined is None:
            original(connection, code, reason)
            return

        def live() -> Any:
            original(connection, code, reason)
            return link.closing(connection)

        kept = _asked(connection, joined, "close", {"code": int(code), "reason": reason}, live)
        link.closed(connection, kept)

    return close


def _wait_closed(original: Any) -> Any:
    def wait_closed(connection: Any, timeout: float | None = None) -> bool:
        joined = link.of(connection)
        if joined is None:
            return bool(original(connection, timeout))

        def live() -> Any:
            return link.closing(connection) if link.really(original, connection, timeout) else None

        kept = _asked(connection, joined, "wait for the end of", {}, live)
        if kept is not None:
            link.closed(connection, kept)
        return kept is not None

    return wait_closed


def _asked(
    connection: Any, joined: link.Link, verb: str, args: dict[str, Any], live: Callable[[], Any]
) -> Any:
    try:
        with entered(joined.scope()):
            return perform(joined.effect(verb, args), live)
    except ConnectionClosed as error:
        link.closed(connection, error)
        raise


# -- pings: no questions of the program's ----------------------------------------------------------------------


def _ping(original: Any) -> Any:
    def ping(connection: Any, data: Any = None, ack_on_close: bool = False) -> Any:
        if not isinstance(connection.socket, _Socket):
            return original(connection, data, ack_on_close)
        pong = threading.Event()
        pong.set()
        return pong

    return ping


def _pong(original: Any) -> Any:
    def pong(connection: Any, data: Any = b"") -> None:
        if not isinstance(connection.socket, _Socket):
            original(connection, data)

    return pong
