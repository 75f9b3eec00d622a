"""Whatever a program sends arrives unharmed while it is recorded, and is matched in a replay."""

import asyncio
import base64
import gzip
import hashlib
import io
import json
from http.client import HTTPConnection

import pytest

from reenact import DivergenceError
from reenact.adapters.http import exchange
from tests.adapters.http.clients import ALL

SYNC_HTTPX = pytest.mark.parametrize("name", ["httpx", "httpx2"])


def every(clients=ALL):
    return pytest.mark.parametrize("client", clients, ids=repr)


def sent(seen):
    answer = json.loads(seen.body)
    return base64.b64decode(answer["body"])


@pytest.mark.sampled
@every()
@pytest.mark.parametrize(
    "body", [b"", b"plain", "zwölf".encode(), bytes(range(256)), b"x" * 1_000_000], ids=len
)
def test_a_body_arrives_as_it_was_sent(bench, client, body):
    live, again = bench.both(lambda: client.post(bench.server.url + "/echo", body))
    assert live == again
    assert sent(live) == body[:100_000]
    assert json.loads(live.body)["size"] == len(body)
    kept = bench.steps[0].args["body"]
    assert kept == (None if not body else _text(body))


def _text(body):
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body


@pytest.mark.thorough
@SYNC_HTTPX
def test_a_generator_is_read_once_and_its_own_effects_belong_to_the_program(bench, name):
    library = pytest.importorskip(name)
    import reenact

    @reenact.tool
    def part(number):
        return f"part {number};"

    def parts():
        for number in range(3):
            yield part(number).encode()

    def program():
        with library.Client() as client:
            return client.post(bench.server.url + "/echo", content=parts()).json()

    live, again = bench.both(program)
    assert live == again
    assert base64.b64decode(live["body"]) == b"part 0;part 1;part 2;"
    assert live["encoding"] == "chunked"
    assert [step.call.kind for step in bench.recording.steps] == ["tool", "tool", "tool", "http"]
    assert {step.call.within for step in bench.recording.steps} == {None}


@SYNC_HTTPX
def test_an_async_generator_is_sent(bench, name):
    library = pytest.importorskip(name)

    async def parts():
        for number in range(3):
            await asyncio.sleep(0.001)
            yield b"part %d;" % number

    async def main():
        async with library.AsyncClient() as client:
            return (await client.post(bench.server.url + "/echo", content=parts())).json()

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again
    assert base64.b64decode(live["body"]) == b"part 0;part 1;part 2;"


def test_requests_sends_a_generator_and_a_file(bench, tmp_path):
    import requests

    (tmp_path / "file").write_bytes(b"from a file" * 5000)

    def program():
        url = bench.server.url + "/echo"
        with requests.Session() as session, (tmp_path / "file").open("rb") as file:
            return session.post(url, data=iter([b"a", b"b", b"c"])).json(), session.post(
                url, data=file
            ).json()

    live, again = bench.both(program)
    assert live == again
    assert (base64.b64decode(live[0]["body"]), live[0]["encoding"]) == (b"abc", "chunked")
    assert live[1]["size"] == 55000


def test_aiohttp_sends_a_file_a_generator_and_a_form(bench, tmp_path):
    import aiohttp

    async def parts():
        yield b"one "
        yield b"two"

    async def main():
        url, got = bench.server.url + "/echo", []
        form = aiohttp.FormData()
        form.add_field("picture", io.BytesIO(bytes(range(256))), filename="a.bin")
        async with aiohttp.ClientSession() as session:
            for data in (io.BytesIO(b"from a file"), parts(), form):
                async with session.post(url, data=data) as response:
                    got.append(await response.json())
        return got

    live, again = bench.both(lambda: asyncio.run(main()))
    assert [base64.b64decode(answer["body"]) for answer in live[:2]] == [b"from a file", b"one two"]
    assert bytes(range(256)) in base64.b64decode(live[2]["body"])
    assert live == again


@SYNC_HTTPX
def test_a_form_with_a_binary_file_matches_though_its_boundary_is_drawn_anew(bench, name):
    library = pytest.importorskip(name)

    def program(data=bytes(range(256))):
        with library.Client() as client:
            files = {"file": ("a.bin", io.BytesIO(data), "application/octet-stream")}
            return client.post(bench.server.url + "/echo", files=files, data={"purpose": "vision"}).json()

    live, again = bench.both(program)
    assert live == again
    assert live["type"].startswith("multipart/form-data; boundary=")
    with pytest.raises(DivergenceError, match=r"args\.body"):
        bench.replay(lambda: program(b"another"))


@pytest.mark.sampled
@every()
def test_a_very_large_body_is_kept_by_its_hash(bench, client, monkeypatch):
    monkeypatch.setattr(exchange, "LARGE", 100_000)
    body = b"0123456789" * 30_000
    live, again = bench.both(lambda: client.post(bench.server.url + "/echo", body))
    assert live == again
    assert json.loads(live.body)["size"] == len(body)
    assert bench.steps[0].args["body"] == {"sha256": hashlib.sha256(body).hexdigest(), "size": len(body)}
    with pytest.raises(DivergenceError, match=r"args\.body"):
        bench.replay(lambda: client.post(bench.server.url + "/echo", body[1:] + b"!"))


@SYNC_HTTPX
def test_a_very_large_generator_goes_through_a_file(bench, name, monkeypatch):
    library = pytest.importorskip(name)
    monkeypatch.setattr(exchange, "LARGE", 100_000)

    def program():
        with library.Client() as client:
            return client.post(
                bench.server.url + "/echo", content=(b"0123456789" * 1000 for _ in range(30))
            ).json()

    live, again = bench.both(program)
    assert live == again
    assert live["size"] == 300_000


@pytest.mark.sampled
@every()
def test_a_compressed_request_is_kept_readable(bench, client):
    body = gzip.compress(b'{"question": "what is in here?"}', mtime=0)
    live, again = bench.both(
        lambda: client.post(bench.server.url + "/echo", body, headers={"content-encoding": "gzip"})
    )
    assert live == again
    assert sent(live) == body
    assert bench.steps[0].args["body"] == '{"question": "what is in here?"}'


def test_a_request_that_is_sent_by_hand(bench):
    def program():
        connection = HTTPConnection("127.0.0.1", bench.server.port)
        connection.putrequest("POST", "/echo")
        connection.putheader("Content-Length", "10")
        connection.endheaders()
        connection.send(b"01234")
        connection.send(b"56789")
        first = json.loads(connection.getresponse().read())
        connection.request("POST", "/echo", body=iter([b"a", b"b"]))
        second = json.loads(connection.getresponse().read())
        connection.close()
        return first, second

    live, again = bench.both(program)
    assert live == again
    assert [base64.b64decode(answer["body"]) for answer in live] == [b"0123456789", b"ab"]
    assert [step.args["body"] for step in bench.steps] == ["0123456789", "ab"]


def test_a_connection_that_is_opened_by_hand(bench):
    def program():
        connection = HTTPConnection("127.0.0.1", bench.server.port)
        connection.connect()
        connection.request("GET", "/json")
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    live, again = bench.both(program)
    assert live == again
    assert [step.call.name.split()[0] for step in bench.steps] == ["CONNECT", "GET"]


def test_xml_rpc_replays(bench):
    from xmlrpc.client import ProtocolError, ServerProxy

    def program():
        with ServerProxy(bench.server.url + "/status/503") as proxy, pytest.raises(ProtocolError) as info:
            proxy.add(2, 3)
        return info.value.errcode, info.value.errmsg

    live, again = bench.both(program)
    assert live == again == (503, "Service Unavailable")
    assert "<methodName>add</methodName>" in bench.steps[0].args["body"]


def test_repeated_headers_of_a_response_stay_apart(bench):
    import httpx2

    def program():
        with httpx2.Client() as client:
            response = client.get(bench.server.url + "/cookies")
            return response.headers.get_list("set-cookie"), sorted(client.cookies)

    live, again = bench.both(program)
    assert [line.split("=")[0] for line in live[0]] == [line.split("=")[0] for line in again[0]] == ["a", "b"]
    assert live[1] == again[1]


@SYNC_HTTPX
def test_a_body_that_is_left_and_read_again_goes_on_where_it_was(bench, name):
    # As OpenAI's SDK does from 3.52 on: it stops at the last event, then reads what may be left of the connection.
    module = pytest.importorskip(name)

    async def main():
        async with (
            module.AsyncClient() as client,
            client.stream("GET", bench.server.url + "/sse") as response,
        ):
            first = aiter(response.stream)
            begun = [await anext(first)]
            return begun, [part async for part in response.stream]

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again
    assert live[0][0] not in live[1]
