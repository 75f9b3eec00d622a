"""Every library, sync and async: what a program saw of a response is what it sees in a replay, without the server."""

import gzip
import json

import pytest

import reenact
from reenact import DivergenceError
from tests.adapters.http.clients import ALL, ASYNC, SYNC
from tests.adapters.http.server import BIG, BINARY, TEXT

EVENTS = "".join(f"data: event {number} \n\n" for number in range(4))


def every(clients=ALL):
    return pytest.mark.parametrize("client", clients, ids=repr)


@pytest.mark.sampled
@every()
@pytest.mark.parametrize(
    "path", ["/json", "/sse", "/binary", "/big", "/until-close", "/status/404", "/nothing", "/echo"]
)
def test_a_response_comes_back_equal_in_status_headers_bytes_and_chunks(bench, client, path):
    live, again = bench.both(lambda: client.get(bench.server.url + path))
    assert live == again
    assert len(bench.steps) == 1
    assert bench.server.count(path) == 1


@pytest.mark.sampled
@every()
def test_the_bodies_are_what_the_server_sent(bench, client):
    url = bench.server.url
    live, again = bench.both(
        lambda: [client.get(url + path).body for path in ("/binary", "/big", "/sse?n=2")]
    )
    assert live == again == [BINARY, BIG, b"data: event 0\n\ndata: event 1\n\n"]


@pytest.mark.sampled
@every()
@pytest.mark.parametrize("path", ["/gzip", "/deflate", "/br", "/zstd", "/gzip-sse"])
def test_a_compressed_body_is_decoded_by_the_library_itself_in_a_replay_too(bench, client, path):
    if client.name == "urllib" or (
        path == "/zstd" and client.name.startswith("httpx") and "2" not in client.name
    ):
        pytest.skip("this library leaves it to the program to decompress")
    live, again = bench.both(lambda: client.get(bench.server.url + path))
    assert live == again
    assert live.body.decode() == (EVENTS if path == "/gzip-sse" else TEXT)


@pytest.mark.thorough
@every()
def test_what_is_recorded_of_a_compressed_body_can_be_read(bench, client):
    bench.record(lambda: client.get(bench.server.url + "/gzip"))
    assert b"jagen Viktor" in bench.on_disk
    assert bench.steps[0].output["decoded"] == "gzip"


def test_a_program_that_decompresses_by_itself_gets_the_same_text(bench):
    (urllib,) = (client for client in SYNC if client.name == "urllib")
    live, again = bench.both(lambda: gzip.decompress(urllib.get(bench.server.url + "/gzip").body).decode())
    assert live == again == TEXT


@every()
def test_a_redirect_is_two_exchanges(bench, client):
    live, again = bench.both(lambda: client.get(bench.server.url + "/redirect"))
    assert live == again
    assert [step.call.name.rpartition("/")[2] for step in bench.steps] == ["redirect", "json"]


@every()
def test_the_first_chunk_reaches_the_program_before_the_last_was_sent(bench, client):
    def sent_by_then():
        client.get(bench.server.url + "/sse?n=8&delay=0.1", most=1)
        return len(bench.server.sent)

    assert bench.record(sent_by_then) < 8, "the response was buffered"


@pytest.mark.thorough
@every()
def test_a_stream_that_was_closed_early_replays(bench, client):
    live, again = bench.both(lambda: client.get(bench.server.url + "/sse", most=2))
    assert live == again
    assert live.body.startswith(b"data: event 0")


@every()
def test_reading_on_where_the_recorded_program_stopped_is_a_divergence(bench, client):
    bench.record(lambda: client.get(bench.server.url + "/sse", most=1))
    with pytest.raises(DivergenceError, match="reads more of the stream"):
        bench.replay(lambda: client.get(bench.server.url + "/sse"))


@every()
def test_a_changed_body_is_a_divergence_that_names_the_part(bench, client):
    def program(city):
        body = json.dumps({"tool": "weather", "args": {"city": city}}).encode()
        return client.post(bench.server.url + "/echo", body, headers={"content-type": "application/json"})

    bench.record(lambda: program("Oslo"))
    with pytest.raises(DivergenceError) as caught:
        bench.replay(lambda: program("Rome"))
    assert [mismatch.path for mismatch in caught.value.divergence.mismatches] == ["args.body.args.city"]


@pytest.mark.thorough
@every()
def test_another_header_is_a_divergence_unless_it_is_one_that_always_differs(bench, client):
    url = bench.server.url + "/json"
    bench.record(lambda: client.get(url, headers={"X-Tenant": "a", "User-Agent": "one"}))
    bench.replay(lambda: client.get(url, headers={"X-Tenant": "a", "User-Agent": "two"}))
    with pytest.raises(DivergenceError) as caught:
        bench.replay(lambda: client.get(url, headers={"X-Tenant": "b", "User-Agent": "one"}))
    assert [mismatch.path for mismatch in caught.value.divergence.mismatches] == ["args.headers.x-tenant"]


@pytest.mark.thorough
@every()
def test_one_exchange_more_than_recorded_is_a_divergence_and_never_reaches_the_network(bench, client):
    url = bench.server.url + "/json"
    bench.record(lambda: client.get(url))
    with pytest.raises(DivergenceError, match=r"^EXTRA at step 2"):
        bench.replay(lambda: (client.get(url), client.get(url)))


@every()
def test_head_has_headers_and_no_body(bench, client):
    live, again = bench.both(lambda: client.ask("HEAD", bench.server.url + "/big"))
    assert live == again
    assert live.body == b""


@every()
def test_equal_questions_in_a_row_get_their_own_answers(bench, client):
    live, again = bench.both(lambda: [client.get(bench.server.url + "/json").body for _ in range(5)])
    assert live == again
    assert len(set(live)) == 5


@every(ASYNC)
def test_ten_equal_questions_at_once_each_get_their_own_answer(bench, client):
    import asyncio

    async def together():
        asks = [client.aask("GET", bench.server.url + "/delayed") for _ in range(10)]
        return [seen.body for seen in await asyncio.gather(*asks)]

    live, again = bench.both(lambda: asyncio.run(together()))
    assert live == again
    assert len(set(live)) == 10


@pytest.mark.thorough
@every(SYNC)
def test_ten_threads_with_equal_questions_each_get_their_own_answer(bench, client):
    from concurrent.futures import ThreadPoolExecutor

    def together():
        with ThreadPoolExecutor(10) as pool:
            return list(pool.map(lambda _: client.get(bench.server.url + "/delayed").body, range(10)))

    live, again = bench.both(together)
    assert live == again
    assert len(set(live)) == 10


@pytest.mark.sampled
@every()
def test_the_scope_of_the_exchange_does_not_leak_into_the_program(bench, client):
    from reenact.core import boundary

    scopes = []

    def program():
        scopes.append(boundary.current())
        client.get(bench.server.url + "/sse")
        scopes.append(boundary.current())

    bench.both(program)
    assert scopes[0] is scopes[1]
    assert scopes[2] is scopes[3]


@pytest.mark.thorough
@every()
def test_without_a_recording_nothing_is_in_the_way(bench, client):
    assert json.loads(client.get(bench.server.url + "/json").body)["n"] == 1
    with reenact.record("idle", home=bench.home) as recording:
        pass
    assert json.loads(client.get(bench.server.url + "/json").body)["n"] == 2
    assert len(reenact.load(recording.id, home=bench.home).steps) == 0
