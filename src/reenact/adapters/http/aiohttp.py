"""aiohttp: an innermost middleware around connecting, sending and the response's head.

It is below redirects, cookies and retries. The program reads the body from Reenact's stream, which reads from aiohttp's
(or from the recording), so that each chunk passes the boundary when the program gets it.
"""

from __future__ import annotations

import inspect
from asyncio import AbstractEventLoop, CancelledError
from types import ModuleType, SimpleNamespace
from typing import Any

from aiohttp import ClientResponseError, ClientTimeout, StreamReader, hdrs, http_parser
from aiohttp.base_protocol import BaseProtocol
from aiohttp.helpers import sentinel
from aiohttp.http_parser import RawResponseMessage
from aiohttp.http_writer import HttpVersion
from aiohttp.streams import EmptyStreamReader
from multidict import CIMultiDict, CIMultiDictProxy, istr

from reenact.adapters import hooks
from reenact.adapters.http import exchange
from reenact.adapters.http.coding import Coding, coding_of
from reenact.core.boundary import Call, areporting, begin, current, entered

_BLOCK = 65536

_COMPILED = "HttpResponseParserC" in vars(http_parser)
_SPELLED = (
    {str(name).lower(): name for name in vars(hdrs).values() if isinstance(name, istr)} if _COMPILED else {}
)
"""aiohttp's compiled parser spells the names that it knows in its own way."""


def install(module: ModuleType) -> None:
    """Patch aiohttp. Raises HookMissing."""
    session: Any = module.ClientSession
    if "middlewares" not in inspect.signature(session._request).parameters:
        raise hooks.HookMissing(
            f"aiohttp {getattr(module, '__version__', '')} is older than 3.12: its requests are not recorded (and a "
            f"replay refuses them); install aiohttp >= 3.12"
        )
    hooks.patch(session, "_request", _hook, library="aiohttp")


def _hook(original: Any) -> Any:
    def _request(session: Any, method: str, str_or_url: Any, **options: Any) -> Any:
        scope = current()
        if scope is not None and not scope.hidden:
            chain = options.get("middlewares")
            decompress = options.get("auto_decompress")
            options["middlewares"] = (
                *(session._middlewares if chain is None else chain),
                _Crossing(
                    decodes=not (session._auto_decompress if decompress is None else decompress),
                    limits=_limits(session, options.get("timeout", sentinel)),
                ),
            )
        return original(session, method, str_or_url, **options)

    return _request


class _Crossing:
    """The middleware of one request; called once for each attempt and each redirect."""

    def __init__(self, *, decodes: bool, limits: dict[str, float | None]) -> None:
        self._decodes, self._limits = decodes, limits

    async def __call__(self, request: Any, handler: Any) -> Any:
        headers = list(request.headers.items())
        url = str(request.url)
        if exchange.upgrades(headers, url):
            return await handler(request)
        effect = exchange.effect(request.method, url, headers, await _body(request), self._limits)
        call = begin(effect, Coding(decodes=self._decodes))
        if call is None:
            return await handler(request)
        if call.answer is not None:
            try:
                head = await call.recorded.aserve()
            except ClientResponseError as error:
                # The request's URL is an object that is not recorded.
                error.request_info = request.request_info
                error.args = (error.request_info, *error.args[1:])
                raise
            return await _replayed(request, call, head)
        exchange.keeps_model(call, "aiohttp")
        async with areporting(call):
            response = await _within_limits(call, request, handler)
        try:
            await call.areturned(_head(response), stream=True)
        except BaseException:
            call.close()
            response.close()
            raise
        source = response.content
        if isinstance(source, EmptyStreamReader):
            await call.aover()
        else:
            response.content = _Live(call, source, request.loop)
        return response


def _limits(session: Any, given: Any) -> dict[str, float | None]:
    """Return a request's time limits: its own, or the session's."""
    limits = session._timeout if given is None or given is sentinel else given
    if isinstance(limits, ClientTimeout):
        return {name: getattr(limits, name) for name in ("total", "connect", "sock_read", "sock_connect")}
    return {"total": limits}


async def _within_limits(call: Call, request: Any, handler: Any) -> Any:
    """Await the response. A limit of aiohttp cancels the task, as the program may do."""
    try:
        return await handler(request)
    except CancelledError:
        if call.ticket is not None:
            call.ticket.expired = bool(getattr(getattr(request, "_timer", None), "_cancelled", False))
        raise


async def _body(request: Any) -> exchange.Body:
    body = request.body
    if not body:
        return exchange.Body()
    file: Any = getattr(body, "_value", None)
    if (body.size or 0) > exchange.LARGE and hasattr(file, "seek") and hasattr(file, "read"):
        start, kept = file.tell(), exchange.Body()
        while block := file.read(_BLOCK):
            kept.add(block)
        file.seek(start)
        return kept
    # Made for middlewares: what it reads can be sent afterwards.
    return exchange.Body.of([await body.as_bytes()])


def _head(response: Any) -> dict[str, Any]:
    version = f"HTTP/{response.version.major}.{response.version.minor}"
    headers = [(key.decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape"))
               for key, value in response.raw_headers]  # fmt: skip
    return exchange.head(response.status, response.reason, version, headers)


# -- the body ------------------------------------------------------------------------------------------------


class _NoProtocol(BaseProtocol):
    """A protocol without flow control: the stream is read on demand."""

    def pause_reading(self) -> None: ...

    def resume_reading(self, *args: Any, **options: Any) -> None: ...

    @property
    def connected(self) -> bool:
        return True


class _Drawn(StreamReader):
    """A stream that gets its next chunk on demand."""

    __slots__ = ("_call", "_drawing")

    def __init__(self, call: Call, limit: int, loop: AbstractEventLoop) -> None:
        super().__init__(_NoProtocol(loop), limit, loop=loop)
        self._call = call
        self._drawing = False

    async def _wait(self, func_name: str) -> None:
        if self._drawing:
            raise RuntimeError(
                f"{func_name}() called while another coroutine is already waiting for incoming data"
            )
        self._drawing = True
        try:
            await self._draw()
        except CancelledError:
            raise
        except Exception as error:
            super().set_exception(error)
            raise
        finally:
            self._drawing = False

    async def _draw(self) -> None:
        raise NotImplementedError

    def _feed(self, data: bytes, *, whole: bool) -> None:
        """Take a chunk; `whole` is True if a chunk of the transfer encoding ends with it."""
        if whole and self._http_chunk_splits is None and not self.total_bytes:
            self.begin_http_chunk_receiving()
        self.feed_data(data)
        if whole and self._http_chunk_splits is not None:
            self.end_http_chunk_receiving()


class _Live(_Drawn):
    """The body of a live response, recorded as it is read."""

    __slots__ = ("_given_up", "_source", "_taken")

    def __init__(self, call: Call, source: StreamReader, loop: AbstractEventLoop) -> None:
        super().__init__(call, source.get_read_buffer_limits()[0], loop)
        self._source = source
        self._taken: tuple[bytes, bool] | None = None
        self._given_up = False
        if source._http_chunk_splits is not None:
            self.begin_http_chunk_receiving()

    async def _draw(self) -> None:
        self._given_up = True
        if self._taken is None:
            try:
                with entered(self._call.inner):
                    self._taken = await self._next()
            except Exception as error:
                await self._call.aover(error)
                raise
        data, whole = self._taken
        if data:
            await self._call.achunk(data, self._deliver)
        elif whole:
            self._taken = None
            self._feed(b"", whole=True)
        else:
            for mark in coding_of(self._call).mark():
                await self._call.achunk(mark, lambda: None)
            await self._call.aover()
            self.feed_eof()
        self._given_up = False

    async def _next(self) -> tuple[bytes, bool]:
        if self._source._http_chunk_splits is None:
            return await self._source.readany(), False
        return await self._source.readchunk()

    def _deliver(self) -> None:
        assert self._taken is not None
        (data, whole), self._taken = self._taken, None
        self._feed(data, whole=whole)
        if self._source.at_eof() and not coding_of(self._call).mark():
            self._call.over_at_once()
            self.feed_eof()

    async def wait_eof(self) -> None:
        await self._source.wait_eof()

    def set_read_chunk_size(self, n: int) -> None:
        super().set_read_chunk_size(n)
        self._source.set_read_chunk_size(n)

    def set_exception(self, exc: Any, *cause: Any) -> None:
        # The response was closed or released.
        self._call.close(cancelled=self._given_up)
        super().set_exception(exc, *cause)
        if self._source.exception() is None:
            self._source.set_exception(exc, *cause)


class _RecordedResponse(_Drawn):
    """The body of a recorded response."""

    __slots__ = ("_whole",)

    def __init__(self, call: Call, limit: int, loop: AbstractEventLoop, *, chunked: bool) -> None:
        super().__init__(call, limit, loop)
        self._whole = chunked

    async def _draw(self) -> None:
        call = self._call
        if await call.recorded.apiece(lambda data: self._feed(data, whole=self._whole)):
            answer = call.answer
            assert answer is not None
            if call.recorded.served < len(answer.pieces) or answer.end_order != answer.pieces[-1].order + 1:
                return
            # Nothing came between the last chunk and the end: the program got both at once.
            await call.recorded.apiece(lambda data: self._feed(data, whole=self._whole))
        if isinstance(call.wire, Coding) and (rest := call.wire.finish()):
            self._feed(rest, whole=self._whole)
        self.feed_eof()

    async def wait_eof(self) -> None: ...


# -- the recorded response -----------------------------------------------------------------------------------


class _Protocol:
    """Replaces a connection's protocol: it has read the recorded head."""

    upgraded = False

    def __init__(self, message: RawResponseMessage, body: StreamReader) -> None:
        self._read = (message, body)

    async def read(self) -> tuple[RawResponseMessage, StreamReader]:
        return self._read


class _Connection:
    """Replaces a connection: a replay has none."""

    transport = None

    def __init__(self, protocol: _Protocol) -> None:
        self.protocol = protocol

    def add_callback(self, callback: Any) -> None: ...

    def release(self) -> None: ...

    def close(self) -> None: ...


async def _replayed(request: Any, call: Call, head: Any) -> Any:
    raw = tuple((_bytes(key), _bytes(value)) for key, value in head["headers"])
    headers = CIMultiDictProxy(
        CIMultiDict((_SPELLED.get(key.lower(), key), value) for key, value in head["headers"])
    )
    chunked = "chunked" in headers.get("transfer-encoding", "").lower()
    body = _RecordedResponse(call, request._session._read_bufsize, request.loop, chunked=chunked)
    major, _, minor = head["version"].removeprefix("HTTP/").partition(".")
    message = RawResponseMessage(
        HttpVersion(int(major), int(minor)),
        head["status"],
        head["reason"],
        headers,
        raw,
        False,
        None,
        False,
        chunked,
    )
    options = {
        "writer": None,
        "continue100": None,
        "timer": request._timer,
        "request_info": request.request_info,
        "traces": request._traces,
        "loop": request.loop,
        "session": request._session,
        "stream_writer": SimpleNamespace(output_size=0),
    }
    known = inspect.signature(request.response_class).parameters
    url = getattr(request, "original_url", request.url)
    response = request.response_class(
        request.method, url, **{name: value for name, value in options.items() if name in known}
    )
    return await response.start(_Connection(_Protocol(message, body)))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
