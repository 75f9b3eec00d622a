"""A travel agent without any SDK: chat completions over httpx, with tools that run side by side.

# /// framework
# title = "httpx"
# package = "httpx"
# wire = "chat"
# page = "http.md"
# hook = "HTTP, chunk by chunk"
# model = "http:POST */v1/chat/completions"
# tool = "http:GET */{name}"
# edit = "body.degrees = -40"
# [absent]
# state = "keeps no state of its own; `reenact.track` keeps the program's"
# ///
"""

from __future__ import annotations

import asyncio
import json
import os

import httpx
from travel import QUESTION, THEN, TOOLS, call, schema

MODEL = "gpt-4o-mini"
URL = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
HEADERS = {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
FUNCTIONS = [
    {"type": "function", "function": {"name": name, "description": about, "parameters": schema(name)}}
    for name, (about, _) in TOOLS.items()
]


async def tool(asked):
    function = asked["function"]
    result = await call(function["name"], json.loads(function["arguments"]))
    print(function["name"], function["arguments"], "gave", result)
    return {"role": "tool", "tool_call_id": asked["id"], "content": result}


async def deltas(client, messages):
    """The deltas of one streamed answer."""
    asked = {"model": MODEL, "messages": messages, "tools": FUNCTIONS, "max_tokens": 200, "stream": True}
    async with client.stream("POST", URL, json=asked) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                for choice in json.loads(line[6:])["choices"]:
                    yield choice["delta"]


async def answer(client, messages):
    """One streamed answer, printed as it comes."""
    text, calls = "", []
    async for delta in deltas(client, messages):
        if piece := delta.get("content"):
            text += piece
            print(piece, end="|", flush=True)
        for more in delta.get("tool_calls") or ():
            if "id" in more:
                calls.append({"id": more["id"], "type": "function", "function": dict(more["function"])})
            else:
                calls[-1]["function"]["arguments"] += more["function"]["arguments"]
    return {"role": "assistant", "content": text or None} | ({"tool_calls": calls} if calls else {})


async def main():
    messages = [{"role": "user", "content": QUESTION}]
    async with httpx.AsyncClient(headers=HEADERS, timeout=60) as client:
        for _ in range(8):
            message = await answer(client, messages)
            messages.append(message)
            if "tool_calls" not in message:
                break
            messages += await asyncio.gather(*map(tool, message["tool_calls"]))
        messages.append({"role": "user", "content": THEN})
        last = await client.post(URL, json={"model": MODEL, "messages": messages, "max_tokens": 50})
        print(f"\n{last.raise_for_status().json()['choices'][0]['message']['content']}")


if __name__ == "__main__":
    asyncio.run(main())
