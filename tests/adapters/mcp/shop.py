"""An MCP server whose answers are never the same twice: over stdio as a program, over HTTP in a thread of a test."""

from __future__ import annotations

import asyncio
import itertools
import sys
import threading

import uvicorn
from pydantic import BaseModel
from starlette.routing import WebSocketRoute

try:
    import mcp_types as types
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.shared.exceptions import MCPError

    OLDER = False
except ImportError:  # MCP 1.x
    from mcp import types
    from mcp.server.fastmcp import Context
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.shared.exceptions import UrlElicitationRequiredError

    OLDER = True

COUNT = itertools.count(1)


class Consent(BaseModel):
    sure: bool


def shop() -> MCPServer:
    server = MCPServer("shop", instructions="Be kind.", log_level="CRITICAL")

    @server.tool()
    async def lookup(order: str, ctx: Context) -> dict:
        """Look an order up."""
        number = next(COUNT)
        await ctx.report_progress(0.5, 1.0, f"half of {number}")
        await asyncio.sleep(0.001 * (number % 3))
        return {"order": order, "number": number}

    @server.tool()
    def boom() -> str:
        raise ValueError(f"boom {next(COUNT)}")

    @server.tool()
    def refuse(question: str) -> str:
        raise refusal(f"refused {question}, {next(COUNT)}", {"tries": next(COUNT)})

    @server.tool()
    async def never(question: str) -> str:
        next(COUNT)
        await asyncio.sleep(60)
        return question

    @server.tool()
    async def think(about: str, ctx: Context) -> str:
        """Ask the client's model, the person, and for its roots."""
        await ctx.info(f"thinking {next(COUNT)}")
        text = types.TextContent(type="text", text=f"what of {about}, {next(COUNT)}?")
        said = await ctx.session.create_message(
            [types.SamplingMessage(role="user", content=text)], max_tokens=9
        )
        await ctx.session.send_tool_list_changed()
        consent = await ctx.elicit("Sure?", Consent)
        roots = await ctx.session.list_roots()
        return f"{said.content.text} {consent.data.sure} {len(roots.roots)} {next(COUNT)}"

    @server.resource("notes://{name}")
    def note(name: str) -> str:
        return f"{name} {next(COUNT)}"

    @server.prompt()
    def greet(name: str) -> str:
        return f"Greet {name}, {next(COUNT)}"

    return server


def refusal(text, data):
    """What a tool raises that is no result of the tool's, but an error of the protocol."""
    if not OLDER:
        return MCPError(-32050, text, data)
    asked = types.ElicitRequestURLParams(
        mode="url", message=str(data), url="https://x.example", elicitationId="1"
    )
    return UrlElicitationRequiredError([asked], text)


async def _socket(socket):
    """MCP 1.x speaks by websockets too."""
    from mcp.server.websocket import websocket_server

    server = shop()._mcp_server
    async with websocket_server(socket.scope, socket.receive, socket.send) as streams:
        await server.run(*streams, server.create_initialization_options())


class Web:
    """The shop by streamable HTTP on a free port; MCP 1.x needs no greeting where it is `stateless`."""

    def __init__(self, *, stateless=False):
        server = shop()
        if stateless:
            server.settings.stateless_http = True
        app = server.streamable_http_app()
        app.routes.append(WebSocketRoute("/ws", _socket))
        config = uvicorn.Config(app, port=0, log_level="critical", ws="websockets-sansio")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            self._thread.join(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/mcp"
        self.ws = f"ws://127.0.0.1:{port}/ws"

    def stop(self):
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()


if __name__ == "__main__":
    shop().run(sys.argv[1] if len(sys.argv) > 1 else "stdio")
