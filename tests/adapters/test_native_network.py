"""Libraries whose C and Rust code reaches the network: named while recording, refused in a replay."""

from __future__ import annotations

import asyncio
from concurrent import futures
from importlib import import_module

import pytest

import reenact
from reenact.errors import DivergenceError
from tests.adapters.http.server import Server
from tests.team.servers import Postgres

pytestmark = pytest.mark.skipif("sys.platform == 'win32'", reason="there are no wheels of some of these")


@pytest.fixture(scope="module")
def postgres():
    server = Postgres()
    try:
        yield server
    finally:
        server.end()


@pytest.fixture
def table(postgres):
    """The address of a database with an empty table `orders`."""
    import psycopg

    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS orders")
        connection.execute("CREATE TABLE orders (text TEXT)")
    return postgres.url


def rows(url):
    import psycopg

    with psycopg.connect(url) as connection:
        return connection.execute("SELECT count(*) FROM orders").fetchone()[0]


@pytest.fixture
def web():
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def echo():
    """The address of a gRPC server, and a list of what it was asked."""
    grpc = import_module("grpc")
    asked = []

    def answer(request, _):
        asked.append(request)
        return request

    server = grpc.server(futures.ThreadPoolExecutor(2))
    handler = grpc.unary_unary_rpc_method_handler(answer)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("shop", {"Buy": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}", asked
    server.stop(None).wait()


INSERT = "INSERT INTO orders VALUES ('one')"


def by_psycopg(url):
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(INSERT)


def by_async_psycopg(url):
    import psycopg

    async def insert():
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            await connection.execute(INSERT)

    asyncio.run(insert())


def by_psycopg2(url):
    connection = import_module("psycopg2").connect(url)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(INSERT)
    finally:
        connection.close()


def by_curl_cffi(url):
    return import_module("curl_cffi").requests.get(f"{url}/json").status_code


def by_async_curl_cffi(url):
    async def get():
        async with import_module("curl_cffi").requests.AsyncSession() as session:
            return (await session.get(f"{url}/json")).status_code

    return asyncio.run(get())


def by_pycurl(url):
    curl = import_module("pycurl").Curl()
    try:
        curl.setopt(curl.URL, f"{url}/json")
        curl.setopt(curl.WRITEFUNCTION, lambda _: None)
        curl.perform()
        return curl.getinfo(curl.RESPONSE_CODE)
    finally:
        curl.close()


def refused(program, *args, library):
    """Record a program that runs for real, and check that its replay is refused."""
    with reenact.record("native") as recording:
        program(*args)
    recorded = reenact.load(recording.id)
    assert [note["text"] for note in recorded.logs[0].notes if note["what"] == "unrecorded"] == [
        f"{library} connected in native code: a replay will refuse it"
    ]
    with pytest.raises(DivergenceError) as found, reenact.replay(recorded):
        program(*args)
    assert f"{library} connected in native code in a replay" in found.value.divergence.detail
    return recorded


@pytest.mark.parametrize(
    ("program", "library"),
    [(by_psycopg, "psycopg"), (by_async_psycopg, "psycopg"), (by_psycopg2, "psycopg2")],
)
def test_a_replay_inserts_no_second_row(home, table, program, library):
    recorded = refused(program, table, library=library)
    assert rows(table) == 1
    with reenact.replay(recorded, live=["socket"]):
        program(table)
    assert rows(table) == 2


def test_a_connection_from_before_the_recording_is_not_used_in_a_replay(home, table):
    import psycopg

    with psycopg.connect(table, autocommit=True) as connection:
        refused(connection.execute, INSERT, library="psycopg")
    assert rows(table) == 1


@pytest.mark.parametrize(
    ("program", "library"),
    [(by_curl_cffi, "curl_cffi"), (by_async_curl_cffi, "curl_cffi"), (by_pycurl, "pycurl")],
)
def test_a_request_is_not_made_again(home, web, program, library):
    refused(program, web.url, library=library)
    assert len(web.requests) == 1


@pytest.mark.parametrize("way", ["call", "future"])
def test_a_grpc_call_is_not_made_again(home, echo, way):
    address, asked = echo
    with import_module("grpc").insecure_channel(address) as channel:
        buy = channel.unary_unary("/shop/Buy")
        call = buy if way == "call" else lambda request: buy.future(request).result()
        refused(call, b"one", library="grpc")
    assert asked == [b"one"]


def test_an_awaited_grpc_call_is_not_made_again(home, echo):
    address, asked = echo

    async def buy():
        async with import_module("grpc.aio").insecure_channel(address) as channel:
            return await channel.unary_unary("/shop/Buy")(b"one")

    refused(lambda: asyncio.run(buy()), library="grpc")
    assert asked == [b"one"]


def test_a_zmq_message_is_not_sent_again(home):
    zmq = import_module("zmq")
    with zmq.Context() as context, context.socket(zmq.PAIR) as here, context.socket(zmq.PAIR) as there:
        here.bind("inproc://here")

        def say():
            there.connect("inproc://here")
            there.send(b"one")

        refused(say, library="zmq")
        assert here.recv() == b"one"
        assert not here.poll(0)


def test_a_tool_that_queries_is_answered_without_running(home, table):
    @reenact.tool
    def order():
        by_psycopg(table)
        return "ordered"

    with reenact.record("tool") as recording:
        assert order() == "ordered"
    with reenact.replay(reenact.load(recording.id)) as again:
        assert order() == "ordered"
    assert not again.verdict.divergences
    assert "tool:order did not run (it uses the library psycopg" in str(again.verdict)
    assert rows(table) == 1


def test_an_effect_around_a_query_answers_it(home, table):
    def query():
        return reenact.effect("db", "orders").perform(lambda: by_psycopg(table) or 7)

    with reenact.record("effect") as recording:
        assert query() == 7
    with reenact.replay(reenact.load(recording.id)) as again:
        assert query() == 7
    assert again.verdict.faithful
    assert rows(table) == 1
