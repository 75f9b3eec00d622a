"""What a session asks its server is replayed without the server, and what the server says unasked is heard again."""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

import mcp
import pytest
from mcp.client.stdio import StdioServerParameters

import reenact
from reenact import DivergenceError
from reenact.adapters import mcp as adapter
from reenact.adapters.hooks import HookMissing
from tests.adapters.mcp.sdk import MODES, OLDER, WARNINGS, MCPError, MCPServer, connect, failed, types

pytestmark = pytest.mark.filterwarnings(*WARNINGS)

SHOP = Path(__file__).with_name("shop.py")

NOWHERE = "http://127.0.0.1:9/mcp"


def recorded(program, *args):
    with reenact.record() as recording:
        output = asyncio.run(program(*args))
    return output, recording.load()


def replayed(recording, program, *args, **options):
    with reenact.replay(recording, **options) as replay:
        output = asyncio.run(program(*args))
    return output, replay.verdict


def labels(recording):
    return [step.label for step in recording]


async def errand(where, mode, order="A"):
    """One of everything, three of them at once."""
    heard = []

    async def progress(share, total, text):
        heard.append((share, total, text))

    async with connect(where, mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        calls = (client.call_tool("lookup", {"order": order}, progress_callback=progress) for _ in range(3))
        found = [result.content[0].text for result in await asyncio.gather(*calls)]
        broken = await client.call_tool("boom", {})
        with pytest.raises(MCPError) as refused:
            await client.read_resource("x://none")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.call_tool("never", {"question": "?"}), 0.05)
        note = (await client.read_resource("notes://a")).contents[0].text
        prompt = (await client.get_prompt("greet", {"name": "Bob"})).messages[0].content.text
        error = refused.value.error.code, str(refused.value), refused.value.error.data
        return tools, found, heard, failed(broken), broken.content[0].text, error, note, prompt


@pytest.mark.parametrize("mode", MODES)
def test_a_session_is_replayed_without_its_server(web, mode):
    first, recording = recorded(errand, web.url, mode)
    assert len(set(first[1])) == 3
    # 1.x loses progress that comes just before its result, recorded or not.
    assert len(first[2]) == 3 or OLDER
    again, verdict = replayed(recording, errand, NOWHERE, mode)
    assert again == first
    assert verdict.faithful, verdict
    greeting = "mcp:initialize" if mode == "legacy" else "mcp:server/discover"
    assert labels(recording)[:3] == [greeting, "mcp:messages", "mcp:tools/list"]
    assert labels(recording)[3:] == [
        "tool:lookup", "tool:lookup", "tool:lookup", "tool:boom", "mcp:resources/read", "tool:never",
        "mcp:resources/read", "mcp:prompts/get",
    ]  # fmt: skip
    assert recording.step(4).args == {"order": "A"}
    assert recording.notes == ()


def test_another_argument_is_named_with_its_path(web):
    async def ask(order):
        async with connect(web.url) as client:
            return await client.call_tool("lookup", {"order": order})

    _, recording = recorded(ask, "A")
    with pytest.raises(DivergenceError) as departed:
        replayed(recording, ask, "B")
    (mismatch,) = departed.value.divergence.mismatches
    assert (mismatch.path, mismatch.recorded, mismatch.actual) == ("args.order", "A", "B")
    assert departed.value.divergence.address == "main/mcp:shop/tool:lookup#0"


async def talk(where, said=None):
    """A client that is asked by its server, and told things."""
    heard = []

    @reenact.tool
    def model(question):
        return f"{question} {random.random()}"

    async def sample(context, params):
        text = types.TextContent(type="text", text=said or model(params.messages[0].content.text))
        return types.CreateMessageResult(role="assistant", model="m", content=text)

    async def elicit(context, params):
        return types.ElicitResult(action="accept", content={"sure": True})

    async def roots(context):
        return types.ListRootsResult(roots=[])

    async def logged(params):
        heard.append(params.data)

    async def message(message):
        heard.append(type(getattr(message, "root", message)).__name__)

    async with connect(
        where, sampling_callback=sample, elicitation_callback=elicit, list_roots_callback=roots,
        logging_callback=logged, message_handler=message,
    ) as client:  # fmt: skip
        thought = await client.session.call_tool("think", {"about": "x"})
        return thought.content[0].text, heard


def test_a_servers_messages_and_requests_are_heard_again(web):
    first, recording = recorded(talk, web.url)
    assert [str(item).split()[0] for item in first[1]] == [
        "thinking", "LoggingMessageNotification", "ToolListChangedNotification",
    ]  # fmt: skip
    again, verdict = replayed(recording, talk, NOWHERE)
    assert again == first
    assert verdict.faithful, verdict
    assert {"mcp:sampling/createMessage", "mcp:elicitation/create", "mcp:roots/list"} <= {*labels(recording)}


def test_another_answer_to_the_servers_request_is_a_departure(web):
    _, recording = recorded(talk, web.url, "yes")
    with pytest.raises(DivergenceError) as departed:
        replayed(recording, talk, NOWHERE, "no")
    assert [m.path for m in departed.value.divergence.mismatches] == ["args.result.content.text"]


@pytest.mark.parametrize("mode", MODES)
def test_a_call_that_is_let_through_reaches_the_real_server(web, mode):
    async def ask():
        heard = []

        async def progress(share, total, text):
            heard.append(text)

        async with connect(web.url, mode) as client:
            listed = await client.list_tools()
            result = await client.call_tool("lookup", {"order": "A"}, progress_callback=progress)
            return result.content[0].text, heard, len(listed.tools)

    first, recording = recorded(ask)
    again, verdict = replayed(recording, ask, live=["tool:lookup"])
    assert again[2] == first[2]
    assert again[0] != first[0]
    if not OLDER:
        assert len(again[1]) == 1
        assert again[1] != first[1]
    assert verdict.live == {"tool:lookup": 1}
    assert not verdict.divergences


def test_a_live_call_hears_that_its_server_cannot_be_started(capfd):
    async def ask(*command):
        server = StdioServerParameters(command=command[0], args=list(command[1:]))
        async with connect(server) as client:
            try:
                return failed(await client.session.call_tool("boom", {}))
            except MCPError as error:
                return str(error)

    first, recording = recorded(ask, sys.executable, str(SHOP))
    assert first is True
    assert replayed(recording, ask, "/nonexistent/server")[0] is True
    assert replayed(recording, ask, "/nonexistent/server", live=["tool:boom"])[0] == "Connection closed"
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("reenact:")]
    (line,) = said
    assert line.startswith(
        "reenact: an MCP server is called live, and cannot be reached (FileNotFoundError: "
    )


def shelf():
    """A server in the program's own process, whose tool asks the world."""
    server = MCPServer("shelf", log_level="CRITICAL")

    @reenact.tool
    def draw():
        return random.random()

    @server.tool()
    def pick() -> str:
        shelf.picked += 1
        return str(draw())

    return server


@pytest.mark.parametrize("mode", MODES)
def test_a_server_in_the_same_process_is_not_run_in_a_replay(mode):
    async def pick():
        async with connect(shelf(), mode) as client:
            return [(await client.call_tool("pick", {})).content[0].text for _ in range(2)]

    shelf.picked = 0
    first, recording = recorded(pick)
    assert shelf.picked == 2
    again, verdict = replayed(recording, pick)
    assert (again, shelf.picked) == (first, 2)
    assert verdict.faithful, verdict


def test_a_call_inside_of_a_tool_is_answered_with_the_tool(web):
    async def run(where):
        async with connect(where) as client:

            @reenact.tool
            async def order(name):
                return (await client.session.call_tool("lookup", {"order": name})).content[0].text

            return await asyncio.gather(order("A"), order("A"))

    first, recording = recorded(run, web.url)
    assert {step.label for step in recording if step.call.within is not None} == {
        "tool:lookup",
        "mcp:tools/list",
    }
    assert [step.label for step in recording if step.call.within is None][-2:] == ["tool:order", "tool:order"]
    again, verdict = replayed(recording, run, NOWHERE)
    assert again == first
    assert verdict.faithful, verdict


def test_the_servers_of_the_openai_agents_sdk_are_sessions_too(web):
    agents = pytest.importorskip("agents.mcp")

    async def run(where):
        async with agents.MCPServerStreamableHttp(
            {"url": where}, client_session_timeout_seconds=20
        ) as server:
            tools = [tool.name for tool in await server.list_tools()]
            return tools, (await server.call_tool("lookup", {"order": "A"})).content[0].text

    first, recording = recorded(run, web.url)
    assert "tool:lookup" in labels(recording)
    assert not any(label.startswith("http:") for label in labels(recording))
    again, verdict = replayed(recording, run, NOWHERE)
    assert again == first
    assert verdict.faithful, verdict


@pytest.mark.skipif(not OLDER, reason="MCP 2.x has no websockets")
def test_a_session_by_websockets_is_replayed_without_its_server(web):
    from mcp import ClientSession
    from mcp.client.websocket import websocket_client

    async def ask(where):
        async with websocket_client(where) as streams, ClientSession(*streams) as session:
            await session.initialize()
            return (await session.call_tool("lookup", {"order": "A"})).content[0].text

    first, recording = recorded(ask, web.ws)
    assert [label for label in labels(recording) if not label.startswith("mcp:")] == ["tool:lookup"]
    again, verdict = replayed(recording, ask, "ws://127.0.0.1:9/ws")
    assert again == first
    assert verdict.faithful, verdict


def test_an_unknown_version_is_refused_whole_where_a_session_is_made(monkeypatch, capsys, home):
    class Session:
        def __init__(self):
            """Of a version with nothing to hook."""

    if not OLDER:
        monkeypatch.setattr("mcp.shared.dispatcher.Dispatcher", type("Dispatcher", (), {}))
    monkeypatch.setattr("mcp.client.session.ClientSession", Session)
    assert adapter.install(mcp) is False
    Session()
    assert not capsys.readouterr().err
    with reenact.record() as recording:
        Session()
        Session()
    said = capsys.readouterr().err.splitlines()
    why = "Session' has no attribute 'send_request'" if OLDER else "Dispatcher has no run"
    assert len(said) == 1
    assert f"is not known to this version of Reenact ({'type object ' if OLDER else ''}" in said[0]
    assert why in said[0]
    with reenact.replay(recording.id) as replay:
        Session()
    assert "its server is called for real" in str(replay.verdict)

    monkeypatch.delattr("mcp.client.session.ClientSession")
    with pytest.raises(HookMissing, match=r"MCP \d\.\S+ is not known"):
        adapter.install(mcp)
