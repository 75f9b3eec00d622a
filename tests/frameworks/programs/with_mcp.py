r"""A travel agent whose tools come from an MCP server over stdio; the model is asked by OpenAI's SDK.

# /// framework
# title = "MCP"
# package = "mcp"
# wire = "chat"
# page = "mcp.md"
# hook = "the client session: each request to a server"
# model = "http:POST */v1/chat/completions"
# tool = "tool:{name}"
# edit = 'output.content[0].text = "{\"city\": \"Tokyo\", \"degrees\": -40}"'
# thorough = true
# [absent]
# state = "keeps no state of its own; `reenact.track` keeps the program's"
# ///
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from mcp import ClientSession, StdioServerParameters, stdio_client
from openai import AsyncOpenAI
from travel import QUESTION, THEN

MODEL = "gpt-4o-mini"
SERVER = StdioServerParameters(
    command=sys.executable,
    args=[str(Path(__file__).with_name("travel_server.py"))],
    env={"TRAVEL_URL": os.environ["TRAVEL_URL"]},
)


def function(tool):
    """A server's tool as the model is told of it."""
    told = tool.model_dump(by_alias=True)
    schema = told["inputSchema"] | {"additionalProperties": False}
    about = {"name": told["name"], "description": told["description"], "parameters": schema, "strict": True}
    return {"type": "function", "function": about}


async def answer(client, messages, functions):
    """One streamed answer, printed as it comes."""
    asked = {"model": MODEL, "messages": messages, "tools": functions, "max_tokens": 200}
    async with client.chat.completions.stream(**asked) as stream:
        async for event in stream:
            if event.type == "content.delta":
                print(event.delta, end="|", flush=True)
        return (await stream.get_final_completion()).choices[0].message


async def main():
    async with AsyncOpenAI() as client, stdio_client(SERVER) as streams, ClientSession(*streams) as session:
        await session.initialize()
        functions = [function(tool) for tool in (await session.list_tools()).tools]

        async def tool(asked):
            result = await session.call_tool(asked.function.name, json.loads(asked.function.arguments))
            text = result.content[0].text
            print(asked.function.name, asked.function.arguments, "gave", text)
            return {"role": "tool", "tool_call_id": asked.id, "content": text}

        messages = [{"role": "user", "content": QUESTION}]
        for _ in range(8):
            message = await answer(client, messages, functions)
            messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
            if not message.tool_calls:
                break
            messages += await asyncio.gather(*map(tool, message.tool_calls))
        messages.append({"role": "user", "content": THEN})
        last = await client.chat.completions.create(model=MODEL, messages=messages, max_tokens=50)
        print(f"\n{last.choices[0].message.content}")


if __name__ == "__main__":
    asyncio.run(main())
