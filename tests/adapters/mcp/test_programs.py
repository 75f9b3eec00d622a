"""Whole programs with a server of their own over stdio: recorded, replayed, forked; and a server that is recorded."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from mcp.client.stdio import StdioServerParameters

import reenact
from tests.adapters.mcp.sdk import WARNINGS, MCPServer, connect

pytestmark = pytest.mark.filterwarnings(*WARNINGS)

SHOP = Path(__file__).with_name("shop.py")

AGENT = """
    import asyncio, sys
    from pathlib import Path
    from mcp import ClientSession, StdioServerParameters, stdio_client

    async def main():
        server = StdioServerParameters(command=sys.executable, args=["shop.py"])
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            heard = []

            async def progress(share, total, text):
                heard.append(text)

            await session.list_tools()
            for order in "ABC":
                result = await session.call_tool("lookup", {"order": order}, progress_callback=progress)
                print(result.content[0].text.split(), heard)

    asyncio.run(main())
"""


def test_a_program_is_replayed_and_forked_and_its_server_is_not_its_child(shell):
    shell.write("shop.py", SHOP.read_text())
    agent = shell.write("agent.py", AGENT)
    done, recording = shell.record(agent)
    assert done.status == 0, done.err
    assert [line.partition(" ")[2][:8] for line in done.ours] == ["recorded", "replay i"]
    assert len(recording.logs) == 1
    assert [step.label for step in recording][-3:] == ["tool:lookup"] * 3

    forked = shell.run("fork", recording.id, "--at", "5", "--policy", "lookup=live")
    assert forked.status == 0, forked.err
    lines, fork = done.out.splitlines(), forked.out.splitlines()
    assert fork[0] == lines[0]
    # The fork has started a server of its own, which counts from one.
    assert fork[1] == lines[1].replace("2", "1")

    # The child has the messages of both its parent and its own server, in one stream.
    replay = shell.run("replay", "last")
    assert (replay.status, replay.out) == (0, forked.out), replay.err


def test_a_replay_names_a_changed_program_or_command_of_a_server_that_it_does_not_run(shell):
    shop, agent = shell.write("shop.py", SHOP.read_text()), shell.write("agent.py", AGENT)
    shell.record(agent)
    assert shell.replay().status == 0
    shop.write_text("raise SystemExit('a replay starts no server')")
    changed = shell.replay("--json").json["verdict"]
    assert (changed["faithful"], changed["divergences"]) == (False, [])
    assert changed["notes"] == [
        "shop.py, the program of an MCP server, has changed: its answers are the recorded ones"
    ]
    shop.write_text(SHOP.read_text())
    for words in ('["-m", "shop"]', '["-u", "shop.py"]'):
        shell.write("agent.py", AGENT.replace('["shop.py"]', words))
        (note,) = shell.replay("--json").json["verdict"]["notes"]
        assert note.startswith("the command of an MCP server is python -")
        assert ", and was python shop.py: " in note


def test_a_module_that_is_a_server_is_named_where_it_has_changed(shell):
    shell.write("shop.py", SHOP.read_text())
    shell.record(shell.write("agent.py", AGENT.replace('["shop.py"]', '["-m", "shop"]')))
    shell.write("shop.py", SHOP.read_text() + "# changed")
    (note,) = shell.replay("--json").json["verdict"]["notes"]
    assert note.startswith("shop.py, the program of an MCP server, has changed")


def test_a_secret_in_the_command_of_a_server_is_no_change(shell):
    words = '["shop.py", "stdio", "--api-key=sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"]'
    shell.write("shop.py", SHOP.read_text())
    shell.record(shell.write("agent.py", AGENT.replace('["shop.py"]', words)))
    assert shell.replay().status == 0


@pytest.mark.thorough
def test_a_server_that_is_recorded_itself_goes_on_working(shell):
    command = [*shell.command("record", "--", sys.executable, SHOP)]
    server = StdioServerParameters(command=command[0], args=command[1:], env=shell.environ)

    async def ask():
        async with connect(server) as client:
            return (await client.session.call_tool("lookup", {"order": "A"})).content[0].text

    assert '"order": "A"' in asyncio.run(ask())
    assert shell.last().header["program"]["argv"][-1] == str(SHOP)


def test_two_servers_are_told_apart(shell):
    def named(name):
        server = MCPServer(name, log_level="CRITICAL")
        server.add_tool(lambda: name, name="say")
        return server

    async def ask():
        async with connect(named("one")) as one, connect(named("two")) as two:
            for client in (one, two, one):
                await client.session.call_tool("say", {})

    with reenact.record(home=shell.home) as recording:
        asyncio.run(ask())
    said = [step.call.address for step in recording.load() if step.label == "tool:say"]
    assert said == ["main/mcp:one/tool:say#0", "main/mcp:two/tool:say#0", "main/mcp:one/tool:say#1"]
