"""The proxy as an ASGI application: a request comes in, the boundary answers it.

Answers pass chunk by chunk, as they come. The program gets all that its provider sends: status, headers, body, a broken
connection. The proxy's own messages are one line of JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

import httpx
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from reenact.adapters.http import exchange
from reenact.adapters.http.coding import coding_of
from reenact.adapters.http.httpx import head_of
from reenact.core import unpack
from reenact.core.boundary import Call, areporting
from reenact.core.model.event import Effect
from reenact.errors import Halt
from reenact.run.foreign_pages import from_foreign_page, has_public_name
from reenact.run.proxy.providers import Route

DEPARTED = 400
"""The HTTP status of a departure: no SDK retries it (LangChain.js retries a 422)."""

_HOP = frozenset((
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade",
))  # fmt: skip
"""Headers of a single connection, which the proxy does not pass on."""

_ADDRESSES = ("location", "content-location", "operation-location")
"""Headers of an answer with an address that the program may request."""

_LINGER = 0.05
"""Seconds for a stream to end by itself if the program has left at its last chunk."""

_TIMEOUT = httpx.Timeout(None, connect=30)
"""No limit but for connecting: the program has its own limits."""


class ProxyRun(Protocol):
    """The run behind the proxy: a recording, a replay, a fork."""

    async def begin(self, effect: Effect) -> Call | None:
        """Cross the boundary; None if no run records. Raises Halt at a divergence."""

    def given_up(self, call: Call) -> None:
        """Report that the program has left before the end of a recorded answer."""

    def led_away(self, place: str, target: str) -> None:
        """Report that the answer of `place` redirects to an address that does not lead to the proxy."""


class Upstream:
    """The client to the providers, made on first use: loading certificates takes time."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None

    async def send(self, request: httpx.Request) -> httpx.Response:
        """Send a request; return the response with its body unread."""
        if self._client is None:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
            self._client = httpx.AsyncClient(timeout=_TIMEOUT, limits=limits, follow_redirects=False)
        return await self._client.send(request, stream=True)

    async def close(self) -> None:
        """Close the client."""
        if self._client is not None:
            await self._client.aclose()


def application(routes: Sequence[Route], session: ProxyRun, upstream: Upstream) -> ASGIApp:
    """Return the ASGI application."""
    return _Proxy({route.key: route for route in routes}, session, upstream)


class _Proxy:
    def __init__(self, routes: Mapping[str, Route], session: ProxyRun, upstream: Upstream) -> None:
        self._routes = routes
        self._session = session
        self._upstream = upstream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        path = scope.get("raw_path", b"").decode("ascii", "replace") or str(scope["path"])
        before, _, below = path.partition("/")
        key, *rest = below.split("/", 1)
        route = self._routes.get(key) if not before else None
        if route is None:
            known = ", ".join(f"/{name}" for name in self._routes)
            # The target of CONNECT, and of requests to an HTTP proxy, is no path.
            hint = "" if path.startswith("/") else ": this is the address of services, not an HTTP proxy"
            text = f"nothing is served at {path}{hint}; there are: {known}"
            await _said(404, "not_routed", text)(scope, receive, send)
            return
        if from_foreign_page(request.headers) or has_public_name(request.headers):
            text = "a web page has sent this request; the proxy is for the recorded program"
            await _said(403, "page_refused", text)(scope, receive, send)
            return
        url = route.url("/" + rest[0] if rest else "", scope.get("query_string", b"").decode("ascii"))
        body = exchange.Body()
        try:
            async for part in request.stream():
                body.add(part)
        except ClientDisconnect:
            return
        host = request.headers.get("host") or "{}:{}".format(*scope["server"])
        exchanged = _ProxiedExchange(
            self._session, self._upstream, send, _Addresses(self._routes, route, host)
        )
        answering = asyncio.ensure_future(exchanged.run(request.method, url, request.headers.raw, body))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                await asyncio.wait({answering}, timeout=_LINGER)
        finally:
            leaving.cancel()
            answering.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await answering


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class _Addresses:
    """Turns addresses of services into those of the proxy.

    Args:
        routes: All routes.
        own: The route of the request.
        host: The proxy's host and port, as the program knows them.
    """

    def __init__(self, routes: Mapping[str, Route], own: Route, host: str) -> None:
        self._routes = (own, *routes.values())
        self._host = host

    def at_proxy(self, url: str) -> str | None:
        """Return the proxy's address for a URL, or None if it leads to another place."""
        for route in self._routes:
            rest = url.removeprefix(route.upstream)
            if rest != url and rest[:1] in ("", "/", "?"):
                return f"http://{self._host}/{route.key}{rest}"
        return None


class _ProxiedExchange:
    """One request and its answer."""

    def __init__(self, session: ProxyRun, upstream: Upstream, send: Send, addresses: _Addresses) -> None:
        self._session = session
        self._upstream = upstream
        self._send = send
        self._addresses = addresses
        self._url = ""
        self._begun = False

    async def run(
        self, method: str, url: str, raw: Sequence[tuple[bytes, bytes]], body: exchange.Body
    ) -> None:
        """Answer it."""
        self._url = url
        host = httpx.URL(url).netloc
        left = _left_out(name.decode("latin-1") for name, _ in raw)
        kept = (header for header in raw if header[0].decode("latin-1") not in left)
        named = [(name, host if name == b"host" else value) for name, value in kept]
        try:
            call = await self._session.begin(exchange.effect(method, url, exchange.pairs(named), body))
            if call is not None and call.answer is not None:
                await self._served(call, method)
            else:
                await self._live(call, method, url, named, body)
        except Halt as halt:
            if self._begun:
                # The head has been sent: only the connection can be broken.
                raise ConnectionAbortedError from None
            await self._say(DEPARTED, "departed_from_recording", str(halt))
        except Exception as error:
            if self._begun:
                raise
            status = 504 if isinstance(error, httpx.TimeoutException) else 502
            text = f"{method} {exchange.place(url)} was not answered: {type(error).__name__}: {error}"
            await self._say(status, "upstream_failed", text)

    # -- sources of answers ----------------------------------------------------------------------------------

    async def _served(self, call: Call, method: str) -> None:
        answer = call.answer
        assert answer is not None
        if answer.end == "closed":
            # The program itself leaves, as recorded. If it stays, it waits for more.
            call.answer = replace(answer, end="cancelled")
        try:
            head = await call.recorded.aserve()
            if answer.end == "ended" and method != "HEAD" and head["status"] != 304:
                # Without its secrets the body has another length.
                size = sum(len(piece.value) for piece in answer.pieces if isinstance(piece.value, bytes))
                head = {**head, "headers": [_sized(pair, size) for pair in head["headers"]]}
            await self._respond(head, exchange.aserved(call))
        except asyncio.CancelledError:
            self._session.given_up(call)
            raise

    async def _live(
        self,
        call: Call | None,
        method: str,
        url: str,
        headers: list[tuple[bytes, bytes]],
        body: exchange.Body,
    ) -> None:
        if call is None:
            response = await self._upstream.send(_request(method, url, headers, body))
            async with aclosing(response):
                await self._respond(head_of(response), response.aiter_raw())
            return
        other = exchange.another_model(call, body)
        if other is not None:
            body = exchange.Body(other)
            headers = [header for header in headers if header[0] != b"content-length"]
        async with areporting(call):
            response = await self._upstream.send(_request(method, url, headers, body))
        async with aclosing(response):
            head = await call.areturned(head_of(response), stream=True)
            try:
                await self._respond(head, call.atee(coding_of(call).amarked(response.aiter_raw())))
            finally:
                call.close()

    # -- the answer ------------------------------------------------------------------------------------------

    async def _respond(self, head: Mapping[str, Any], chunks: AsyncIterator[bytes]) -> None:
        left = _left_out(name for name, _ in head["headers"])
        if any(name.lower() == "content-encoding" for name, _ in head["headers"]):
            # Compressed again, a body has another length.
            left = left | {"content-length"}
        headers = [
            (name.lower().encode("latin-1"), self._address(name.lower(), value, head).encode("latin-1"))
            for name, value in head["headers"]
            if name.lower() not in left
        ]
        assert isinstance(chunks, AsyncGenerator)
        async with aclosing(chunks):
            self._begun = True
            await self._send({"type": "http.response.start", "status": head["status"], "headers": headers})
            async for chunk in chunks:
                if chunk:
                    await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    def _address(self, name: str, value: str, head: Mapping[str, Any]) -> str:
        """Return a header's value; an address of a service leads to the proxy."""
        if name not in _ADDRESSES:
            return value
        try:
            target = urljoin(self._url, value)
        except ValueError:
            return value
        at_proxy = self._addresses.at_proxy(target)
        if at_proxy is None and name == "location" and 300 <= head["status"] < 400:
            self._session.led_away(exchange.place(self._url), exchange.place(target))
        return at_proxy or target

    async def _say(self, status: int, kind: str, text: str) -> None:
        await _said(status, kind, text)({"type": "http"}, _nothing, self._send)


def _request(method: str, url: str, headers: list[tuple[bytes, bytes]], body: exchange.Body) -> httpx.Request:
    headers = [(name, _unpackable(value) if name == b"accept-encoding" else value) for name, value in headers]
    whole = body.in_memory
    content: Any = whole or None
    if whole is None:

        async def parts() -> AsyncIterator[bytes]:
            for part in body.parts():
                yield part

        content = parts()
    # As the program wrote it: httpx would resolve `..` in a path.
    split = urlsplit(url)
    target = f"{split.path or '/'}{'?' + split.query if split.query else ''}"
    sent = {"target": target.encode()} if target.isascii() else {}
    return httpx.Request(method, url, headers=headers, content=content, extensions=sent)


def _left_out(names: Iterable[str]) -> frozenset[str]:
    """Return the names of headers that are not passed on."""
    # Of both, `Transfer-Encoding` counts, and the length is wrong (RFC 9112, section 6.3).
    wrong = ("content-length",) if any(name.lower() == "transfer-encoding" for name in names) else ()
    return _HOP.union(wrong)


def _unpackable(accepted: bytes) -> bytes:
    """Return the accepted codings that can be unpacked here, to find secrets in them."""
    given = (part.strip() for part in accepted.decode("latin-1").lower().split(","))
    kept = [part for part in given if unpack.can_unpack(part.partition(";")[0].strip())]
    return ", ".join(kept).encode("latin-1") or b"identity"


def _sized(header: Sequence[str], size: int) -> Sequence[str]:
    return (header[0], str(size)) if header[0].lower() == "content-length" else header


def _said(status: int, kind: str, text: str) -> JSONResponse:
    """Return the proxy's own message, in the error form of the providers' SDKs."""
    error = {"type": kind, "code": kind, "message": f"reenact: {text}"}
    # A retry would give the same answer; if the provider was not reached, the SDK decides.
    final = {"x-should-retry": "false"} if status < 500 else {}
    return JSONResponse({"type": "error", "error": error}, status, final)


async def _nothing() -> dict[str, Any]:
    return {"type": "http.disconnect"}
