"""httpx and httpx2: `handle_request` and `handle_async_request` of the HTTP transports.

Custom transports that do not go to the network (ASGI, WSGI, mocks) are left alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from types import ModuleType
from typing import Any

from reenact.adapters import hooks
from reenact.adapters.http import exchange
from reenact.adapters.http.coding import Coding, coding_of
from reenact.adapters.scopes import listening
from reenact.core.boundary import Call, areporting, begin, entered, reporting
from reenact.core.boundary.current import current_scope


def install(module: ModuleType) -> None:
    """Patch httpx or httpx2. Raises HookMissing."""
    library = _HttpxLibrary(module)
    name = module.__name__
    hooks.patch(getattr(module, "HTTPTransport", None), "handle_request", library.sync_hook, library=name)
    hooks.patch(
        getattr(module, "AsyncHTTPTransport", None), "handle_async_request", library.async_hook, library=name
    )


class _HttpxLibrary:
    """One of the two libraries, and the recorded body streams on its base classes."""

    def __init__(self, module: Any) -> None:
        self.module = module
        bases = (module.SyncByteStream, module.AsyncByteStream)
        self.again: Any = type("Again", (_Again, *bases), {})
        self.teed: Any = type("Teed", (_Teed, *bases), {})
        self.served: Any = type("Served", (_Served, *bases), {})

    def sync_hook(self, original: Any) -> Any:
        def handle_request(transport: Any, request: Any) -> Any:
            if listening() is None:
                return original(transport, request)
            return self._cross(original, transport, request)

        return handle_request

    def async_hook(self, original: Any) -> Any:
        async def handle_async_request(transport: Any, request: Any) -> Any:
            if listening() is None:
                return await original(transport, request)
            return await self._across(original, transport, request)

        return handle_async_request

    def _cross(self, original: Any, transport: Any, request: Any) -> Any:
        headers, url = exchange.pairs(request.headers.raw), str(request.url)
        if exchange.upgrades(headers, url):
            return original(transport, request)
        body = self._in_memory(request)
        if body is None:
            body = exchange.Body.of(request.stream)
            request.stream = self.again(body)
        call = begin(
            exchange.effect(request.method, url, headers, body, request.extensions.get("timeout")), Coding()
        )
        if call is None:
            return original(transport, request)
        if call.answer is not None:
            return self._response(call.recorded.serve(), call)
        self._redirected(call, request, body)
        with reporting(call):
            response = original(transport, request)
        call.returned(head_of(response), stream=True)
        response.stream = self.teed(call, response.stream)
        return response

    async def _across(self, original: Any, transport: Any, request: Any) -> Any:
        headers, url = exchange.pairs(request.headers.raw), str(request.url)
        if exchange.upgrades(headers, url) or not exchange.in_asyncio(url):
            return await original(transport, request)
        body = self._in_memory(request)
        if body is None:
            body = exchange.Body()
            async for part in request.stream:
                body.add(part)
            request.stream = self.again(body)
        call = begin(
            exchange.effect(request.method, url, headers, body, request.extensions.get("timeout")), Coding()
        )
        if call is None:
            return await original(transport, request)
        if call.answer is not None:
            return self._response(await call.recorded.aserve(), call)
        self._redirected(call, request, body)
        async with areporting(call):
            response = await original(transport, request)
        stream = response.stream = self.teed(call, response.stream)
        try:
            await call.areturned(head_of(response), stream=True)
        except BaseException:
            await stream.aclose()
            raise
        return response

    def _in_memory(self, request: Any) -> exchange.Body | None:
        stream = request.stream
        if not isinstance(stream, self.module.ByteStream):
            return None
        data = b"".join(stream)
        return exchange.Body(data) if len(data) <= exchange.LARGE else exchange.Body.of([data])

    def _redirected(self, call: Call, request: Any, body: exchange.Body) -> None:
        """In a fork, ask the model that its user named."""
        other = exchange.another_model(call, body)
        if other is not None:
            request.stream = self.module.ByteStream(other)
            request.headers["content-length"] = str(len(other))
            request.headers.pop("transfer-encoding", None)

    def _response(self, head: Any, call: Call) -> Any:
        extensions = {"http_version": head["version"].encode("ascii")}
        if head["reason"] is not None:
            extensions["reason_phrase"] = head["reason"].encode("latin-1")
        return self.module.Response(
            status_code=head["status"],
            headers=[(key.encode("latin-1"), value.encode("latin-1")) for key, value in head["headers"]],
            stream=self.served(call),
            extensions=extensions,
        )


class _Again:
    """A request's body that was read to record it, to be sent."""

    def __init__(self, body: exchange.Body) -> None:
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        return self._body.parts()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._body.parts():
            yield part


class _Teed:
    """A response's body that is recorded as it is read."""

    def __init__(self, call: Call, stream: Any) -> None:
        self._call = call
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        return self._call.tee(coding_of(self._call).marked(self._stream))

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._call.atee(coding_of(self._call).amarked(self._stream))

    def close(self) -> None:
        self._call.close()
        token = current_scope.set(self._call.inner)
        try:
            self._stream.close()
        finally:
            current_scope.reset(token)

    async def aclose(self) -> None:
        self._call.close()
        with entered(self._call.inner):
            await self._stream.aclose()


class _Served:
    """A response's body that is read from the recording."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def __iter__(self) -> Iterator[bytes]:
        return exchange.served(self._call)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return exchange.aserved(self._call)


def head_of(response: Any) -> dict[str, Any]:
    """Return the recorded form of a response without its body."""
    reason = response.extensions.get("reason_phrase")
    return exchange.head(
        response.status_code,
        reason.decode("latin-1") if reason is not None else None,
        response.extensions.get("http_version", b"HTTP/1.1").decode("ascii"),
        [(key.decode("latin-1"), value.decode("latin-1")) for key, value in response.headers.raw],
    )
