"""What goes wrong on the way is an outcome too: the same exception, with the same words, in a replay."""

import asyncio
import importlib
import re
import socket

import pytest

import reenact
from reenact.core.unpack import Unpacker
from reenact.errors import DivergenceError
from tests.adapters.http.clients import ALL, ASYNC, SYNC


def every(clients=ALL):
    return pytest.mark.parametrize("client", clients, ids=repr)


def told(error):
    """An exception as a program that prints it shows it, with those it came from. Addresses in memory differ."""
    parts = []
    while error is not None:
        parts.append((type(error), re.sub(r"0x[0-9a-f]+", "0x", str(error))))
        error = error.__cause__ if isinstance(error.__cause__, Exception) and not parts[1:] else None
    return parts[0]


def caught(ask):
    def program():
        try:
            ask()
        except Exception as error:
            return told(error)
        return "no error"

    return program


@pytest.fixture
def nobody():
    """The address of a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@every()
def test_a_refused_connection(bench, client, nobody):
    live, again = bench.both(caught(lambda: client.get(nobody + "/json")))
    assert live == again
    assert live != "no error"
    assert bench.steps[0].call.status == "error"


@pytest.mark.thorough
@every()
def test_a_host_that_does_not_exist(bench, client):
    live, again = bench.both(caught(lambda: client.get("http://does-not-exist.invalid/")))
    assert live == again
    assert live != "no error"


@pytest.mark.sampled
@every()
def test_an_answer_that_does_not_come_in_time(bench, client):
    live, again = bench.both(caught(lambda: client.get(bench.server.url + "/slow", timeout=0.3)))
    assert live == again
    assert "time" in (live[0].__name__ + live[1]).lower()


@pytest.mark.sampled
@every()
def test_a_body_that_stalls(bench, client):
    live, again = bench.both(caught(lambda: client.get(bench.server.url + "/stalls", timeout=0.3)))
    assert live == again
    assert live != "no error"


@pytest.mark.sampled
@every()
@pytest.mark.parametrize("path", ["/slow", "/stalls"])
def test_another_time_limit_behind_a_time_out_is_a_departure(bench, client, path):
    bench.record(caught(lambda: client.get(bench.server.url + path, timeout=0.3)))
    with pytest.raises(DivergenceError) as found, reenact.replay(bench.recording):
        client.get(bench.server.url + path, timeout=30)
    divergence = found.value.divergence
    assert "a time limit ended this call" in divergence.detail
    assert {(one.recorded, one.actual) for one in divergence.mismatches} == {(0.3, 30.0)}
    rule = "http:* args.timeout"
    assert bench.replay(caught(lambda: client.get(bench.server.url + path, timeout=30)), ignore=[rule])
    assert f"ignore {rule}" in bench.verdict.rules


@every()
def test_another_time_limit_of_a_request_that_was_answered_changes_nothing(bench, client):
    bench.record(lambda: client.get(bench.server.url + "/json", timeout=10))
    assert bench.replay(lambda: client.get(bench.server.url + "/json", timeout=20)).status == 200


@pytest.mark.sampled
@every()
@pytest.mark.parametrize("path", ["/reset", "/reset-chunked", "/truncated", "/truncated-chunk", "/no-answer"])
def test_a_connection_that_breaks(bench, client, path):
    live, again = bench.both(caught(lambda: client.get(bench.server.url + path)))
    assert live == again
    # urllib's `read1` takes a body that is cut off for its end.
    assert live != "no error" or (client.name == "urllib" and path == "/truncated")


@pytest.mark.sampled
@every()
def test_what_came_before_a_reset_is_seen_before_the_error(bench, client):
    def program():
        pieces = client.get(bench.server.url + "/reset-chunked", most=1).chunks
        return pieces, caught(lambda: client.get(bench.server.url + "/reset-chunked"))()

    live, again = bench.both(program)
    assert live == again
    assert live[0] == [b"first"]


@pytest.mark.thorough
@every([client for client in ALL if client.name != "urllib"])
def test_a_body_that_is_not_what_its_encoding_says(bench, client):
    live, again = bench.both(caught(lambda: client.get(bench.server.url + "/bad-gzip")))
    assert live[0] == again[0]
    assert live != "no error"


@pytest.mark.sampled(every=5)
@every()
@pytest.mark.parametrize("how", ["length", "chunked"])
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_compressed_body_that_is_cut_short_is_so_in_a_replay(bench, client, encoding, how):
    seen = []

    def program():
        def get():
            seen.append(client.get(bench.server.url + f"/cut/{encoding}/{how}").body)

        return caught(get)()

    live, again = bench.both(program)
    assert live == again
    if client.name == "urllib" and live == "no error":
        # It gives the compressed bytes, which are others in a replay.
        for body in seen:
            unpacker = Unpacker(encoding)
            unpacker.decode(body)
            assert not unpacker.at_end()
    elif live == "no error":
        assert seen[0] == seen[1]


@pytest.mark.parametrize("name", ["httpx", "httpx2"])
def test_an_httpx_error_knows_its_request(bench, nobody, name):
    library = importlib.import_module(name)

    def program():
        with library.Client() as client, pytest.raises(library.ConnectError) as info:
            client.get(nobody + "/json")
        return str(info.value.request.url)

    live, again = bench.both(program)
    assert live == again == nobody + "/json"


def test_an_aiohttp_error_knows_host_and_port(bench, nobody):
    import aiohttp

    async def main():
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ClientConnectorError) as info:
                await session.get(nobody)
        return info.value.host, info.value.port, info.value.errno, type(info.value.os_error), str(info.value)

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again
    assert live[0] == "127.0.0.1"


def test_urllib3_retries_and_each_attempt_is_an_exchange(bench):
    import urllib3

    def program():
        with urllib3.PoolManager(retries=urllib3.Retry(3, backoff_factor=0, status_forcelist=[500])) as pool:
            return pool.request("GET", bench.server.url + "/flaky").json()

    live, again = bench.both(program)
    assert live == again == {"n": 3}
    assert [step.output["status"] for step in bench.steps] == [500, 500, 200]


def test_urllib3_gives_up_with_the_same_words(bench, nobody):
    import urllib3

    def program():
        with urllib3.PoolManager(retries=urllib3.Retry(2, backoff_factor=0)) as pool:
            pool.request("GET", nobody + "/json")

    live, again = bench.both(caught(program))
    assert live == again
    assert len(bench.steps) == 3


def test_requests_over_a_session_share_a_connection_and_replay(bench):
    import requests

    def program():
        with requests.Session() as session:
            return [
                session.get(bench.server.url + "/json").json() for _ in range(4)
            ], session.cookies.get_dict()

    live, again = bench.both(program)
    assert live == again
    assert [answer["n"] for answer in live[0]] == [1, 2, 3, 4]


@pytest.mark.thorough
@every(ASYNC)
def test_a_cancelled_request_is_cancelled_again(bench, client):
    async def main():
        try:
            async with asyncio.timeout(0.2):
                await client.aask("GET", bench.server.url + "/slow")
        except TimeoutError:
            pass
        return (await client.aask("GET", bench.server.url + "/json")).body

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again
    assert bench.steps[0].call.status == "cancelled"


def test_an_aiohttp_reader_that_is_cancelled_can_read_on(bench):
    import aiohttp

    async def main():
        got = []
        async with (
            aiohttp.ClientSession() as session,
            session.get(bench.server.url + "/sse?n=4&delay=0.1") as response,
        ):
            while True:
                try:
                    async with asyncio.timeout(0.03):
                        chunk = await response.content.readany()
                except TimeoutError:
                    got.append("waited")
                    continue
                if not chunk:
                    return got
                got.append(chunk)

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again
    assert [chunk for chunk in live if chunk != "waited"] == [
        f"data: event {n}\n\n".encode() for n in range(4)
    ]
    assert "waited" in live


@every(SYNC)
def test_a_host_that_is_down_in_the_replay_does_not_matter(bench, client):
    live = bench.record(lambda: client.get(bench.server.url + "/json"))
    bench.server.stop()
    with reenact.replay(bench.recording) as replay:
        assert client.get(bench.server.url + "/json") == live
    assert replay.verdict.faithful
