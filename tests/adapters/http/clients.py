"""The HTTP libraries, each asked in the same way: what a program gets to see of a response."""

import asyncio
import importlib
import urllib.error
import urllib.request
from dataclasses import dataclass, field


@dataclass
class Seen:
    """One response as a program sees it: `chunks` in the pieces in which its library gave them."""

    status: int
    reason: str
    headers: list
    chunks: list = field(default_factory=list)

    @property
    def body(self):
        return b"".join(self.chunks)


@dataclass(frozen=True)
class Ask:
    """One request, and how much of its response is read: at most `most` chunks."""

    method: str
    url: str
    body: bytes | None = None
    headers: dict = field(default_factory=dict)
    timeout: float = 10
    most: int | None = None


@dataclass(frozen=True)
class Client:
    """One library."""

    name: str
    asks: object
    is_async: bool

    def get(self, url, **options):
        return self.ask("GET", url, **options)

    def post(self, url, body=b"", **options):
        return self.ask("POST", url, body=body, **options)

    def ask(self, *request, **options):
        found = self.asks(Ask(*request, **options))
        return asyncio.run(found) if self.is_async else found

    async def aask(self, *request, **options):
        return await self.asks(Ask(*request, **options))

    def __repr__(self):
        return self.name


def _some(chunks, most):
    taken = []
    for chunk in chunks:
        taken.append(bytes(chunk))
        if most is not None and len(taken) >= most:
            break
    return taken


async def _asome(chunks, most):
    taken = []
    async for chunk in chunks:
        taken.append(bytes(chunk))
        if most is not None and len(taken) >= most:
            break
    return taken


def _httpx(name):
    def ask(it):
        library = importlib.import_module(name)
        with (
            library.Client(timeout=it.timeout, follow_redirects=True) as client,
            client.stream(it.method, it.url, content=it.body, headers=it.headers) as response,
        ):
            seen = Seen(response.status_code, response.reason_phrase, response.headers.multi_items())
            seen.chunks = _some(response.iter_bytes(), it.most)
        return seen

    return ask


def _ahttpx(name):
    async def ask(it):
        library = importlib.import_module(name)
        async with (
            library.AsyncClient(timeout=it.timeout, follow_redirects=True) as client,
            client.stream(it.method, it.url, content=it.body, headers=it.headers) as response,
        ):
            seen = Seen(response.status_code, response.reason_phrase, response.headers.multi_items())
            seen.chunks = await _asome(response.aiter_bytes(), it.most)
        return seen

    return ask


def _requests(it):
    import requests

    with (
        requests.Session() as session,
        session.request(
            it.method, it.url, data=it.body, headers=it.headers, timeout=it.timeout, stream=True
        ) as response,
    ):
        seen = Seen(response.status_code, response.reason, list(response.raw.headers.items()))
        seen.chunks = _some(response.iter_content(None), it.most)
    return seen


def _urllib3(it):
    import urllib3

    with urllib3.PoolManager(retries=urllib3.Retry(5, connect=0, read=0, status=0, other=0)) as pool:
        response = pool.request(
            it.method, it.url, body=it.body, headers=it.headers, timeout=it.timeout, preload_content=False
        )
        seen = Seen(response.status, response.reason, list(response.headers.items()))
        seen.chunks = _some(response.stream(decode_content=True), it.most)
        response.close()
    return seen


def _urllib(it):
    request = urllib.request.Request(it.url, data=it.body, headers=it.headers, method=it.method)
    try:
        response = urllib.request.urlopen(request, timeout=it.timeout)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        seen = Seen(response.status, response.reason, list(response.headers.items()))
        seen.chunks = _some(iter(lambda: response.read1(65536), b""), it.most)
    return seen


async def _aiohttp(it):
    import aiohttp

    limit = aiohttp.ClientTimeout(total=it.timeout)
    async with (
        aiohttp.ClientSession(timeout=limit) as session,
        session.request(it.method, it.url, data=it.body, headers=it.headers) as response,
    ):
        seen = Seen(response.status, response.reason, list(response.headers.items()))
        seen.chunks = await _asome(response.content.iter_any(), it.most)
    return seen


SYNC = (
    Client("httpx", _httpx("httpx"), False),
    Client("httpx2", _httpx("httpx2"), False),
    Client("requests", _requests, False),
    Client("urllib3", _urllib3, False),
    Client("urllib", _urllib, False),
)
ASYNC = (
    Client("httpx-async", _ahttpx("httpx"), True),
    Client("httpx2-async", _ahttpx("httpx2"), True),
    Client("aiohttp", _aiohttp, True),
)
ALL = SYNC + ASYNC
