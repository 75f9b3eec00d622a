"""A client that sends slowly, or opens very many connections, does not keep others out."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from reenact.run import connections

PATIENCE = 30


async def echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


async def late(request: Request) -> PlainTextResponse:
    await asyncio.sleep(1.0)
    return PlainTextResponse("late")


async def stream(request: Request) -> StreamingResponse:
    async def pieces():
        for number in range(5):
            yield f"{number}\n"
            await asyncio.sleep(0.2)

    return StreamingResponse(pieces())


given_up = threading.Event()
"""Set when the server has given up an endless answer."""


async def endless(request: Request) -> StreamingResponse:
    async def pieces():
        try:
            while True:
                yield bytes(1 << 20)
                # Once the connection is closed, nothing else lets the loop go on.
                await asyncio.sleep(0)
        finally:
            given_up.set()

    return StreamingResponse(pieces())


@pytest.fixture
def port(monkeypatch):
    """A server whose limits are parts of a second."""
    for name, value in {"HEAD": 0.4, "BODY": 0.4, "STALLED": 0.4, "_TICK": 0.1}.items():
        monkeypatch.setattr(connections, name, value)
    routes = [Route("/echo", echo, methods=["GET", "POST"]), Route("/late", late), Route("/stream", stream)]
    app = Starlette(routes=[*routes, Route("/endless", endless)])
    listening = socket.create_server(("127.0.0.1", 0), backlog=200)
    config = uvicorn.Config(
        app, http=connections.Connection, ws="none", lifespan="off", log_level="critical", access_log=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = server.force_exit = True
    thread.join(20)
    listening.close()


def opened(port, data=b""):
    client = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    client.sendall(data)
    return client


def answer(client):
    """All that comes until the server closes the connection."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while block := client.recv(1 << 16):
            found += block
    client.close()
    return found


@pytest.mark.sampled
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /echo HT",
        b"GET /echo HTTP/1.1\r\nHost: x\r\nX-A: b\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ],
    ids=["nothing", "half a line", "half the headers", "half a body", "half a chunk"],
)
def test_many_half_sent_requests_are_closed_and_others_answered_meanwhile(port, sent):
    slow = [opened(port, sent) for _ in range(50)]
    assert b"\r\n\r\n2" in answer(
        opened(port, b"POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab")
    )
    for client in slow:
        answer(client)  # times out where it is not closed


@pytest.mark.parametrize("head", [b"", b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 999999\r\n\r\n"])
def test_a_byte_now_and_then_keeps_no_connection_open(port, head):
    client = opened(port, head)
    client.settimeout(0.05)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            client.sendall(b"G")
            if not client.recv(100):
                break
        except TimeoutError:
            continue
        except ConnectionError:
            break
    else:
        pytest.fail("the connection is still open")
    client.close()


def test_a_slow_second_request_on_a_connection_is_closed_too(port):
    client = opened(port, b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b"200 OK" in client.recv(1 << 16)
    client.sendall(b"GET /ec")
    assert b"408" in answer(client)


def test_answers_that_take_long_are_waited_for(port):
    for path, last in ((b"late", b"late"), (b"stream", b"4\n\r\n0\r\n\r\n")):
        found = answer(opened(port, b"GET /" + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
        assert found.endswith(last), found


@pytest.mark.thorough
def test_an_answer_that_is_not_read_is_given_up(port):
    given_up.clear()
    client = opened(port, b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
    client.recv(10)
    assert given_up.wait(PATIENCE)
    answer(client)  # ends


@pytest.mark.thorough
def test_no_client_has_more_than_half_of_all_connections(port, monkeypatch):
    monkeypatch.setattr(connections, "HEAD", 60)
    monkeypatch.setattr(connections, "most", lambda: 20)
    held = [opened(port) for _ in range(10)]
    assert b"503" in answer(opened(port, b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
    for client in held:
        client.close()
