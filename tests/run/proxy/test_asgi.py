"""What crosses the proxy: forwarded, recorded as the httpx adapter would, and answered again."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import uvicorn

import reenact
from reenact.core import unpack
from reenact.core.replay import match
from reenact.errors import Departure
from reenact.run.proxy import order
from reenact.run.proxy.order import ARRIVAL
from tests.conftest import LONGEST


async def ask(client, q, what="answer", **more):
    done = await client.post(f"/{what}", json={"q": q, **more})
    return done.status_code, done.json()


async def send(client, request):
    """The answer to a request line, on a connection of its own."""
    reader, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
    writer.write(f"{request} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer.decode()


def asking(*questions):
    """A program that asks one after the other."""

    async def program(client):
        return [await ask(client, q) for q in questions]

    return program


def at_once(*questions):
    """A program that asks all of them before it has an answer."""

    async def program(client):
        return await asyncio.gather(*(ask(client, q, among=len(questions)) for q in questions))

    return program


def test_an_exchange_is_the_effect_that_the_httpx_adapter_makes_of_it(desk, scripted):
    async def program(client):
        return (await client.post("/answer?v=1", json={"q": "one"}, headers={"x-own": "yes"})).json()

    desk.record(program)
    with reenact.record("direct") as direct:
        httpx.post(f"{scripted.url}/answer?v=1", json={"q": "one"}, headers={"x-own": "yes"})
    (proxied,), (own,) = desk.recording.steps, direct.load().steps
    assert proxied.label == own.label
    # How its connection is to be used is between each client and its server.
    expected = {**own.args, "headers": {k: v for k, v in own.args["headers"].items() if k != "connection"}}
    assert proxied.args == expected
    assert proxied.output["status"] == 200
    assert b"".join(proxied.chunks).startswith(b'{"number"')


def test_a_replay_asks_nobody_and_gives_the_same(desk, scripted):
    given = desk.record(asking("one", "two", "one"))
    scripted.stop()
    again, verdict = desk.replay(asking("one", "two", "one"))
    assert again == given
    assert verdict.faithful
    assert verdict.served == 3
    assert not desk.halted.is_set()


def test_a_stream_is_passed_on_as_it_comes_and_recorded_so(desk, scripted):
    async def program(client):
        found = []
        async with client.stream("POST", "/stream", json={"hold": True}) as response:
            async for chunk in response.aiter_raw():
                # The provider goes on only when the first chunk is here.
                scripted.go_on.set()
                found.append(chunk)
        return b"".join(found)

    given = desk.record(program)
    assert given.count(b"data:") == 3
    assert len(desk.recording.step(1).chunks) >= 2
    assert desk.replay(program)[0] == given


def test_another_question_is_a_departure_that_no_sdk_asks_again(desk):
    async def program(client):
        done = await client.post("/answer", json={"q": "other"})
        return done.status_code, done.headers["x-should-retry"], done.json()["error"]["message"]

    desk.record(asking("one"))
    (status, retry, message), verdict = desk.replay(program)
    assert (status, retry) == (400, "false")
    assert "CHANGED at step 1" in message
    (departure,) = verdict.divergences
    assert [(m.path, m.recorded, m.actual) for m in departure.mismatches] == [("args.body.q", "one", "other")]
    assert desk.halted.is_set()


def test_a_body_written_in_another_way_is_equal_by_a_rule_and_texts_in_it_are_not(desk):
    def sending(body):
        async def program(client):
            return (await client.post("/answer", content=body)).status_code

        return program

    desk.record(sending(b'{"q": "{\\"a\\": 1}", "n": 12345678901234567890123}'))
    given, verdict = desk.replay(sending(b'{"n":12345678901234567890123,"q":"{\\u0022a\\": 1}"}'))
    assert (given, verdict.faithful) == (200, True)
    assert match.SPELLING in verdict.rules
    assert desk.replay(sending(b'{"q": "{\\"a\\":1}", "n": 12345678901234567890123}'))[0] == 400
    assert desk.replay(sending(b'{"q": "{\\"a\\": 1}", "n": 12345678901234567890124}'))[0] == 400


@pytest.mark.thorough
def test_one_question_more_and_one_less_are_departures(desk, monkeypatch):
    monkeypatch.setattr(order, "PATIENCE", 0.2)
    desk.record(asking("one", "two"))
    assert desk.replay(asking("one", "two", "one"))[1].divergence.kind is Departure.EXTRA
    assert desk.replay(asking("one"))[1].divergence.kind is Departure.MISSING


@pytest.mark.thorough
def test_a_divergence_that_the_program_swallows_stays_one(desk):
    desk.record(asking("one", "two"))
    given, verdict = desk.replay(asking("other", "two"))
    assert [status for status, _ in given] == [400, 400]
    assert verdict.divergence.step == 1


@pytest.mark.thorough
def test_an_ignored_part_need_not_match(desk):
    given = desk.record(asking("one"))
    again, verdict = desk.replay(asking("other"), ignore=("args.body.q",))
    assert again == given
    assert verdict.faithful


def test_what_is_let_live_asks_the_provider(desk, scripted):
    given = desk.record(asking("one"))
    again, verdict = desk.replay(asking("one"), live=("http",))
    assert again != given
    assert verdict.live == {desk.recording.step(1).label: 1}
    assert scripted.hits == 2


# -- at once -------------------------------------------------------------------------------------------------


@pytest.fixture
def endless(monkeypatch):
    """A replay that waits for nothing but what comes: a missed one outlasts the client."""
    monkeypatch.setattr(order, "PATIENCE", 3600)


def test_different_questions_at_once_may_come_in_another_order(desk, endless):
    given = desk.record(at_once("one", "two", "three"))
    again, verdict = desk.replay(at_once("three", "one", "two"))
    assert again == [given[2], given[0], given[1]]
    assert verdict.faithful
    assert ARRIVAL not in verdict.rules


@pytest.mark.thorough
def test_answers_come_in_the_order_in_which_they_came(desk, scripted, endless):
    async def program(client):
        came = []

        async def one(q, **more):
            await ask(client, q, among=3, **more)
            came.append(q)
            scripted.taken[q].set()

        await asyncio.gather(one("last", after="middle"), one("first"), one("middle", after="first"))
        return came

    recorded = desk.record(program)
    assert recorded == ["first", "middle", "last"]
    ends = [call.end_order for call in desk.recording.logs[0].calls.values()]

    def pace(place):
        """Wait until the program has each answer that ended before that place."""
        for q in recorded[: sum(end < place for end in ends)]:
            assert scripted.taken[q].wait(LONGEST)

    for _ in range(3):
        scripted.taken.clear()
        assert desk.replay(program, pace)[0] == recorded


@pytest.mark.thorough
def test_an_answer_waits_while_the_earlier_ones_go_on(desk, monkeypatch):
    desk.record(at_once("one", "two", "three"))
    now, places = 0, []

    def pace(place):
        nonlocal now
        places.append(place)
        # Less than the patience passes between two places, and more in all.
        now += 2

    monkeypatch.setattr(order, "monotonic", lambda: now)
    desk.replay(at_once("one", "two", "three"), pace)
    assert places == sorted(places)
    assert now > 2 * order.PATIENCE


@pytest.mark.thorough
def test_equal_questions_at_once_are_told_apart_by_their_arrival_and_the_verdict_says_so(desk, endless):
    given = desk.record(at_once("same", "same"))
    again, verdict = desk.replay(at_once("same", "same"))
    assert sorted(map(str, again)) == sorted(map(str, given))
    assert verdict.faithful
    assert ARRIVAL in verdict.rules


@pytest.mark.thorough
def test_questions_one_after_the_other_must_come_in_their_order(desk, monkeypatch):
    monkeypatch.setattr(order, "PATIENCE", 0.2)
    desk.record(asking("one", "two"))
    given, verdict = desk.replay(asking("two", "one"))
    assert given[0][0] == 400
    assert verdict.divergence.kind is Departure.REORDERED
    assert verdict.divergence.step == 2


@pytest.mark.thorough
def test_an_answer_that_goes_out_too_early_is_said(desk, monkeypatch):
    monkeypatch.setattr(order, "PATIENCE", 0.2)
    desk.record(at_once("one", "two"))

    async def program(client):
        first = await ask(client, "one", among=2)
        return [first, await ask(client, "two", among=2)]

    _, verdict = desk.replay(program)
    assert not verdict.faithful
    assert "was sent before" in verdict.notes[0]


# -- endings -------------------------------------------------------------------------------------------------


async def left_early(client):
    async with client.stream("POST", "/stream", json={"count": 200, "every": 0.01}) as response:
        return (await anext(response.aiter_raw())).split(b"\n")[0]


async def read_whole(client):
    return len((await client.post("/stream", json={"count": 200, "every": 0.01})).content)


def test_a_stream_that_the_program_leaves_is_left_again(desk):
    given = desk.record(left_early)
    assert len(desk.recording.step(1).chunks) < 100
    again, verdict = desk.replay(left_early)
    assert again == given
    assert verdict.faithful


@pytest.mark.thorough
def test_who_reads_on_where_the_program_had_left_departs(desk, monkeypatch):
    monkeypatch.setattr(order, "PATIENCE", 0.2)
    desk.record(left_early)

    async def program(client):
        with pytest.raises(httpx.RemoteProtocolError):
            await read_whole(client)

    verdict = desk.replay(program)[1]
    assert verdict.divergence.kind is Departure.EXTRA


@pytest.mark.thorough
def test_who_has_no_patience_has_none_again(desk):
    async def program(client):
        try:
            await client.post("/answer", json={"wait": 20}, timeout=0.3)
        except httpx.ReadTimeout as error:
            return type(error).__name__

    assert desk.record(program) == "ReadTimeout"
    assert desk.recording.step(1).call.status == "cancelled"
    given, verdict = desk.replay(program)
    assert given == "ReadTimeout"
    assert verdict.faithful


async def in_a_hurry(client):
    with pytest.raises(httpx.ReadTimeout):
        await client.post("/answer", json={"wait": 20}, timeout=0.3)
    return await left_early(client), await ask(client, "one"), await ask(client, "two")


@pytest.mark.thorough
def test_a_fork_leaves_what_was_left_and_is_live_from_its_step_on(desk):
    given = desk.record(in_a_hurry)
    forked, child = desk.fork(in_a_hurry, at=4)
    assert forked[:2] == given[:2]
    assert forked[2] != given[2]
    assert [step.call.address for step in child] == [step.call.address for step in desk.recording]
    desk.recording = child
    again, verdict = desk.replay(in_a_hurry)
    assert again == forked
    assert verdict.faithful


def test_a_stream_that_breaks_off_breaks_off_again(desk):
    async def program(client):
        found = b""
        try:
            async with client.stream(
                "POST", "/stream", json={"count": 5, "every": 0.02, "cut": 2}
            ) as response:
                async for chunk in response.aiter_raw():
                    found += chunk
        except httpx.RemoteProtocolError as error:
            return found, str(error)

    given = desk.record(program)
    assert given[0].count(b"data:") == 3
    again, verdict = desk.replay(program)
    assert again == given
    assert verdict.faithful


@pytest.mark.thorough
def test_a_provider_that_is_not_there_is_a_502_in_one_line(desk, scripted):
    scripted.stop()
    ((status, said),) = desk.record(asking("one"))
    assert status == 502
    assert said["error"]["message"].startswith("reenact: POST 127.0.0.1")
    assert "ConnectError" in said["error"]["message"]
    given, verdict = desk.replay(asking("one"))
    assert given == [(status, said)]
    assert verdict.faithful


@pytest.mark.thorough
def test_an_error_of_the_provider_comes_as_it_is(desk):
    async def program(client):
        done = await client.post("/broken", json={})
        return done.status_code, done.headers["x-request-id"], "x-should-retry" in done.headers

    given = desk.record(program)
    assert given == (500, "req-0", False)
    assert desk.replay(program)[0] == given


@pytest.mark.thorough
def test_a_compressed_answer_is_recorded_plain_and_given_compressed(desk):
    async def program(client):
        done = await client.post("/packed", json={})
        return done.headers["content-encoding"], done.json()

    given = desk.record(program)
    assert desk.recording.step(1).chunks == [b'{"number": 0}']
    assert desk.replay(program)[0] == given


@pytest.mark.thorough
def test_an_answer_without_its_secret_has_its_own_length(desk):
    async def program(client):
        done = await client.post("/secret", json={}, headers={"authorization": "Bearer sk-" + "Ab9" * 16})
        return done.json()["token"], int(done.headers["content-length"]) == len(done.content)

    assert desk.record(program) == ("sk-" + "Zq8" * 16, True)
    text = "".join(path.read_text() for path in Path(desk.recording.path).glob("*.jsonl"))
    assert "Zq8Zq8" not in text
    assert "Ab9Ab9" not in text
    (token, fits), verdict = desk.replay(program)
    assert token.startswith("[[secret:")
    assert fits
    assert verdict.faithful


@pytest.mark.parametrize("status", [200, 204, 304])
def test_an_answer_without_a_body_has_none_in_a_replay_whatever_its_encoding(desk, status):
    async def program(client):
        found = []
        for _ in range(2):
            async with client.stream("GET", f"/empty?status={status}") as response:
                found.append((response.status_code, b"".join([part async for part in response.aiter_raw()])))
        return found

    given = desk.record(program)
    assert given == [(status, b"")] * 2
    again, verdict = desk.replay(program)
    assert again == given
    assert verdict.faithful


def test_an_encoding_that_cannot_be_unpacked_is_not_accepted(desk, monkeypatch):
    monkeypatch.setattr(unpack, "optional", lambda *_: iter(()))
    unpack.can_unpack.cache_clear()

    async def program(client):
        asked = ("br;q=1.0, gzip;q=0.8, zstd, *;q=0.1", "br", "identity")
        return [
            (await client.get(f"/sent?n={number}", headers={"accept-encoding": one})).json()["accepted"]
            for number, one in enumerate(asked)
        ]

    assert desk.record(program) == ["gzip;q=0.8", "identity", "identity"]
    unpack.can_unpack.cache_clear()


def test_an_idle_connection_is_kept_for_an_hour(desk, monkeypatch):
    """Programs keep a provider's connection for minutes, and some repeat no request that a closed one lost."""
    configs = []

    class Seen(uvicorn.Config):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            configs.append(self)

    monkeypatch.setattr(uvicorn, "Config", Seen)
    desk.record(asking("one"))
    assert [config.timeout_keep_alive for config in configs] == [3600]


def test_a_path_is_sent_as_the_program_wrote_it(desk):
    async def program(client):
        answer = await send(client, f"GET {client.base_url.path}sent/../sent?a=%zz")
        return json.loads(answer.partition("\r\n\r\n")[2])["target"]

    assert desk.record(program) == "/v1/sent/../sent"
    assert desk.recording.step(1).args["url"].endswith("/v1/sent/../sent?a=%zz")


@pytest.mark.parametrize("address", ["relative", "absolute"])
def test_a_redirect_within_a_service_stays_at_the_proxy(desk, scripted, address):
    async def program(client):
        to = "/v1/answer" if address == "relative" else f"{scripted.url}/answer"
        done = await client.post("/moved", params={"to": to}, json={"q": 1}, follow_redirects=True)
        return done.status_code, done.json(), done.url.path

    given = desk.record(program)
    assert given[0] == 200
    assert given[2] == "/openai_base_url/answer"
    assert len(desk.recording.steps) == 2
    assert not desk.recording.notes
    hits = scripted.hits
    again, verdict = desk.replay(program)
    assert again == given
    assert verdict.faithful
    assert scripted.hits == hits


@pytest.mark.parametrize("to", ["https://files.example/1?sig=x", "/elsewhere"])
def test_a_redirect_to_another_service_is_noted(desk, to):
    async def program(client):
        return (await client.get("/moved", params={"to": to})).headers["location"]

    given = desk.record(program)
    assert given in (
        "https://files.example/1?sig=x",
        f"{desk.routes[0].upstream.removesuffix('/v1')}/elsewhere",
    )
    (note,) = desk.recording.notes
    assert "/v1/moved redirects to " in note
    assert "sig" not in note
    again, verdict = desk.replay(program)
    assert again == given
    assert not verdict.faithful


def test_the_target_of_a_request_to_an_http_proxy_is_named(desk):
    async def program(client):
        return await send(client, "CONNECT api.openai.com:443")

    said = desk.record(program)
    assert " 404 " in said
    assert (
        "nothing is served at api.openai.com:443: this is the address of services, not an HTTP proxy" in said
    )


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://page.example"},
        {"sec-fetch-site": "cross-site"},
        {"host": "page.example"},
    ],
)
def test_a_page_in_a_browser_gets_no_answer_and_is_not_recorded(desk, scripted, headers):
    async def program(client):
        done = await client.post("/answer", json={"q": "one"}, headers=headers)
        return done.status_code, done.json()["error"]["type"]

    assert desk.record(program) == (403, "page_refused")
    assert (scripted.hits, list(desk.recording)) == (0, [])


def test_a_page_in_a_browser_does_not_end_a_replay(desk):
    async def visited(client):
        await client.get("/answer", headers={"sec-fetch-site": "cross-site"})
        return await ask(client, "one")

    given = desk.record(asking("one"))
    again, verdict = desk.replay(visited)
    assert (again, verdict.faithful) == (given[0], True)


class LyingProvider:
    """A provider that states a length and sends chunks; it keeps what it was sent."""

    def __init__(self):
        self.asked = b""

    async def serve(self, program):
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        async with server:
            return await program(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")

    async def _answer(self, reader, writer):
        self.asked = await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 200 OK\r\ncontent-length: 70\r\ntransfer-encoding: chunked\r\n\r\n"
        writer.write(head + b"2\r\n{}\r\n0\r\n\r\n")
        await writer.drain()
        writer.close()


def test_a_length_beside_chunks_is_not_passed_on(desk):
    provider = LyingProvider()

    async def program(client):
        reader, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
        head = "host: x\r\nconnection: close\r\ncontent-length: 60\r\ntransfer-encoding: chunked"
        writer.write(f"POST {client.base_url.path}x HTTP/1.1\r\n{head}\r\n\r\n0\r\n\r\n".encode())
        answer = await asyncio.wait_for(reader.read(), LONGEST)
        writer.close()
        return answer

    async def recorded(url):
        desk.routes = (replace(desk.routes[0], upstream=url),)
        return await asyncio.to_thread(desk.record, program)

    answer = asyncio.run(provider.serve(recorded))
    assert b" 200 " in answer
    assert b"content-length: 70" not in answer
    assert b"content-length: 60" not in provider.asked
    assert desk.replay(program)[0] == answer


def test_an_address_that_leads_nowhere_is_named(desk):
    async def program(client):
        done = await client.get(str(client.base_url.copy_with(path="/elsewhere")))
        return done.status_code, done.json()["error"]["message"]

    status, message = desk.record(program)
    assert status == 404
    assert "nothing is served at /elsewhere; there are: /openai_base_url" in message
    assert "no request came through the proxy" in desk.recording.notes[0]
