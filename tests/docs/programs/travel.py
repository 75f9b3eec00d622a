"""A program that asks an MCP server for the weather."""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client

SERVER = StdioServerParameters(command=sys.executable, args=["server.py"])


async def main():
    async with stdio_client(SERVER) as streams, ClientSession(*streams) as session:
        await session.initialize()
        print("tools:", *(tool.name for tool in (await session.list_tools()).tools))
        for city in ("Bern", "Oslo"):
            result = await session.call_tool("forecast", {"city": city})
            print(result.content[0].text)


if __name__ == "__main__":
    asyncio.run(main())
