"""OTLP over HTTP as an ASGI application: `POST /v1/traces`, protobuf or JSON, compressed or not.

And `POST /v1/logs`: some instrumentations send the messages of a model call as log records; these events join their
spans.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import anyio
import orjson
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from reenact.importers.otel import wire
from reenact.importers.otel.span import Span

MOST = 64 << 20
"""How many bytes a request may have, unpacked."""

_LOGS = "/v1/logs"
_PROTOBUF, _JSON = "application/x-protobuf", "application/json"
_CODES = {400: 3, 404: 5, 405: 12, 413: 3, 415: 3, 503: 14}
_ENCODINGS = {"gzip": 31, "x-gzip": 31, "deflate": 15}

Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]


class Refused(Exception):
    """A request that is answered with an error: its status, and one line."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def application(
    take: Callable[[list[Span]], None],
    settle: Callable[[], None] = lambda: None,
    *,
    every: float = 0.5,
    end: Callable[[], None] = lambda: None,
) -> Starlette:
    """The application.

    Args:
        take: Keeps the spans of a request; only when it returns is the request acknowledged. What it raises as
            OSError is answered with 503, upon which senders try again.
        settle: Called again and again, to make recordings.
        every: Seconds between those calls.
        end: Called once, as it ends.
    """

    async def collect(request: Request) -> Response:
        return await _collected(request, take)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async def again() -> None:
            while True:
                await anyio.sleep(every)
                # Whatever goes wrong in telling of recordings, what is sent must still be taken.
                with suppress(Exception):
                    await run_in_threadpool(settle)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(again)
            yield
            tasks.cancel_scope.cancel()
        await run_in_threadpool(end)

    return Starlette(
        routes=[Route(path, collect, methods=["POST"]) for path in ("/v1/traces", _LOGS)],
        exception_handlers={HTTPException: _elsewhere},
        lifespan=lifespan,
    )


async def _collected(request: Request, take: Callable[[list[Span]], None]) -> Response:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        read = wire.logs_from_protobuf if request.url.path == _LOGS else wire.from_protobuf
        data = await run_in_threadpool(_unpacked, await _body(request), _encoding(request))
        spans = await run_in_threadpool(_spans, data, kind, read)
        await run_in_threadpool(take, spans)
    except Refused as refused:
        return _refusal(refused.status, str(refused), kind)
    except ClientDisconnect:
        return Response(status_code=400)
    except OSError as error:
        text = f"the spans could not be kept: {error.strerror or error}"
        return _refusal(503, text, kind, {"retry-after": "5"})
    # An ExportTraceServiceResponse that says nothing: all of it was taken.
    return Response(b"{}" if kind == _JSON else b"", media_type=kind)


async def _elsewhere(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    text = f"{request.method} {request.url.path}: traces are collected at POST /v1/traces"
    return _refusal(status, text, request.headers.get("content-type", ""))


def _encoding(request: Request) -> str:
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity", *_ENCODINGS):
        raise Refused(415, f"content-encoding {encoding[:40]!r} is not known; gzip, deflate and identity are")
    return encoding


async def _body(request: Request) -> bytes:
    found = bytearray()
    async for chunk in request.stream():
        found += chunk
        if len(found) > MOST:
            raise Refused(413, f"the request has more than {MOST >> 20} MB; a smaller batch size helps")
    return bytes(found)


def _spans(data: bytes, kind: str, from_protobuf: Callable[[bytes], list[Span]]) -> list[Span]:
    if kind not in (_PROTOBUF, _JSON, "application/protobuf"):
        raise Refused(415, f"content-type {kind[:60]!r} is not known; {_PROTOBUF} and {_JSON} are")
    try:
        if kind != _JSON:
            return from_protobuf(data)
        return wire.from_json(orjson.loads(data))
    except orjson.JSONDecodeError as error:
        raise Refused(400, f"the body is no JSON ({error})") from None
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body cannot be read: {error}") from None


def _unpacked(body: bytes, encoding: str) -> bytes:
    if encoding not in _ENCODINGS:
        return body
    unpack = zlib.decompressobj(_ENCODINGS[encoding])
    try:
        data = unpack.decompress(body, MOST + 1)
    except zlib.error as error:
        raise Refused(400, f"the body is no {encoding} ({error})") from None
    if len(data) > MOST:
        raise Refused(413, f"the request has more than {MOST >> 20} MB unpacked; a smaller batch size helps")
    if not unpack.eof:
        raise Refused(400, f"the body is no whole {encoding}: it ends early")
    return data


def _refusal(status: int, text: str, kind: str, headers: dict[str, str] | None = None) -> Response:
    """An error as OTLP has it: a `google.rpc.Status` in the form that the request came in."""
    kind = kind.partition(";")[0].strip().lower()
    line = " ".join(text.split())
    code = _CODES.get(status, 2)
    if kind == _JSON:
        return Response(orjson.dumps({"code": code, "message": line}), status, headers, _JSON)
    if kind == _PROTOBUF:
        return Response(_status(code, line.encode()), status, headers, _PROTOBUF)
    return Response(line + "\n", status, headers, "text/plain")


def _status(code: int, text: bytes) -> bytes:
    """`google.rpc.Status` on the wire, of which opentelemetry-proto has no class: field 1 a number, field 2 a text."""
    size, length = b"", len(text)
    while length > 127:
        size, length = size + bytes([length & 127 | 128]), length >> 7
    return bytes([0x08, code, 0x12]) + size + bytes([length]) + text
