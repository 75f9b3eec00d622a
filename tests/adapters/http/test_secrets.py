"""Keys and cookies never reach the disk, wherever in an exchange they stand."""

import asyncio
import base64
import gzip
import json
import re
import zlib
from contextlib import suppress

import pytest

from tests.adapters.http.clients import ALL

SECRET = "zx9-Canary-5f3c0d1e8b7a6f4c2d"


def every(clients=ALL):
    return pytest.mark.parametrize("client", clients, ids=repr)


@pytest.mark.sampled
@every()
@pytest.mark.parametrize("header", ["Authorization", "X-Api-Key", "Cookie", "Proxy-Authorization"])
def test_not_from_a_request_header(bench, client, header):
    value = (
        f"Bearer {SECRET}"
        if "uthorization" in header
        else f"session={SECRET}"
        if header == "Cookie"
        else SECRET
    )
    live, again = bench.both(lambda: client.get(bench.server.url + "/json", headers={header: value}))
    assert live == again
    assert SECRET.encode() not in bench.on_disk


@every()
def test_not_from_a_request_body_or_the_query(bench, client):
    body = json.dumps({"password": SECRET}).encode()
    url = bench.server.url + f"/status/200?api_key={SECRET}"
    live, again = bench.both(lambda: client.post(url, body, headers={"content-type": "application/json"}))
    assert live == again
    assert SECRET.encode() not in bench.on_disk


@every()
def test_not_from_an_answer(bench, client):
    bench.server.bodies["secret"] = SECRET
    bench.both(lambda: client.get(bench.server.url + "/secret").status)
    assert SECRET.encode() not in bench.on_disk
    assert b"[[secret:" in bench.on_disk


@pytest.mark.sampled
@every([client for client in ALL if client.name != "urllib"])
def test_not_from_a_compressed_stream(bench, client):
    bench.server.bodies["secret"] = "Authorization: Bearer " + SECRET
    live, again = bench.both(lambda: client.get(bench.server.url + "/gzip-sse").body)
    assert SECRET.encode() in live
    assert SECRET.encode() not in again
    assert SECRET.encode() not in bench.on_disk
    assert again.count(b"data: event") == 4


def texts(data):
    """What stands in the bytes of a recording, as it is and unpacked."""
    yield data
    for packed in re.findall(rb'"\$bytes":"([A-Za-z0-9+/=]+)"', data):
        found = base64.b64decode(packed)
        for unpack in (gzip.decompress, gzip.decompress, zlib.decompress):
            with suppress(OSError, zlib.error):
                found = unpack(found)
        yield found


@pytest.mark.sampled
@every()
def test_not_from_a_body_that_is_compressed_twice(bench, client):
    def plain(body):
        with suppress(OSError):
            body = gzip.decompress(body)
        with suppress(zlib.error):
            body = zlib.decompress(body)
        return body

    bench.server.bodies["secret"] = "Authorization: Bearer " + SECRET
    live, again = bench.both(lambda: plain(client.get(bench.server.url + "/packed-twice").body))
    assert SECRET.encode() in live
    assert again.startswith(b"hello Authorization: Bearer [[secret:")
    assert SECRET.encode() not in b"".join(texts(bench.on_disk))


def test_not_from_a_question_that_is_compressed_twice(bench):
    body = gzip.compress(gzip.compress(json.dumps({"password": SECRET}).encode()))
    headers = {"content-encoding": "gzip, gzip", "content-type": "application/json"}
    client = next(client for client in ALL if client.name == "httpx")
    bench.both(lambda: client.post(bench.server.url + "/echo", body, headers=headers).status)
    assert b"[[secret:" in bench.on_disk
    assert SECRET.encode() not in b"".join(texts(bench.on_disk))


def test_not_from_the_url_of_an_error(bench):
    import aiohttp

    async def main():
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ClientError):
                await session.get(f"http://127.0.0.1:9/?token={SECRET}")

    bench.both(lambda: asyncio.run(main()))
    assert SECRET.encode() not in bench.on_disk
