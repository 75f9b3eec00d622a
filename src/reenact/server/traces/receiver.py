"""OTLP over HTTP as an ASGI application: `POST /v1/traces`, protobuf or JSON.

Bodies may be compressed. `POST /v1/logs` is for instrumentations that send the messages of a model call as log
records; these events join their spans.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from typing import Any, TypeVar

import anyio
import orjson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from reenact.analysis.interchange.importers.otel import wire
from reenact.analysis.interchange.importers.otel.span import Span
from reenact.run.foreign_pages import from_foreign_page
from reenact.server import request_memory
from reenact.server.request_memory import RequestMemory, TooManyRequestsError

MOST = 64 << 20
"""Most bytes of an uncompressed request."""

_MOST_VALUES = 4_000_000
"""Most values of a request, each of which takes about 100 bytes of memory."""

_LARGE = 4 << 20
"""Bytes of an uncompressed request above which it is read alone."""

_MOST_MEMBERS = 100
"""Members of a compressed body, each of which copies the rest of it."""

_LOGS = "/v1/logs"
PATHS = ("/v1/traces", _LOGS)
"""The paths of the routes."""

_PROTOBUF, _JSON = "application/x-protobuf", "application/json"
_CODES = {400: 3, 403: 7, 404: 5, 405: 12, 413: 3, 415: 3, 429: 8, 503: 14}
_ENCODINGS = {"gzip": 31, "x-gzip": 31, "deflate": 15}

_T = TypeVar("_T")

Take = Callable[[list[Span]], int]
"""A function that stores the spans of a request, which is acknowledged when it returns.

It returns the number of left out spans. An OSError is answered with 503, after which senders try again.
"""


class TraceRefusal(Exception):
    """A request that is answered with an error: its status, one line, and when to try again."""

    def __init__(self, status: int, text: str, again: int = 0) -> None:
        super().__init__(text)
        self.status = status
        self.headers = {"retry-after": str(again)} if again else {}


class Gate(RequestMemory):
    """The limit of data received at once; senders of more must try again.

    Senders keep a queue.

    Args:
        room: Returns "" if the disk has room, else the reason.
        most: Most bytes of requests in memory, compressed and uncompressed.
    """

    def __init__(self, room: Callable[[], str] = lambda: "", most: int = request_memory.MOST) -> None:
        super().__init__(most)
        self._room = room
        self._unpacking = asyncio.Lock()
        self._large = asyncio.Lock()

    def open(self) -> None:
        """Check for room before a request is read. Raises TraceRefusal."""
        if said := self._room():
            raise TraceRefusal(429, f"no more spans are accepted: the disk has {said}", again=30)

    async def unpacked(self, body: bytes, encoding: str) -> bytes:
        """Return the body of a request without its encoding.

        Raises TraceRefusal or TooManyRequestsError.
        """
        if encoding not in _ENCODINGS:
            return body
        # One at a time, because its size is unknown until then.
        async with self._unpacking:
            data = await _in_thread(_unpacked, body, encoding)
            self.hold(len(data))
        return data

    def turn(self, size: int) -> AbstractAsyncContextManager[Any]:
        """Return the turn of a request: large ones are read one at a time."""
        return self._large if size > _LARGE else nullcontext()


def application(
    take: Take,
    settle: Callable[[], None] = lambda: None,
    *,
    every: float = 0.5,
    end: Callable[[], None] = lambda: None,
    gate: Gate | None = None,
    more: Sequence[Route] = (),
) -> Starlette:
    """Make the application.

    Args:
        take: Stores the spans of a request.
        settle: Called repeatedly, to make recordings.
        every: Seconds between those calls.
        end: Called once, when the application ends.
        gate: The limit of data received at once.
        more: More routes.
    """
    gate = gate or Gate()

    async def collect(request: Request) -> Response:
        if from_foreign_page(request.headers):
            text = "a web page has sent this request; traces are collected from programs"
            return _refusal(403, text, request.headers.get("content-type", ""))
        return await collected(request, take, gate)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async def again() -> None:
            while True:
                await anyio.sleep(every)
                # A failure here must not stop the application.
                with suppress(Exception):
                    await run_in_threadpool(settle)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(again)
            yield
            tasks.cancel_scope.cancel()
        await run_in_threadpool(end)

    return Starlette(
        routes=[*(Route(path, collect, methods=["POST"]) for path in PATHS), *more],
        exception_handlers={HTTPException: _elsewhere},
        lifespan=lifespan,
    )


async def collected(request: Request, take: Take, gate: Gate) -> Response:
    """Answer a request with spans or log records."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    held = 0

    def hold(size: int) -> None:
        nonlocal held
        gate.hold(size)
        held += size

    try:
        gate.open()
        read = wire.logs_from_protobuf if request.url.path == _LOGS else wire.from_protobuf
        encoding = _encoding(request)
        data = await gate.unpacked(await _body(request, hold), encoding)
        held += len(data) if encoding in _ENCODINGS else 0
        async with gate.turn(len(data)):
            spans = await _in_thread(_spans, data, kind, read)
            left_out = await _in_thread(take, spans)
    except TraceRefusal as refused:
        return _refusal(refused.status, str(refused), kind, refused.headers)
    except TooManyRequestsError as refused:
        return _refusal(429, str(refused), kind, {"retry-after": str(request_memory.AGAIN)})
    except ClientDisconnect:
        return Response(status_code=400)
    except OSError as error:
        text = f"the spans could not be kept: {error.strerror or error}"
        return _refusal(503, text, kind, {"retry-after": "5"})
    finally:
        gate.release(held)
    return _acknowledged(kind, left_out, logs=request.url.path == _LOGS)


async def _in_thread(work: Callable[..., _T], *args: Any) -> _T:
    """Return `work(*args)` from another thread.

    Raises TraceRefusal or OSError, without their frames.

    An error that leaves a thread by itself is in a cycle with its future: the request, up to gigabytes as objects,
    would stay in memory until the garbage collector runs.
    """
    found = await run_in_threadpool(_outcome, work, *args)
    if isinstance(found, tuple):
        return found[0]
    try:
        raise found
    finally:
        del found, work, args


def _outcome(work: Callable[..., _T], *args: Any) -> tuple[_T] | Exception:
    try:
        return (work(*args),)
    except (TraceRefusal, OSError) as error:
        error.__context__ = None
        return error.with_traceback(None)


def _acknowledged(kind: str, left_out: int, *, logs: bool) -> Response:
    """Acknowledge a request, with the number of spans that were left out."""
    why = "their trace was recorded by an earlier collector, which has ended, or is too large"
    if kind == _JSON:
        what = "rejectedLogRecords" if logs else "rejectedSpans"
        told = {"partialSuccess": {what: str(left_out), "errorMessage": why}} if left_out else {}
        return Response(orjson.dumps(told), media_type=kind)
    if not left_out:
        # An empty protobuf message is an empty body.
        return Response(b"", media_type=kind)
    answer = ExportLogsServiceResponse() if logs else ExportTraceServiceResponse()
    if isinstance(answer, ExportLogsServiceResponse):
        answer.partial_success.rejected_log_records = left_out
    else:
        answer.partial_success.rejected_spans = left_out
    answer.partial_success.error_message = why
    return Response(answer.SerializeToString(), media_type=kind)


async def _elsewhere(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    text = f"{request.method} {request.url.path}: traces are collected at POST /v1/traces"
    return _refusal(status, text, request.headers.get("content-type", ""))


def _encoding(request: Request) -> str:
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity", *_ENCODINGS):
        raise TraceRefusal(
            415, f"content-encoding {encoding[:40]!r} is not supported; use gzip, deflate or identity"
        )
    return encoding


async def _body(request: Request, hold: Callable[[int], None]) -> bytes:
    found = bytearray()
    async for chunk in request.stream():
        hold(len(chunk))
        found += chunk
        if len(found) > MOST:
            raise TraceRefusal(413, f"the request has more than {MOST >> 20} MB; a smaller batch size helps")
    return bytes(found)


def _spans(data: bytes, kind: str, from_protobuf: Callable[[bytes, float], list[Span]]) -> list[Span]:
    if kind not in (_PROTOBUF, _JSON, "application/protobuf"):
        raise TraceRefusal(415, f"content-type {kind[:60]!r} is not supported; use {_PROTOBUF} or {_JSON}")
    try:
        if kind != _JSON:
            return from_protobuf(data, _MOST_VALUES)
        # Each value but the first needs a bracket or a comma before it.
        if sum(map(data.count, (b"{", b"[", b","))) > _MOST_VALUES:
            raise wire.TooManyValues("it has too many values")
        return wire.from_json(orjson.loads(data), _MOST_VALUES)
    except wire.TooManyValues as error:
        raise TraceRefusal(413, f"the request is too large: {error}; a smaller batch size helps") from None
    except orjson.JSONDecodeError as error:
        raise TraceRefusal(400, f"the body is no JSON ({error})") from None
    except (ValueError, RecursionError) as error:
        raise TraceRefusal(400, f"the body cannot be read: {error}") from None


def _unpacked(body: bytes, encoding: str) -> bytes:
    found = bytearray()
    try:
        for _ in range(_MOST_MEMBERS):
            unpack = zlib.decompressobj(_ENCODINGS[encoding])
            found += unpack.decompress(body, MOST + 1 - len(found))
            if len(found) > MOST:
                raise TraceRefusal(
                    413, f"the request has more than {MOST >> 20} MB unpacked; a smaller batch size helps"
                )
            if not unpack.eof:
                raise TraceRefusal(400, f"the body is no whole {encoding}: it ends early")
            body = unpack.unused_data
            if not body:
                return bytes(found)
    except zlib.error as error:
        raise TraceRefusal(400, f"the body is no {encoding} ({error})") from None
    raise TraceRefusal(400, f"the body has more than {_MOST_MEMBERS} members of {encoding}")


def _refusal(status: int, text: str, kind: str, headers: dict[str, str] | None = None) -> Response:
    """Return an error in OTLP's form, a `google.rpc.Status` in the encoding of the request."""
    kind = kind.partition(";")[0].strip().lower()
    line = " ".join(text.split())
    code = _CODES.get(status, 2)
    if kind == _JSON:
        return Response(orjson.dumps({"code": code, "message": line}), status, headers, _JSON)
    if kind == _PROTOBUF:
        return Response(_status(code, line.encode()), status, headers, _PROTOBUF)
    return Response(line + "\n", status, headers, "text/plain")


def _status(code: int, text: bytes) -> bytes:
    """Encode `google.rpc.Status`: field 1 is the code, field 2 the text.

    opentelemetry-proto has no class for it.
    """
    size, length = b"", len(text)
    while length > 127:
        size, length = size + bytes([length & 127 | 128]), length >> 7
    return bytes([0x08, code, 0x12]) + size + bytes([length]) + text
