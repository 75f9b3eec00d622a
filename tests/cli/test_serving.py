"""`reenact mcp`: a recorded MCP session as a server of its own, over stdio and HTTP, with a verdict in the end."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
import socket
import subprocess
import sys

import pytest

pytest.importorskip("mcp")

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.mcpserver import MCPServer

import reenact
from reenact.cli import main


async def greet(server, *names):
    async with Client(server, mode="legacy") as client:
        return [(await client.call_tool("greet", {"name": name})).content[0].text for name in names]


@pytest.fixture
def recording(shell):
    server = MCPServer("greeter", log_level="CRITICAL")

    @server.tool(name="greet")
    def hello(name: str) -> str:
        return f"Hello, {name}!"

    with reenact.record(home=shell.home) as recording:
        asyncio.run(greet(server, "Ann", "Bob"))
    return recording.id


def test_a_client_is_served_over_stdio(shell, recording, tmp_path):
    command = shell.command("mcp", recording)
    server = StdioServerParameters(command=command[0], args=command[1:], env=shell.environ)
    with (tmp_path / "said").open("w+") as said:
        greeted = asyncio.run(greet(stdio_client(server, errlog=said), "Ann", "Bob"))
        said.seek(0)
        assert greeted == ["Hello, Ann!", "Hello, Bob!"]
        assert re.search(r"faithful\s+\w+\s+greeter.*2 answers served", said.read(), re.DOTALL)


@pytest.mark.thorough
def test_clients_are_served_by_http_until_a_signal(shell, recording):
    with subprocess.Popen(
        shell.command("mcp", recording, "--port", "0"), env=shell.environ, stderr=subprocess.PIPE, text=True
    ) as serving:
        url = re.search(r"http://\S+", serving.stderr.readline())[0]
        assert asyncio.run(greet(url, "Ann")) == ["Hello, Ann!"]
        serving.send_signal(signal.SIGTERM)
        said = serving.communicate(timeout=120)[1]
    assert serving.returncode == 1
    assert "not requested: 1 recorded step" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--server", "x"), "has no MCP server 'x'; it has: greeter"),
        (("--ignore", "nonsense"), "a rule is a path that begins with `args`"),
    ],
)
def test_mistakes_cost_one_line(shell, recording, capsys, words, said):
    assert main(["mcp", recording, "--home", str(shell.home), *words]) == 2
    assert said in capsys.readouterr().err


def test_a_port_that_is_taken_costs_one_line(shell, recording, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["mcp", recording, "--home", str(shell.home), "--port", str(port)]) == 2
    # musl has another text for it than glibc.
    assert f"port {port} cannot be listened on ({os.strerror(errno.EADDRINUSE)})" in capsys.readouterr().err


def test_without_the_package_one_line_says_what_to_install(shell, recording, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    monkeypatch.delitem(sys.modules, "reenact.server.mcp", raising=False)
    assert main(["mcp", recording, "--home", str(shell.home)]) == 2
    assert "reenact mcp needs the extra \"mcp\": pip install 'reenact[mcp]'" in capsys.readouterr().err
