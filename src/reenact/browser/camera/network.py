"""Record the pages' requests and the answers. Secrets are removed before writing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from time import perf_counter
from typing import Any

from reenact.browser.camera.gate import ActionGate
from reenact.browser.camera.writer import FootageWriter
from reenact.core.model import codec

BODY = 256_000
"""Bytes of the largest body that is kept."""
BODIES = 32_000_000
"""Most bytes of bodies kept in a session; later ones are noted as left out."""
POST = 64_000
"""Bytes of the largest request body that is kept."""
ADDRESS = 4_000
"""Most characters of an address that are kept."""
HEADER = 4_000
"""Most characters of a header's value that is kept."""
EXCHANGES = 100_000
"""Most requests that are recorded in one session."""
OPEN = 2_000
"""Most unanswered requests that are remembered."""
QUEUE = 200
"""Most answers whose bodies are waiting to be read."""
_BODILESS = {204, 205, 304}
_TEXTS = ("json", "xml", "javascript", "ecmascript", "x-www-form-urlencoded", "yaml", "csv", "graphql")
_LEFT = {
    "binary": "it is no text",
    "large": f"it is longer than {BODY // 1000} kB",
    "budget": f"the session's bodies reached {BODIES // 1_000_000} MB",
    "gone": "the page was left before it could be read",
    "busy": "too many came at once",
}


@dataclass(slots=True)
class PendingRequest:
    """A request without an answer yet."""

    number: int
    tab: int | None
    began: float = field(default_factory=perf_counter)


class Network:
    """Follows a context's requests.

    It uses the data that Playwright receives anyway; only a body needs a request to the browser, one at a time.

    Args:
        context: Playwright's context.
        tab: The number of a page's tab, or None.
    """

    def __init__(
        self, context: Any, log: FootageWriter, gate: ActionGate, tab: Callable[[Any], int | None]
    ) -> None:
        self._context = context
        self._log = log
        self._gate = gate
        self._tab = tab
        self._open: dict[Any, PendingRequest] = {}
        self._count = 0
        self._kept = 0
        self._finished: asyncio.Queue[tuple[Any, PendingRequest, float]] = asyncio.Queue(QUEUE)
        self._listeners = {
            "request": log.guarded(self._request),
            "requestfinished": log.guarded(self._requestfinished),
            "requestfailed": log.guarded(self._requestfailed),
        }

    def start(self) -> None:
        """Start listening."""
        for event, listener in self._listeners.items():
            self._context.on(event, listener)
        self._log.start(self._read(), "the network")

    async def stop(self) -> None:
        """Write the pending answers, and stop listening."""
        for event, listener in self._listeners.items():
            self._context.remove_listener(event, listener)
        while not self._finished.empty():
            request, exchange, t = self._finished.get_nowait()
            await self._answered(request, exchange, t, body=False)
        for exchange in self._open.values():
            self._log.write("failed", id=exchange.number, text="no answer before the session's end")
        self._open.clear()

    # -- requests --------------------------------------------------------------------------------------------

    def _request(self, request: Any) -> None:
        self._count += 1
        if self._count > EXCHANGES:
            self._log.left_out("exchanges", f"the network after {EXCHANGES} requests is left out")
            return
        if len(self._open) >= OPEN:  # a server that never answers must not fill the memory
            self._open.pop(next(iter(self._open)))
        exchange = self._open[request] = PendingRequest(self._count, self._tab_of(request))
        before = self._open.get(request.redirected_from) if request.redirected_from else None
        self._log.write(
            "request",
            id=exchange.number,
            tab=exchange.tab,
            method=request.method,
            url=self._address(request.url),
            resource=request.resource_type,
            headers=headers_of(request.headers),
            **self._posted(request),
            **({"redirected": before.number} if before else {}),
        )

    def _tab_of(self, request: Any) -> int | None:
        try:
            return self._tab(request.frame.page)
        except Exception:  # a service worker's request, or one of a page that does not exist yet
            return None

    def _address(self, url: str) -> str:
        clean = self._log.clean(url)
        return clean if len(clean) <= ADDRESS else f"{clean[:ADDRESS]}…"

    def _posted(self, request: Any) -> dict[str, Any]:
        data = request.post_data_buffer
        if data is None:
            return {"post": None}
        kind = request.headers.get("content-type", "")
        if len(data) > POST:
            return {"post": None, "left": f"{len(data)} bytes were sent: longer than {POST // 1000} kB"}
        try:
            return {"post": parts(data, kind) if kind.startswith("multipart/") else data.decode()}
        except ValueError:
            return {"post": None, "left": f"{len(data)} bytes were sent: they are no text"}

    # -- answers ---------------------------------------------------------------------------------------------

    def _requestfailed(self, request: Any) -> None:
        if (exchange := self._open.pop(request, None)) is not None:
            self._log.write("failed", id=exchange.number, text=request.failure or "failed")

    def _requestfinished(self, request: Any) -> None:
        exchange = self._open.pop(request, None)
        if exchange is None:
            return
        try:
            self._finished.put_nowait((request, exchange, self._log.now()))
        except asyncio.QueueFull:
            self._log.left_out("busy", "answers are left out: too many came at once")

    async def _read(self) -> None:
        while True:
            request, exchange, t = await self._finished.get()
            await self._gate.passed()
            try:
                await self._answered(request, exchange, t)
            except Exception as error:  # only this answer is lost: the page may be closed by now
                self._log.write(
                    "response", t=t, id=exchange.number, status=None, left=str(error).splitlines()[0]
                )

    async def _answered(self, request: Any, exchange: PendingRequest, t: float, *, body: bool = True) -> None:
        response = await request.response()
        if response is None:
            return
        headers = headers_of(response.headers)
        members: dict[str, Any] = {"id": exchange.number, "status": response.status, "headers": headers}
        if exchange.tab is None:  # a popup's first request came before the popup
            members["tab"] = self._tab_of(request)
        members["ms"] = round(took(request.timing, exchange), 1)
        members |= await self._body(response, headers, read=body)
        self._log.write("response", t=t, **members)

    async def _body(self, response: Any, headers: Mapping[str, str], *, read: bool) -> dict[str, Any]:
        if response.status in _BODILESS or 300 <= response.status < 400:
            return {"body": None, "size": 0}
        stated = headers.get("content-length", "")
        size = int(stated) if stated.isdigit() else None
        if not is_text(headers.get("content-type", ""), response.request.resource_type):
            return {"body": None, "size": size, "left": _LEFT["binary"]}
        if not read:
            return {"body": None, "size": size, "left": _LEFT["gone"]}
        if size is None:
            size = int((await response.request.sizes())["responseBodySize"])
        if size > BODY:
            return {"body": None, "size": size, "left": _LEFT["large"]}
        if self._kept + size > BODIES:
            self._log.left_out("bodies", f"bodies are left out from here on: {_LEFT['budget']}")
            return {"body": None, "size": size, "left": _LEFT["budget"]}
        try:
            data = await asyncio.wait_for(response.body(), 5)
        except Exception:
            return {"body": None, "size": size, "left": _LEFT["gone"]}
        if len(data) > BODY:  # it was sent compressed
            return {"body": None, "size": len(data), "left": _LEFT["large"]}
        self._kept += len(data)
        return {"body": self._log.body(data), "size": len(data)}


def headers_of(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers for a line.

    A very long value is left out, not cut, so that no part of a secret remains.
    """
    return {
        name: value if len(value) <= HEADER else f"({len(value)} characters)"
        for name, value in headers.items()
    }


def is_text(kind: str, resource: str) -> bool:
    """Return True if a body of this content type and resource kind is readable text."""
    kind = kind.split(";", 1)[0].strip().lower()
    if not kind:
        return resource in {"document", "script", "stylesheet", "xhr", "fetch"}
    if kind == "image/svg+xml":
        return True
    return kind.startswith("text/") or (
        not kind.startswith(("image/", "font/", "audio/", "video/")) and kind.endswith(_TEXTS)
    )


def took(timing: Mapping[str, float], exchange: PendingRequest) -> float:
    """Return the milliseconds from request to end of answer, by the browser's clock if known."""
    end = timing.get("responseEnd", -1)
    return end if end >= 0 else (perf_counter() - exchange.began) * 1000


def parts(data: bytes, kind: str) -> str:
    """Return a multipart form as JSON: its fields by name, its files as name and size.

    Secrets are found by the names beside their values.
    """
    message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + data)
    fields: dict[str, Any] = {}
    for part in message.iter_parts():
        payload = part.get_payload(decode=True)
        content = payload if isinstance(payload, bytes) else b""
        name = str(part.get_param("name", "", header="content-disposition"))
        file = part.get_filename()
        value = f"({file}, {len(content)} bytes)" if file is not None else content.decode("utf-8", "replace")
        fields.setdefault(name, []).append(value)
    return codec.dumps(
        {name: values[0] if len(values) == 1 else values for name, values in fields.items()}
    ).decode()
