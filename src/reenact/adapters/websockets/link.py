"""One connection as seen by its effects: their names, and the scope of their addresses."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, ConnectionClosedError, InvalidStatus
from websockets.frames import Close
from websockets.http11 import Response
from websockets.protocol import CLIENT, CLOSED, OPEN
from websockets.utils import accept_key

from reenact.adapters.http import exchange
from reenact.adapters.scopes import listening
from reenact.core.boundary import Run, Scope, current
from reenact.core.model.event import Effect

T = TypeVar("T")

_HEADERS = "reenact_headers"
_RECORDED = "_reenact_recorded"
_WELCOME = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: %b\r\n\r\n"
)


class Link:
    """The recorded state of one connection.

    Args:
        scope: The scope that opened it.
        url: The address of its server.

    Attributes:
        taken: Messages that came while their reader was cancelled: the next reader gets them.
    """

    def __init__(self, scope: Scope, url: str) -> None:
        self.run = scope.run
        self.place = exchange.place(url)
        self.taken: deque[Any] = deque()
        self._scopes = {scope.call: scope.span(f"websocket:{self.place}")}

    def effect(self, verb: str, args: dict[str, Any]) -> Effect:
        """Return an effect of this connection."""
        return Effect("websocket", f"{verb} {self.place}", args, leaf=True)

    def scope(self) -> Scope:
        """Return the scope of its effects: below the connection, for every task or thread.

        Inside another effect (a tool) they belong to that effect.
        """
        scope = current()
        assert scope is not None
        found = self._scopes.get(scope.call)
        if found is None:
            found = self._scopes[scope.call] = scope.anchor.span(f"websocket:{self.place}")
        return found


class Inside:
    """Marks a connection that was opened inside an effect which is recorded as a whole.

    Its later reads and writes belong to that effect, in every task: a browser's control, for example.
    """

    def __init__(self, run: Run) -> None:
        self.run = run


def inside(connection: T) -> T:
    """Mark a connection that was opened inside an effect recorded as a whole."""
    scope = current()
    if scope is not None:
        connection._reenact = Inside(scope.run)  # type: ignore[attr-defined]
    return connection


def of(connection: Any) -> Link | None:
    """Return the link of a client's connection, if a run is active here."""
    if (scope := listening()) is None or connection.protocol.side is not CLIENT:
        return None
    link = vars(connection).get("_reenact")
    if isinstance(link, Inside) and link.run is scope.run:
        return None
    if not isinstance(link, Link) or link.run is not scope.run:
        # It was opened before the recording began.
        uri = connection.protocol.uri
        url = f"{'wss' if uri.secure else 'ws'}://{uri.host}:{uri.port}{uri.path}"
        link = connection._reenact = Link(scope.run.root, url)
    return link


class NotConnected(ConnectionClosedError):
    """A message for a connection opened from a recording, after the program has gone live.

    That is in a fork, or a replay with `live=[...]`. It derives from websockets' own error, so that a program with
    reconnection reconnects.
    """

    def __init__(self, place: str) -> None:
        super().__init__(None, None)
        self.place = place

    def __str__(self) -> str:
        return (
            f"the connection to {self.place} was opened from the recording and cannot go on live: fork before it is "
            f"opened (websocket:connect), or run it for real (live=['websocket'])"
        )


def really(original: Callable[..., T], connection: Any, *args: Any, **options: Any) -> T:
    """Call the library's own function. Raises NotConnected for an unconnected connection."""
    if hasattr(connection, _RECORDED):
        joined = getattr(connection, "_reenact", None)
        raise NotConnected(joined.place if isinstance(joined, Link) else "?")
    return original(connection, *args, **options)


# -- questions -------------------------------------------------------------------------------------------------


def opening(url: str, headers: Any, subprotocols: Iterable[str] | None) -> Effect:
    """Return the effect that opens a connection, without the headers that websockets adds."""
    given = Headers(headers or {}).raw_items()
    args: dict[str, Any] = {"url": url, "headers": {key.lower(): value for key, value in given}}
    if subprotocols:
        args["subprotocols"] = list(subprotocols)
    return Effect("websocket", f"connect {exchange.place(url)}", args, leaf=True)


def sending(message: Any, text: bool | None) -> dict[str, Any]:
    """Return the arguments of a sent message: text, bytes, or a list of its fragments."""
    return {"message": _plain(message), **({} if text is None else {"text": text})}


def _plain(message: Any) -> Any:
    if isinstance(message, (bytearray, memoryview)):
        return bytes(message)
    return [_plain(part) for part in message] if isinstance(message, list) else message


def whole(message: Any) -> Any:
    """Return a message that can be recorded and then sent: of an iterable, its fragments."""
    if isinstance(message, (str, bytes, bytearray, memoryview, dict)) or not isinstance(message, Iterable):
        return message
    return list(message)


def receiving(decode: bool | None) -> dict[str, Any]:
    """Return the arguments of a wait for a message."""
    return {} if decode is None else {"decode": decode}


# -- answers ---------------------------------------------------------------------------------------------------


def head(connection: Any) -> dict[str, Any]:
    """Return the recorded form of a connection's opening."""
    response = connection.response
    return {
        "status": response.status_code,
        "reason": response.reason_phrase,
        "headers": [[key, value] for key, value in response.headers.raw_items()],
        "subprotocol": connection.subprotocol,
        "addresses": [_address(connection, "local_address"), _address(connection, "remote_address")],
    }


def _address(connection: Any, which: str) -> Any:
    try:
        return getattr(connection, which)
    except OSError:
        return None


def opened(connection: Any, kept: dict[str, Any]) -> None:
    """Bring an unconnected connection to the recorded state after its opening."""
    protocol = connection.protocol
    connection.request = protocol.connect()
    protocol.send_request(connection.request)
    key = connection.request.headers["Sec-WebSocket-Key"]
    protocol.receive_data(_WELCOME % accept_key(key).encode())
    protocol.events_received()
    protocol.data_to_send()
    assert protocol.state is OPEN
    protocol.subprotocol = kept["subprotocol"]
    headers = Headers([(key, value) for key, value in kept["headers"]])
    connection.response = Response(kept["status"], kept["reason"], headers)
    setattr(connection, _RECORDED, True)


def closing(connection: Any) -> dict[str, Any]:
    """Return the recorded form of a connection's closing."""
    return {"code": connection.close_code, "reason": connection.close_reason}


def closed(connection: Any, kept: dict[str, Any] | ConnectionClosed) -> None:
    """Bring a recorded connection to its end, with its code and reason."""
    protocol = connection.protocol
    if not hasattr(connection, _RECORDED) or protocol.state is CLOSED:
        return
    if isinstance(kept, ConnectionClosed):
        protocol.close_rcvd, protocol.close_sent = kept.rcvd, kept.sent
        protocol.close_rcvd_then_sent = kept.rcvd_then_sent
    elif kept["code"] is not None and kept["code"] != 1006:
        protocol.close_rcvd = protocol.close_sent = Close(kept["code"], kept["reason"])
        protocol.close_rcvd_then_sent = False
    protocol.state = CLOSED


# -- refusals --------------------------------------------------------------------------------------------------


def refused(error: BaseException) -> None:
    """Keep the headers of the server's answer with a refusal, in a recordable type."""
    if isinstance(error, InvalidStatus):
        # A deprecated attribute has the error itself, which cannot be recorded.
        error.response._exception = None
        setattr(error, _HEADERS, [[key, value] for key, value in error.response.headers.raw_items()])


def refusal(error: BaseException) -> BaseException:
    """Return a recorded refusal with its server's answer restored."""
    kept = getattr(error, _HEADERS, None)
    if isinstance(error, InvalidStatus) and isinstance(kept, list):
        error.response.headers = Headers([(key, value) for key, value in kept])
    return error
