"""One HTTP exchange as an effect: what all adapters of HTTP libraries share.

The question is made of method, URL, headers and body; the answer is a head (status, reason, version, headers) and the
body's bytes, chunk by chunk as they arrive.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import IO, Any
from urllib.parse import urlsplit

import orjson

from reenact.adapters.http import coding
from reenact.core.boundary import Call
from reenact.core.messages import asks_model
from reenact.core.model.event import Effect
from reenact.core.model.plain import parsed
from reenact.core.patterns import lazy
from reenact.core.store.writer import warn

LARGE = 10_000_000
"""The size in bytes from which a request's body is recorded by its hash and size only."""

_PORTS = {"http": ":80", "https": ":443", "ws": ":80", "wss": ":443"}
_FORM = lazy(r"\bboundary=(?:\"([^\"]+)\"|([^\s;,]+))", re.IGNORECASE)
_BLOCK = 65536


# -- the question --------------------------------------------------------------------------------------------


class Body:
    """A request's body, read once and sent unchanged. Large ones are in a temporary file."""

    def __init__(self, data: bytes = b"") -> None:
        self._parts: list[bytes] = [data] if data else []
        self._file: IO[bytes] | None = None
        self._hash: hashlib._Hash | None = None
        self._size = len(data)

    @classmethod
    def of(cls, parts: Iterable[bytes | str]) -> Body:
        """Read all parts, in the sender's scope: a generator of the program's runs its own code."""
        body = cls()
        for part in parts:
            body.add(part)
        return body

    def add(self, part: bytes | str) -> None:
        """Take one more part."""
        data = part.encode() if isinstance(part, str) else bytes(part)
        self._size += len(data)
        if self._file is None and self._size <= LARGE:
            self._parts.append(data)
            return
        if self._file is None:
            self._hash = hashlib.sha256()
            self._file = tempfile.TemporaryFile(prefix="reenact-")  # noqa: SIM115 - lives as long as the request
            for earlier in self._parts:
                self._spill(earlier)
            self._parts.clear()
        self._spill(data)

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def _spill(self, data: bytes) -> None:
        assert self._file is not None
        assert self._hash is not None
        self._hash.update(data)
        self._file.write(data)

    def parts(self) -> Iterator[bytes]:
        """Yield the body in its parts (in blocks if it is large)."""
        if self._file is None:
            yield from self._parts
            return
        self._file.seek(0)
        while block := self._file.read(_BLOCK):
            yield block

    @property
    def in_memory(self) -> bytes | None:
        """Return the whole body, or None if it is too large."""
        return b"".join(self._parts) if self._file is None else None

    def recorded(self, headers: dict[str, str]) -> Any:
        """Return the recorded form: decompressed text, bytes, a large one's hash, None if empty."""
        data = self.in_memory
        if data is None:
            assert self._hash is not None
            return {"sha256": self._hash.hexdigest(), "size": self._size}
        return plain(data, headers) if data else None


def plain(data: bytes, headers: dict[str, str]) -> str | bytes:
    """Return a body as recorded: decompressed, with a fixed form boundary, text if possible."""
    encoding = headers.get("content-encoding")
    if encoding:
        data = coding.decoded(data, encoding)
    form = (
        _FORM.search(headers.get("content-type", ""))
        if "multipart/" in headers.get("content-type", "")
        else None
    )
    if form is not None:
        # Random each time, though the form is the same.
        drawn = form[1] or form[2]
        data = data.replace(b"--" + drawn.encode(), b"--boundary")
        headers["content-type"] = headers["content-type"].replace(drawn, "boundary")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def effect(
    method: str,
    url: str,
    headers: Iterable[tuple[str, str]],
    body: Body,
    limits: Mapping[str, float | None] | None = None,
) -> Effect:
    """Return the effect `METHOD host[:port]/path`, with all that the answer may depend on."""
    joined = _joined(headers if isinstance(headers, list) else list(headers))
    kept = body.recorded(joined)
    args = {"method": method, "url": url, "headers": joined, "body": kept}
    return Effect("http", f"{method} {place(url)}", args, leaf=True, limits=limits)


def _joined(headers: list[tuple[str, str]]) -> dict[str, str]:
    joined = {key.lower(): value for key, value in headers}
    if len(joined) < len(headers):
        joined.clear()
        for key, value in headers:
            name = key.lower()
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


def another_model(call: Call, body: Body) -> bytes | None:
    """Return the body with a fork's other model, or None to send the given one."""
    model, data = call.scope.run.model, body.in_memory
    if model is None or data is None or not asks_model(call.effect.kind, call.effect.name):
        return None
    asked = parsed(data)
    if not isinstance(asked, dict) or "model" not in asked:
        warn(f"{call.effect.name} keeps its model: its body does not name one")
        return None
    return orjson.dumps({**asked, "model": model})


def keeps_model(call: Call, library: str) -> None:
    """Warn that a fork cannot ask another model through this library."""
    if call.scope.run.model is not None and asks_model(call.effect.kind, call.effect.name):
        warn(f"{call.effect.name} keeps its model: --model reaches httpx and Pydantic AI, and not {library}")


@lru_cache(maxsize=256)
def place(url: str) -> str:
    """Return `host[:port]/path`, with the port only if it is not the scheme's default."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    return f"{host.removesuffix(_PORTS.get(parts.scheme, ':'))}{parts.path or '/'}"


def pairs(raw: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Return headers that are bytes as text."""
    try:
        return [(key.decode(), value.decode()) for key, value in raw]
    except UnicodeDecodeError:
        return [(text(key), text(value)) for key, value in raw]


def text(value: bytes | str | Any) -> str:
    """Return a header's name or value as text."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.decode("latin-1")
    return str(value)


_told: set[str] = set()


def upgrades(headers: Iterable[tuple[str, str]], url: str) -> bool:
    """Return True, with a warning, if a request upgrades its connection (a websocket)."""
    for key, value in [pair for pair in headers if len(pair[0]) == 7]:
        if key.lower() == "upgrade":
            where = place(url)
            if where not in _told:
                _told.add(where)
                warn(f"the {value} connection to {where} is not recorded; a replay will refuse it")
            return True
    return False


def in_asyncio(url: str) -> bool:
    """Return True if an async request runs in asyncio; trio is not recorded, with a warning."""
    if asyncio._get_running_loop() is not None:
        return True
    if "trio" not in _told:
        _told.add("trio")
        warn(f"requests are not recorded outside asyncio; the first is to {place(url)}")
    return False


# -- the answer ----------------------------------------------------------------------------------------------


class Truncated(Exception):
    """The connection ended inside a body; `left` bytes of its current part were missing.

    The program does not get this error: it marks the place in the recording, and the library notices by itself.
    """

    def __init__(self, left: int) -> None:
        super().__init__(left)
        self.left = left

    def __str__(self) -> str:
        return "the connection was closed in the middle of the body"


def head(status: int, reason: str | None, version: str, headers: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the recorded form of a response without its body."""
    return {"status": status, "reason": reason, "version": version, "headers": [[k, v] for k, v in headers]}


def served(call: Call) -> Iterator[bytes]:
    """Yield the recorded body, as the library expects it from its transport."""
    yield from call.recorded.pieces()
    yield from _tail(call)


async def aserved(call: Call) -> AsyncIterator[bytes]:
    """`served` for an awaited body."""
    async for piece in call.recorded.apieces():
        yield piece
    for piece in _tail(call):
        yield piece


def _tail(call: Call) -> Iterator[bytes]:
    rest = call.wire.finish() if isinstance(call.wire, coding.Coding) else b""
    if rest:
        yield rest
