"""Whole conversations over websockets: what came in which order, how they ended, and what a changed program departs in."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import asynccontextmanager, contextmanager

import pytest
from websockets import exceptions
from websockets.asyncio.client import connect
from websockets.protocol import State
from websockets.sync import client
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as connect_sync

import reenact
from reenact.core.boundary import perform
from reenact.core.model.event import Effect
from reenact.errors import Departure, DivergenceError
from tests.adapters.websockets.server import connect_directly

since_17 = pytest.mark.skipif(not hasattr(client, "reconnect"), reason="websockets 17 has it")


@asynccontextmanager
async def cut(url):
    """A connection that is cut off at the end, without a word."""
    talk = await connect(url)
    try:
        yield talk
    finally:
        talk.transport.abort()
        await asyncio.sleep(0)


@contextmanager
def kept_open(connections):
    yield
    for connection in connections:
        connection.close()


def spoken(bench):
    return [step.call.name.partition(" ")[0] for step in bench.steps]


def test_what_was_said_in_turn_is_said_again_without_a_server(bench):
    async def main():
        async with connect(f"{bench.server.url}/echo", subprotocols=["talk"]) as talk:
            found = [talk.subprotocol, talk.response.headers["X-Number"], talk.remote_address]
            for message in ("one", b"\xff\x00", ["in ", "parts"]):
                await talk.send(message)
                found.append(await talk.recv())
            await talk.send("raw")
            found.append(await talk.recv(decode=False))
        return [*found, talk.state, talk.close_code, talk.close_reason]

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again
    assert live[0] == "talk"
    assert live[3:7] == ["2: one", "3: 2 bytes", "4: in parts", b"5: raw"]
    assert live[7:] == [State.CLOSED, 1000, ""]
    assert spoken(bench) == ["connect", *["send", "receive"] * 4, "close"]


def test_threads_send_while_others_receive(bench):
    def main():
        heard = []
        with connect_sync(f"{bench.server.url}/echo") as talk:

            def listen():
                heard.extend(talk.recv(timeout=60) for _ in range(3))

            listener = threading.Thread(target=listen)
            listener.start()
            for number in range(3):
                talk.send(f"message {number}")
            listener.join()
            assert isinstance(talk, ClientConnection)
        return heard, talk.close_code

    live, again = bench.both(main)
    assert live == again
    assert len(live[0]) == 3


def test_the_order_of_what_comes_and_what_goes_is_kept(bench):
    """A reader and a writer of their own, on two connections at once; what is written depends on what was read."""

    async def one(url, order, mark):
        async with connect(url) as talk:
            waiting = asyncio.Queue()

            async def read():
                async for message in talk:
                    order.append((mark, "came", message))
                    waiting.put_nowait(message)

            reader = asyncio.create_task(read())
            for _ in range(3):
                said = json.dumps({"heard": await waiting.get(), "before": len(order)})
                await talk.send(said)
                order.append((mark, "went", said))
            await waiting.get()
            await talk.close()
            await reader

    async def main():
        order = []
        url = f"{bench.server.url}/talkative"
        await asyncio.gather(one(url, order, "a"), one(url, order, "b"))
        return order

    live = bench.record(lambda: asyncio.run(main()))
    for _ in range(3):
        assert bench.replay(lambda: asyncio.run(main())) == live


def test_a_connection_that_the_server_ends_ends_again_with_its_code(bench):
    async def main():
        talk = await connect(f"{bench.server.url}/leaves")
        found = [await talk.recv()]
        with pytest.raises(exceptions.ConnectionClosedError) as info:
            await talk.recv()
        found += [str(info.value), info.value.rcvd.code, info.value.rcvd.reason, talk.close_code]
        with pytest.raises(exceptions.ConnectionClosedError):
            await talk.send("too late")
        await talk.wait_closed()
        return found

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again
    assert live[2:] == [4001, "session expired", 4001]


def test_iterating_stops_where_it_stopped(bench):
    def main():
        with connect_sync(f"{bench.server.url}/leaves") as talk:
            messages = iter(talk)
            first = next(messages)
            with pytest.raises(exceptions.ConnectionClosedError) as info:
                next(messages)
        return first, info.value.rcvd.code

    live, again = bench.both(main)
    assert live == again
    assert live[1] == 4001


def test_a_refused_connection_is_refused_again_whole(bench):
    async def main():
        with pytest.raises(exceptions.InvalidStatus) as info:
            await connect(f"{bench.server.url}/bad")
        answer = info.value.response
        return str(info.value), answer.status_code, answer.headers["X-Why"], answer.body

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again
    assert live[1:3] == (403, "closed")


def test_no_answer_in_time_is_none_again_and_the_message_comes_later(bench):
    async def main():
        async with connect(f"{bench.server.url}/patient") as talk:
            await talk.send("well?")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(talk.recv(), 0.05)
            return await talk.recv()

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again
    assert "late: well?" in live


def test_a_time_out_in_a_thread(bench):
    def main():
        with connect_sync(f"{bench.server.url}/patient") as talk:
            talk.send("well?")
            with pytest.raises(TimeoutError):
                talk.recv(timeout=0.05)
            return talk.recv()

    live, again = bench.both(main)
    assert live == again


def test_a_message_that_comes_as_its_reader_is_cancelled_is_not_lost(bench):
    async def main():
        found = []
        async with connect(f"{bench.server.url}/talkative") as talk:
            for wait in (0.0, 0.001, 0.002, 0.004, 0.008, 0.016, 0.2, 0.2):
                try:
                    found.append(await asyncio.wait_for(talk.recv(), wait))
                except TimeoutError:
                    found.append(None)
        return found

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again
    assert len([message for message in live if message]) == 2


def test_another_message_is_named_with_the_path_to_what_differs(bench):
    async def main(voice):
        async with connect(f"{bench.server.url}/echo") as talk:
            await talk.send(json.dumps({"type": "session.update", "session": {"voice": voice, "speed": 1}}))
            return await talk.recv()

    bench.record(lambda: asyncio.run(main("alloy")))
    bench.server.stop()
    with pytest.raises(DivergenceError) as info, reenact.replay(bench.recording):
        asyncio.run(main("echo"))
    found = info.value.divergence
    assert (found.kind, found.step) == (Departure.CHANGED, 2)
    assert [(m.path, m.recorded, m.actual) for m in found.mismatches] == [
        ("args.message.session.voice", "alloy", "echo")
    ]


@pytest.mark.parametrize("more", ["a message", "listening on"])
def test_more_than_was_said_then_is_a_departure(bench, more):
    async def main(goes_on):
        async with cut(f"{bench.server.url}/echo") as talk:
            await talk.send("one")
            await talk.recv()
            if goes_on:
                await (talk.send("two") if more == "a message" else talk.recv())

    bench.record(lambda: asyncio.run(main(goes_on=False)))
    bench.server.stop()
    with pytest.raises(DivergenceError) as info, reenact.replay(bench.recording):
        asyncio.run(main(goes_on=True))
    assert info.value.divergence.kind == Departure.EXTRA


def test_speaking_before_listening_where_it_was_the_other_way_round_is_a_departure(bench):
    async def main(verbs):
        async with cut(f"{bench.server.url}/talkative") as talk:
            for verb in verbs:
                await (talk.recv() if verb == "hear" else talk.send('"hi"'))

    bench.record(lambda: asyncio.run(main(["hear", "say"])))
    bench.server.stop()
    with pytest.raises(DivergenceError), reenact.replay(bench.recording):
        asyncio.run(main(["say", "hear"]))


@pytest.mark.thorough
def test_a_connection_within_a_tool_vanishes_with_it_and_opens_again_where_the_tool_runs(bench):
    ran = []

    def main():
        with connect_sync(f"{bench.server.url}/echo") as talk:

            @reenact.tool
            def ask(text):
                ran.append(text)
                talk.send(text)
                return talk.recv()

            return [ask("one"), ask("two")]

    live, again = bench.both(main)
    assert live == again
    assert ran == ["one", "two"]
    with reenact.replay(bench.recording, live=["tool:ask"]) as replay:
        assert main() == live
    assert ran == ["one", "two"] * 2
    assert replay.verdict.divergences == ()


def test_nothing_of_a_key_is_kept_and_another_key_is_no_other_question(bench):
    async def main(key):
        options = {"additional_headers": {"Authorization": f"Bearer {key}"}}
        async with connect(f"{bench.server.url}/echo?key={key}", **options) as talk:
            await talk.send("one")
            return await talk.recv()

    key = "sk-proj-0123456789abcdefghijklmnopqrstuvwx"
    live, again = bench.both(lambda: asyncio.run(main(key)))
    assert live == again
    assert key.encode() not in bench.on_disk


def test_a_connection_from_before_the_recording_is_recorded_from_then_on(bench):
    talk = connect_directly(f"{bench.server.url}/echo")

    def main():
        talk.send("one")
        return talk.recv()

    live, again = bench.both(main)
    assert live == again
    talk.close()
    assert spoken(bench) == ["send", "receive"]


def test_a_connection_that_was_opened_inside_of_an_effect_is_that_effects_own_business(bench):
    kept = []

    def start():
        kept.append(connect_directly(f"{bench.server.url}/echo"))

    with reenact.record("test") as recording, kept_open(kept):
        perform(Effect("browser", "start", {}, leaf=True), start)
        kept[0].send("one")
        assert kept[0].recv().endswith("one")
    assert [step.label for step in recording.load()] == ["browser:start"]


def test_a_fork_cannot_go_on_with_a_recorded_connection_and_a_program_that_connects_anew_goes_on(bench):
    why = []

    async def main():
        found = []
        while len(found) < 3:
            async with connect(f"{bench.server.url}/echo") as talk:
                try:
                    while len(found) < 3:
                        await talk.send(f"message {len(found)}")
                        found.append(await talk.recv())
                except exceptions.ConnectionClosed as error:
                    why.append(str(error))
        return found

    live = bench.record(lambda: asyncio.run(main()))
    assert spoken(bench)[:4] == ["connect", "send", "receive", "send"]
    opened = bench.server.opened
    with reenact.fork(bench.recording, at=4, home=bench.home, policy="websocket=live") as fork:
        again = asyncio.run(main())
    assert again[0] == live[0]
    assert [text.partition(": ")[2] for text in again] == [f"message {number}" for number in range(3)]
    assert again[1] != live[1]
    assert bench.server.opened == opened + 1
    assert "cannot go on live: fork before it is opened" in why[0]
    bench.server.stop()
    with reenact.replay(fork.recording) as replay:
        assert asyncio.run(main()) == again
    assert replay.verdict.faithful


def test_a_received_message_can_be_another_in_a_fork(bench):
    async def main():
        async with connect(f"{bench.server.url}/echo") as talk:
            await talk.send("one")
            return await talk.recv()

    bench.record(lambda: asyncio.run(main()))
    bench.server.stop()
    with reenact.fork(bench.recording, at=3, edit={"output": "another"}, home=bench.home):
        assert asyncio.run(main()) == "another"


@since_17
def test_an_iterator_of_connections_in_threads_opens_each_again(bench):
    def main():
        said = []
        for talk in client.reconnect(f"{bench.server.url}/echo"):
            talk.send("one")
            said.append(talk.recv())
            if len(said) == 2:
                break
        return said

    live, again = bench.both(main)
    assert live == again
    assert spoken(bench) == ["connect", "send", "receive", "close"] * 2


@since_17
def test_a_thread_that_waits_for_the_end_gets_its_code_again(bench):
    def main():
        with connect_sync(f"{bench.server.url}/leaves") as talk:
            talk.recv()
            return talk.wait_closed(60), talk.close_code, talk.close_reason

    live, again = bench.both(main)
    assert live == again
    assert live == (True, 4001, "session expired")


@since_17
def test_an_end_that_did_not_come_in_time_does_not_come_in_a_replay(bench):
    def main():
        with connect_sync(f"{bench.server.url}/echo") as talk:
            return talk.wait_closed(0.01), talk.close_code

    assert bench.both(main) == ((False, None), (False, None))


@since_17
def test_a_use_without_with_warns_at_the_line_of_the_program_in_a_replay_too(bench):
    def main():
        talk = connect_sync(f"{bench.server.url}/echo")
        with pytest.warns(DeprecationWarning, match="context manager") as warned:
            talk.send("one")
        talk.close()
        return [warning.filename for warning in warned]

    assert bench.both(main) == ([__file__], [__file__])


def test_a_connection_object_is_used_twice_one_after_the_other(bench):
    async def main():
        connecting = connect(f"{bench.server.url}/echo")
        said = []
        for text in ("one", "two"):
            async with connecting as talk:
                await talk.send(text)
                said.append(await talk.recv())
        return said

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again


def test_an_unknown_way_to_connect_is_refused_and_nothing_of_it_is_patched(monkeypatch):
    from websockets.asyncio import client as module

    from reenact.adapters.hooks import HookMissing
    from reenact.adapters.websockets import install

    class Unknown:
        def __init__(self):
            """Connect in another way."""

    before = dict(vars(Unknown))
    monkeypatch.setattr(module, "connect", Unknown)
    with pytest.raises(HookMissing, match=r"no connect\.connect.*are not recorded"):
        install(module)
    assert dict(vars(Unknown)) == before


def test_an_unknown_version_is_refused_and_nothing_of_it_is_patched(monkeypatch):
    import types

    from reenact.adapters.hooks import HookMissing
    from reenact.adapters.websockets import install

    class Connection:
        def recv(self):
            """Receive."""

    class Client(Connection):
        """A client."""

    module = types.ModuleType("websockets.sync.client")
    module.ClientConnection, module.connect = Client, lambda: None
    before = (module.connect, dict(vars(Connection)))
    with pytest.raises(HookMissing, match=r"Connection.recv_streaming.*are not recorded"):
        install(module)
    assert (module.connect, dict(vars(Connection))) == before
