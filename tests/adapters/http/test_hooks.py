"""Installing: once, loudly where it cannot be done, and cheap where nobody listens."""

import http.client
import time
import types

import pytest

from reenact.adapters import hooks
from reenact.adapters.http import aiohttp as aiohttp_adapter
from reenact.adapters.http import exchange, http_client
from reenact.adapters.http import httpx as httpx_adapter
from reenact.adapters.http import urllib3 as urllib3_adapter


@pytest.mark.parametrize("name", ["httpx", "httpx2"])
def test_installing_twice_patches_once(name):
    library = pytest.importorskip(name)
    httpx_adapter.install(library)
    patched = library.HTTPTransport.handle_request
    httpx_adapter.install(library)
    assert library.HTTPTransport.handle_request is patched
    http_client.install(http.client)
    sent = http.client.HTTPConnection.send
    http_client.install(http.client)
    assert http.client.HTTPConnection.send is sent


def test_a_library_without_the_hook_is_named():
    stranger = types.SimpleNamespace(
        __name__="httpx", HTTPTransport=type("HTTPTransport", (), {}),
        SyncByteStream=type("S", (), {}), AsyncByteStream=type("A", (), {}), ByteStream=bytes,
    )  # fmt: skip
    with pytest.raises(hooks.HookMissing, match=r"httpx has no HTTPTransport\.handle_request"):
        httpx_adapter.install(stranger)


def test_an_old_urllib3_is_named():
    class Pool:
        def _make_request(self, conn, method, url): ...

    with pytest.raises(hooks.HookMissing, match="older than 2"):
        urllib3_adapter.install(types.SimpleNamespace(HTTPConnectionPool=Pool))


def test_an_old_aiohttp_is_named():
    class ClientSession:
        async def _request(self, method, url): ...

    with pytest.raises(hooks.HookMissing, match=r"3\.12"):
        aiohttp_adapter.install(types.SimpleNamespace(ClientSession=ClientSession, __version__="3.9"))


def test_a_websocket_is_left_alone_and_named(capsys):
    exchange._told.clear()
    assert exchange.upgrades([("Upgrade", "websocket")], "ws://host/socket")
    assert exchange.upgrades([("Upgrade", "websocket")], "ws://host/socket")
    assert capsys.readouterr().err.count("websocket connection to host/socket is not recorded") == 1
    assert not exchange.upgrades([("Accept", "*/*")], "http://host/")


def test_where_nobody_records_the_hook_costs_under_a_microsecond():
    class Transport:
        def handle_request(self, request):
            return request

    hooked = type("Hooked", (Transport,), {"handle_request": Transport.__dict__["handle_request"]})
    library = pytest.importorskip("httpx2")
    hooks.patch(hooked, "handle_request", httpx_adapter._HttpxLibrary(library).sync_hook, library="test")

    def took(transport):
        best = 1.0
        for _ in range(20):
            began = time.perf_counter()
            for _ in range(1000):
                transport.handle_request(None)
            best = min(best, time.perf_counter() - began)
        return best / 1000

    assert took(hooked()) - took(Transport()) < 1e-6
