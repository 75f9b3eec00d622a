"""Over TLS, and through a proxy's tunnel: connecting is part of the exchange, and none of it happens in a replay."""

import asyncio
import shutil
import socket
import ssl
import subprocess
import threading
import urllib.request
from contextlib import suppress

import aiohttp  # reads SSL_CERT_FILE once, when it is imported: here, before a test sets it
import pytest

from tests.adapters.http.clients import ASYNC, SYNC

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
    )
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*command.split(), *names], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def tls(server, certificate, monkeypatch):
    """The server, spoken to over TLS; every library trusts it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    plain = server.http.get_request

    def accept():
        connection, address = plain()
        try:
            return context.wrap_socket(connection, server_side=True), address
        except OSError:
            connection.close()
            raise

    monkeypatch.setattr(server.http, "get_request", accept)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate / "cert.pem"))
    # It keeps the certificates of its first request.
    monkeypatch.setattr(urllib.request, "_opener", None)
    return f"https://localhost:{server.port}"


@pytest.fixture
def proxy():
    """A proxy that opens tunnels; `asked` counts them."""
    listener = socket.create_server(("127.0.0.1", 0))
    asked = []

    def pump(source, target):
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def serve(client):
        request = b""
        while not request.endswith(b"\r\n\r\n"):
            request += client.recv(1)
        asked.append(request.split()[1])
        host, _, port = request.split()[1].decode().partition(":")
        with client, socket.create_connection((host, int(port))) as upstream:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            there = threading.Thread(target=pump, args=(client, upstream))
            there.start()
            pump(upstream, client)
            there.join()

    def accept():
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def trusting(client):
    # aiohttp and urllib3 take their certificates from elsewhere than these variables.
    return client.name not in ("aiohttp", "urllib3")


@pytest.mark.parametrize("client", [client for client in SYNC + ASYNC if trusting(client)], ids=repr)
def test_over_tls(bench, tls, client):
    live, again = bench.both(lambda: client.get(tls + "/json"))
    assert live == again
    assert live.status == 200
    assert bench.steps[0].args["url"] == tls + "/json"


def test_a_certificate_that_is_not_trusted(bench, tls, monkeypatch):
    import requests

    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    monkeypatch.delenv("SSL_CERT_FILE")

    def program():
        with pytest.raises(requests.exceptions.SSLError) as info:
            requests.get(tls + "/json", timeout=60)
        return str(info.value)

    live, again = bench.both(program)
    assert live == again
    assert "certificate verify failed" in live


def test_an_aiohttp_certificate_error(bench, tls):
    async def main():
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ClientConnectorCertificateError) as info:
                await session.get(tls + "/json")
        return str(info.value), info.value.host

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again


def test_requests_through_a_tunnel(bench, tls, proxy):
    import requests

    address, asked = proxy

    def program():
        with requests.Session() as session:
            session.proxies = {"https": address}
            return [session.get(tls + "/json", timeout=60).json() for _ in range(2)]

    live, again = bench.both(program)
    assert live == again
    assert len(asked) == 1
    assert [step.args["url"] for step in bench.steps] == [tls + "/json"] * 2


def test_httpx_through_a_tunnel(bench, tls, proxy):
    import httpx2

    address, asked = proxy

    def program():
        with httpx2.Client(proxy=address) as client:
            return client.get(tls + "/json").json()

    live, again = bench.both(program)
    assert live == again
    assert len(asked) == 1
