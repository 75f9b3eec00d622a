"""Keys and cookies never reach the disk, wherever in an exchange they stand."""

import asyncio
import json

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


def test_not_from_the_url_of_an_error(bench):
    import aiohttp

    async def main():
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ClientError):
                await session.get(f"http://127.0.0.1:9/?token={SECRET}")

    bench.both(lambda: asyncio.run(main()))
    assert SECRET.encode() not in bench.on_disk
