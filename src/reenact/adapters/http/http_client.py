"""http.client, the base of urllib, xmlrpc and others (urllib3 has its own adapter).

A request is complete when its headers are sent, or, if the program sends the body by hand, when it asks for the
response: it is held back until then.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from reenact.adapters import hooks
from reenact.adapters.http import exchange
from reenact.adapters.http.coding import Coding
from reenact.adapters.http.framing import ResponseTee, Served, StandIn, Unframed, length_again
from reenact.adapters.scopes import listening
from reenact.core.boundary import Call, begin, current, entered, perform, reporting
from reenact.core.model.event import Effect, Failure

_EARLY = "reenact_early"
"""Marks an error that came while the request was sent, not when its response was asked for."""


def install(module: ModuleType) -> None:
    """Patch `http.client`. Raises HookMissing."""
    plain: Any = module.HTTPConnection
    for name, hook in (
        ("endheaders", _endheaders),
        ("send", _send),
        ("getresponse", _getresponse),
        ("close", _close),
    ):
        hooks.patch(plain, name, hook, library="http.client")
    for kind in (plain, getattr(module, "HTTPSConnection", None)):
        if kind is not None:
            hooks.patch(kind, "connect", _connect, library="http.client")


class _Request:
    """A request on its way: `call` is None while its body is awaited."""

    def __init__(self, connection: Any) -> None:
        first, *lines = [bytes(line) for line in connection._buffer]
        self.method, target = first.decode("latin-1").split(" ")[:2]
        self.headers = [_header(line) for line in lines]
        self.url = _url(connection, target)
        given = (
            connection.timeout if isinstance(connection.timeout, (int, float)) else socket.getdefaulttimeout()
        )
        self.limits = {"timeout": given}
        self.head: bytes | None = None
        self.raw = exchange.Body()
        self.call: Call | None = None

    def value(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def expects_body(self) -> bool:
        return bool(self.value("transfer-encoding")) or self.value("content-length") not in ("", "0")

    def begin(self, body: exchange.Body) -> Call | None:
        self.call = begin(exchange.effect(self.method, self.url, self.headers, body, self.limits), Coding())
        if self.call is not None and self.call.answer is None:
            exchange.keeps_model(self.call, "http.client")
        return self.call

    def begin_by_hand(self) -> Call | None:
        body = self.raw
        if self.value("transfer-encoding").lower() == "chunked":
            frames = Unframed(chunked=True, length=None)
            body = exchange.Body.of(part for raw in self.raw.parts() for part in frames.feed(raw))
        return self.begin(body)


def _endheaders(original: Any) -> Any:
    def endheaders(connection: Any, message_body: Any = None, *, encode_chunked: bool = False) -> Any:
        if listening() is None or not connection._buffer:
            return original(connection, message_body, encode_chunked=encode_chunked)
        request = _Request(connection)
        if exchange.upgrades(request.headers, request.url):
            return original(connection, message_body, encode_chunked=encode_chunked)
        if message_body is None and request.expects_body:
            connection._reenact = request
            return original(connection)
        parts = list(_parts(connection, message_body))
        body = exchange.Body.of(parts)
        if message_body is not None and not isinstance(message_body, (bytes, bytearray, memoryview)):
            message_body = body.parts()
        call = request.begin(body)
        if call is None:
            return original(connection, message_body, encode_chunked=encode_chunked)
        connection._reenact = request
        if call.answer is None:
            return _send_live(
                connection, call, lambda: original(connection, message_body, encode_chunked=encode_chunked)
            )
        original(connection)
        return _raise_early(connection, call)

    return endheaders


def _send(original: Any) -> Any:
    def send(connection: Any, data: Any) -> Any:
        request: _Request | None = connection.__dict__.get("_reenact")
        if request is None or (request.call is not None and request.call.answer is None):
            return original(connection, data)
        if request.call is None:
            if request.head is None:
                request.head = bytes(data)
            else:
                for part in _parts(connection, data):
                    request.raw.add(part)
        return None

    return send


def _getresponse(original: Any) -> Any:
    def getresponse(connection: Any) -> Any:
        request: _Request | None = connection.__dict__.get("_reenact")
        if request is None:
            return original(connection)
        call = request.call
        if call is None:
            call = _send_held(connection, request)
        connection._reenact = None
        if call is None:
            return original(connection)
        if call.answer is not None:
            return _replayed(connection, call, request.method, original)
        with reporting(call):
            response = original(connection)
        return tee(response, call)

    return getresponse


def _close(original: Any) -> Any:
    def close(connection: Any) -> Any:
        request: _Request | None = connection.__dict__.get("_reenact")
        if request is not None:
            scope = current()
            # Closed by the program, not by http.client itself after an error.
            if scope is None or not scope.hidden:
                connection._reenact = None
                if request.call is not None and request.call.answer is None:
                    request.call.cancelled()
        return original(connection)

    return close


def _connect(original: Any) -> Any:
    def connect(connection: Any) -> Any:
        if listening() is None:
            return original(connection)
        # Most programs let the first request connect; a program that calls `connect` may expect a refused connection.
        where = exchange.place(_url(connection, "/")).removesuffix("/")
        effect = Effect("http", f"CONNECT {where}", {"method": "CONNECT", "url": where}, leaf=True)
        return perform(effect, lambda: original(connection))

    return connect


# -- live ----------------------------------------------------------------------------------------------------


def tee(response: Any, call: Call) -> Any:
    """Report the head of an `http.client.HTTPResponse`; record its body as it is read."""
    version = {10: "HTTP/1.0", 11: "HTTP/1.1"}.get(response.version, "HTTP/1.1")
    call.returned(
        exchange.head(response.status, response.reason, version, list(response.headers.items())), stream=True
    )
    body = Unframed(chunked=bool(response.chunked), length=response.length)
    if body.is_done() or response.fp is None:
        call.over()
    else:
        response.fp = ResponseTee(response.fp, call, body)
    return response


def _send_live(connection: Any, call: Call, send: Any) -> None:
    try:
        with entered(call.inner):
            send()
    except Exception as error:
        connection._reenact = None
        setattr(error, _EARLY, True)
        call.raised(error)
        delattr(error, _EARLY)
        raise
    except BaseException as error:
        connection._reenact = None
        call.raised(error)
        raise


def _send_held(connection: Any, request: _Request) -> Call | None:
    call = request.begin_by_hand()
    if call is None or call.answer is None:

        def send() -> None:
            connection.send(request.head)
            for part in request.raw.parts():
                connection.send(part)

        if call is None:
            connection._reenact = None
            send()
        else:
            with reporting(call):
                send()
    return call


# -- recorded ------------------------------------------------------------------------------------------------


def _raise_early(connection: Any, call: Call) -> None:
    answer = call.answer
    if answer is not None and isinstance(answer.outcome, Failure) and hasattr(answer.outcome.error, _EARLY):
        connection._reenact = None
        delattr(answer.outcome.error, _EARLY)
        call.recorded.serve()


def _replayed(connection: Any, call: Call, method: str, original: Any) -> Any:
    try:
        head = call.recorded.serve()
    except ConnectionError:
        connection.close()
        raise
    socket = connection.sock = StandIn(Served(call, head, method))
    response = original(connection)
    if connection.sock is socket:
        connection.sock = None
    length = length_again(call, head)
    if length is not None and response.length:
        response.length = length
    return response


# -- the request ---------------------------------------------------------------------------------------------


def _parts(connection: Any, data: Any) -> Iterator[Any]:
    if data is None:
        return
    if hasattr(data, "read"):
        yield from connection._read_readable(data)
        return
    try:
        memoryview(data)
    except TypeError:
        if isinstance(data, str) or not isinstance(data, Iterable):
            raise
        yield from data
    else:
        yield data


def _header(line: bytes) -> tuple[str, str]:
    name, _, value = line.partition(b":")
    return exchange.text(name), exchange.text(value.strip())


def _url(connection: Any, target: str) -> str:
    if "://" in target:
        return target
    secure = connection.default_port == 443
    host, port = connection.host, connection.port
    if connection._tunnel_host:
        host, port = connection._tunnel_host, connection._tunnel_port or connection.default_port
    host = f"[{host}]" if ":" in host else host
    suffix = "" if port == (443 if secure else 80) else f":{port}"
    return f"{'https' if secure else 'http'}://{host}{suffix}{target}"
