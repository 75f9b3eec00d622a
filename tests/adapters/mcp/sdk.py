"""The client's side of both versions of MCP's package, under one name each: what the tests ask is the same of both."""

from __future__ import annotations

from contextlib import asynccontextmanager

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.adapters.mcp.shop import OLDER, MCPServer, types

if OLDER:
    from mcp import McpError as MCPError
    from mcp.shared.memory import create_connected_server_and_client_session
else:
    from mcp.client.client import Client
    from mcp.shared.exceptions import MCPError

# MCP 1.x leaves streams of its own open, and the OpenAI Agents SDK uses what 1.x calls outdated. 2.x warns of what the
# server asks in the older protocol.
WARNINGS = (
    (
        "ignore::pytest.PytestUnraisableExceptionWarning",
        "ignore:Use `streamable_http_client`:DeprecationWarning",
    )
    if OLDER
    else ("ignore::mcp.shared.exceptions.MCPDeprecationWarning",)
)

MODES = ["legacy"] if OLDER else ["legacy", "auto"]
"""How a session greets its server: the older package knows one way."""

__all__ = [
    "MODES",
    "OLDER",
    "WARNINGS",
    "MCPError",
    "MCPServer",
    "connect",
    "failed",
    "once",
    "request",
    "types",
]


@asynccontextmanager
async def connect(where, mode="legacy", **callbacks):
    """A session that has greeted its server: at a URL, over stdio, or in the same process."""
    if not OLDER:
        async with Client(where, mode=mode, **callbacks) as client:
            yield client
    elif isinstance(where, MCPServer):
        async with create_connected_server_and_client_session(where, **callbacks) as session:
            session.session = session
            yield session
    else:
        stdio = isinstance(where, StdioServerParameters)
        transport = stdio_client(where) if stdio else streamable_http_client(where)
        async with transport as streams, ClientSession(*streams[:2], **callbacks) as session:
            if mode == "legacy":
                await session.initialize()
            session.session = session
            yield session


def once(where):
    """A session that needs no greeting: what is asked is all that is sent."""
    return connect(where, mode="2026-07-28")


def request(name, arguments):
    """A tool's call, of which the session itself makes nothing."""
    asked = types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments=arguments))
    return types.ClientRequest(asked) if OLDER else asked


def failed(result):
    """Whether a tool says that it failed."""
    return result.isError if OLDER else result.is_error
