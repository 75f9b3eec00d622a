"""The travel tools as an MCP server on standard input and output: another program, whose doings are its own."""

from __future__ import annotations

import httpx
import travel

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
except ImportError:  # mcp 1.x
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.server.fastmcp.exceptions import ToolError

server = MCPServer("travel", log_level="CRITICAL")
server.tool()(travel.weather)


@server.tool()
async def rate(currency: str) -> dict:
    """How much of a currency one euro buys. The service is busy at times: then ask again."""
    try:
        return await travel.rate(currency)
    except httpx.HTTPStatusError as error:
        raise ToolError(f"the service said {error.response.status_code}") from error


if __name__ == "__main__":
    server.run()
