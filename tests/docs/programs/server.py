"""An MCP server about the weather, over stdio; it guesses."""

from random import randint

from mcp.server.mcpserver import MCPServer

server = MCPServer("weather", log_level="CRITICAL")


@server.tool(structured_output=False)
def forecast(city: str) -> str:
    """Tomorrow's weather in a city."""
    return f"{randint(0, 300) / 10} degrees in {city}"


if __name__ == "__main__":
    server.run("stdio")
