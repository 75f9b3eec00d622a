"""A recorded MCP server answers another client as it answered the first, and says where that one departs."""

from __future__ import annotations

import asyncio
import itertools

import pytest

pytest.importorskip("mcp")

from mcp.client.client import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError

import reenact
from reenact.errors import UsageError
from reenact.server.mcp import server_of
from reenact.server.mcp_answers import ServerAnswers, servers


def shop(name="shop"):
    server = MCPServer(name, instructions="Be kind.", log_level="CRITICAL")
    count = itertools.count(1)

    @server.tool()
    async def lookup(order: str, ctx: Context) -> str:
        await ctx.report_progress(1, 2, f"half of {order}")
        await asyncio.sleep(0.001)
        return f"{order} {next(count)}"

    @server.tool()
    def refuse() -> str:
        raise MCPError(-32050, f"refused {next(count)}", {"tries": 3})

    @server.resource("notes://{name}")
    def note(name: str) -> str:
        return f"{name} {next(count)}"

    return server


async def look(client, order):
    heard = []

    async def progress(share, total, text):
        heard.append(text)

    result = await client.call_tool("lookup", {"order": order}, progress_callback=progress)
    return result.content[0].text, heard


async def errand(server, mode, *orders):
    async with Client(server, mode=mode) as client:
        info = client.session.server_info.name, client.session.instructions
        tools = [tool.name for tool in (await client.list_tools()).tools]
        found = [await look(client, order) for order in orders or "AAB"]
        with pytest.raises(MCPError) as refused:
            await client.call_tool("refuse", {})
        note = (await client.read_resource("notes://n")).contents[0].text
        return info, tools, found, (refused.value.code, str(refused.value), refused.value.data), note


def recorded(program, home):
    with reenact.record(home=home) as recording:
        output = asyncio.run(program)
    return output, recording.load()


@pytest.mark.parametrize("spoken", ["legacy", "auto"])
@pytest.mark.parametrize("recorded_in", ["legacy", "auto"])
def test_another_client_gets_the_recorded_answers(home, recorded_in, spoken):
    first, recording = recorded(errand(shop(), recorded_in), home)
    answers = ServerAnswers(recording)
    assert asyncio.run(errand(server_of(answers), spoken)) == first
    assert answers.verdict().faithful, answers.verdict()
    assert answers.verdict().served == 5


def test_a_changed_call_is_named_and_what_follows_is_refused(home):
    _, recording = recorded(errand(shop(), "legacy"), home)
    answers = ServerAnswers(recording)

    async def ask():
        async with Client(server_of(answers), mode="legacy") as client:
            await look(client, "A")
            for order in ("X", "A"):
                with pytest.raises(
                    MCPError, match=r"CHANGED at step 5, .*args.order: recorded 'A', actual 'X'"
                ):
                    await look(client, order)

    asyncio.run(ask())
    (departure,) = answers.verdict().divergences
    assert departure.mismatches[0].path == "args.order"
    assert len(answers.verdict().missing) == 4


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ([("lookup", {"order": "B"})], "REORDERED"),
        ([("unheard", {})], "EXTRA"),
    ],
)
def test_a_call_before_its_turn_and_an_unknown_one_depart(home, asked, said):
    _, recording = recorded(errand(shop(), "legacy"), home)
    answers = ServerAnswers(recording)

    async def ask():
        async with Client(server_of(answers), mode="legacy") as client:
            for name, arguments in asked:
                with pytest.raises(MCPError, match=said):
                    await client.call_tool(name, arguments)

    asyncio.run(ask())
    assert [departure.kind.value for departure in answers.verdict().divergences] == [said]


def test_calls_that_were_in_flight_together_may_come_in_any_order(home):
    async def together(server, orders):
        async with Client(server, mode="legacy") as client:
            return dict(
                zip(orders, await asyncio.gather(*(look(client, order) for order in orders)), strict=True)
            )

    first, recording = recorded(together(shop(), "ABC"), home)
    answers = ServerAnswers(recording)
    assert asyncio.run(together(server_of(answers), "CAB")) == first
    assert answers.verdict().faithful


def test_a_rule_lets_an_argument_or_the_order_differ(home):
    _, recording = recorded(errand(shop(), "legacy"), home)
    answers = ServerAnswers(recording, ignore=["tool:lookup args.order"])
    asyncio.run(errand(server_of(answers), "legacy", "X", "Y", "Z"))
    assert answers.verdict().faithful
    assert answers.verdict().rules == ("ignore tool:lookup args.order",)
    answers = ServerAnswers(recording, ignore=["order"])
    asyncio.run(errand(server_of(answers), "legacy", "B", "A", "A"))
    assert answers.verdict().faithful


def test_a_secret_argument_is_matched_by_its_token(home):
    key = "sk-proj-" + "a1B2c3D4e5" * 4
    server = MCPServer("vault", log_level="CRITICAL")

    @server.tool()
    def unlock(api_key: str) -> str:
        return "open"

    async def unlocked(server, api_key):
        async with Client(server, mode="legacy") as client:
            return (await client.call_tool("unlock", {"api_key": api_key})).content[0].text

    _, recording = recorded(unlocked(server, key), home)
    assert key not in str(recording.step(3).args)
    answers = ServerAnswers(recording)
    assert asyncio.run(unlocked(server_of(answers), key)) == "open"
    assert answers.verdict().faithful
    with pytest.raises(BaseExceptionGroup):
        asyncio.run(unlocked(server_of(ServerAnswers(recording)), key.replace("a", "b")))


def test_of_several_servers_one_is_chosen(home):
    async def ask():
        for name in ("one", "two"):
            await errand(shop(name), "legacy")

    _, recording = recorded(ask(), home)
    assert servers(recording) == ["one", "two"]
    with pytest.raises(UsageError, match="choose with --server: one, two"):
        ServerAnswers(recording)
    with pytest.raises(UsageError, match="no MCP server 'three'; it has: one, two"):
        ServerAnswers(recording, "three")
    answers = ServerAnswers(recording, "two")
    assert asyncio.run(errand(server_of(answers), "auto"))[0][0] == "two"
    assert answers.verdict().faithful


def test_a_recording_without_a_server_is_refused(home):
    with reenact.record(home=home) as recording:
        pass
    with pytest.raises(UsageError, match="has no answers of an MCP server"):
        ServerAnswers(recording.load())
