"""The proxy between a browser and the network."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress

import pytest

from reenact.browser.isolation import egress as module
from reenact.browser.isolation.addresses import Reach
from reenact.browser.isolation.egress import Egress

pytestmark = pytest.mark.asyncio


WRITERS = []


@contextlib.asynccontextmanager
async def proxy(reach):
    one = Egress(reach)
    try:
        yield one, await one.start()
    finally:
        while WRITERS:
            writer = WRITERS.pop()
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        await one.stop()


@contextlib.asynccontextmanager
async def echo():
    async def serve(reader, writer):
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.sleep(0)


async def asked(port, host, to, *, greeting=b"\x05\x01\x00", command=1):
    """What the proxy answers, and the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    WRITERS.append(writer)
    writer.write(greeting)
    if await reader.read(2) != b"\x05\x00":
        return None, reader, writer
    try:
        address = ipaddress.ip_address(host)
        where = bytes([1 if address.version == 4 else 4]) + address.packed
    except ValueError:
        where = bytes([3, len(host)]) + host.encode()
    writer.write(bytes([5, command, 0]) + where + to.to_bytes(2, "big"))
    answer = await reader.readexactly(10)
    return answer[1], reader, writer


async def test_bytes_go_both_ways_until_the_end():
    async with echo() as there, proxy(Reach(private=True)) as (_, port):
        reply, reader, writer = await asked(port, "localhost", there)
        assert reply == 0
        data = bytes(range(256)) * 4000
        writer.write(data)
        writer.write_eof()
        assert await reader.read(-1) == data


async def test_what_may_not_be_reached_is_not_connected_to_and_the_reason_is_known():
    came = []

    async def serve(_, writer):
        came.append(1)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    there = server.sockets[0].getsockname()[1]
    async with proxy(Reach()) as (one, port):
        for host in ("127.0.0.1", "localhost", "localhost.", "::ffff:127.0.0.1", "0.0.0.0", "127.1", "2130706433",
                     "0x7f.1", "0177.0.0.1"):  # fmt: skip
            reply, _, _ = await asked(port, host, there)
            # Some resolvers know no name with a dot at its end.
            assert reply == 2 or (host, reply) == ("localhost.", 4), host
            assert "not on the public network" in one.why(host) or reply == 4
    server.close()
    assert not came


async def test_a_name_is_resolved_once_and_its_checked_address_is_connected_to(monkeypatch):
    answers = [["203.0.113.9", "127.0.0.1"], ["127.0.0.1"]]
    asked_for = []

    def changing(host, port):
        asked_for.append(host)
        return answers[min(len(asked_for), 2) - 1]

    async with echo() as there, proxy(Reach.of(["203.0.113.0/24"])) as (one, port):
        tried = []

        async def connect(address, to):
            tried.append(address)
            raise ConnectionRefusedError(111, "refused")

        monkeypatch.setattr(module, "resolve", changing)
        real = asyncio.open_connection
        monkeypatch.setattr(module.asyncio, "open_connection", connect)
        reader, writer = await real("127.0.0.1", port)
        WRITERS.append(writer)
        writer.write(b"\x05\x01\x00\x05\x01\x00\x03\x06a.test" + there.to_bytes(2, "big"))
        assert (await reader.readexactly(12))[3] != 0
        assert (asked_for, tried) == (["a.test"], ["203.0.113.9"])
        reader, writer = await real("127.0.0.1", port)
        WRITERS.append(writer)
        writer.write(b"\x05\x01\x00\x05\x01\x00\x03\x06a.test" + there.to_bytes(2, "big"))
        assert (await reader.readexactly(12))[3] == 2
        assert tried == ["203.0.113.9"]
        assert "not on the public network" in one.why("A.test")


@pytest.mark.parametrize("command", [2, 3, 9])
async def test_nothing_but_a_connection_is_given(command):
    async with proxy(Reach(private=True)) as (_, port):
        reply, _, _ = await asked(port, "127.0.0.1", 80, command=command)
        assert reply == 7


@pytest.mark.parametrize("greeting", [b"\x04\x01\x00", b"GET / HTTP/1.1\r\n\r\n", b"\x05\x01\x02", b"\x05"])
async def test_what_is_no_socks_is_hung_up_on(greeting, monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 0.2)
    async with proxy(Reach(private=True)) as (_, port):
        reply, reader, _ = await asked(port, "127.0.0.1", 80, greeting=greeting)
        assert reply is None
        assert await reader.read(1) == b""


async def test_reasons_do_not_pile_up():
    one = Egress(Reach())
    for number in range(1000):
        one._note(f"{number}.test", "no")
    assert len(one._reasons) == module._REASONS
    assert one.last == "no"
    await one.stop()
