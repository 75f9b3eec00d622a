"""A travel agent on OpenAI's SDK: chat completions, streamed, with tools that run side by side.

# /// framework
# title = "OpenAI SDK, chat completions"
# package = "openai"
# wire = "chat"
# page = "http.md"
# hook = "HTTP, chunk by chunk"
# model = "http:POST */v1/chat/completions"
# tool = "http:GET */{name}"
# edit = "body.degrees = -40"
# thorough = true
# [absent]
# state = "keeps no state of its own; `reenact.track` keeps the program's"
# ///
"""

from __future__ import annotations

import asyncio
import json

from openai import AsyncOpenAI
from travel import QUESTION, THEN, TOOLS, call, schema

MODEL = "gpt-4o-mini"
FUNCTIONS = [
    {
        "type": "function",
        "function": {"name": name, "description": about, "parameters": schema(name), "strict": True},
    }
    for name, (about, _) in TOOLS.items()
]


async def tool(asked):
    result = await call(asked.function.name, json.loads(asked.function.arguments))
    print(asked.function.name, asked.function.arguments, "gave", result)
    return {"role": "tool", "tool_call_id": asked.id, "content": result}


async def answer(client, messages):
    """One streamed answer, printed as it comes."""
    asked = {"model": MODEL, "messages": messages, "tools": FUNCTIONS, "max_tokens": 200}
    async with client.chat.completions.stream(**asked) as stream:
        async for event in stream:
            if event.type == "content.delta":
                print(event.delta, end="|", flush=True)
        return (await stream.get_final_completion()).choices[0].message


async def main():
    async with AsyncOpenAI() as client:
        messages = [{"role": "user", "content": QUESTION}]
        for _ in range(8):
            message = await answer(client, messages)
            messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
            if not message.tool_calls:
                break
            messages += await asyncio.gather(*map(tool, message.tool_calls))
        messages.append({"role": "user", "content": THEN})
        last = await client.chat.completions.create(model=MODEL, messages=messages, max_tokens=50)
        print(f"\n{last.choices[0].message.content}")


if __name__ == "__main__":
    asyncio.run(main())
