"""A travel agent on Anthropic's SDK: messages, streamed, with tools that run side by side.

# /// framework
# title = "Anthropic SDK"
# package = "anthropic"
# wire = "messages"
# page = "http.md"
# hook = "HTTP, chunk by chunk"
# model = "http:POST */v1/messages"
# tool = "http:GET */{name}"
# edit = "body.degrees = -40"
# thorough = true
# [absent]
# state = "keeps no state of its own; `reenact.track` keeps the program's"
# ///
"""

from __future__ import annotations

import asyncio

from anthropic import AsyncAnthropic
from travel import QUESTION, THEN, TOOLS, call, schema

MODEL = "claude-haiku-4-5"
FUNCTIONS = [
    {"name": name, "description": about, "input_schema": schema(name)} for name, (about, _) in TOOLS.items()
]


async def tool(asked):
    result = await call(asked.name, asked.input)
    print(asked.name, asked.input, "gave", result)
    failed = result.startswith("error")
    return {"type": "tool_result", "tool_use_id": asked.id, "content": result, "is_error": failed}


async def answer(client, messages):
    """One streamed answer, printed as it comes."""
    asked = {"model": MODEL, "max_tokens": 500, "messages": messages, "tools": FUNCTIONS}
    async with client.messages.stream(**asked) as stream:
        async for text in stream.text_stream:
            print(text, end="|", flush=True)
        return await stream.get_final_message()


async def main():
    async with AsyncAnthropic() as client:
        messages = [{"role": "user", "content": QUESTION}]
        for _ in range(8):
            message = await answer(client, messages)
            messages.append({"role": "assistant", "content": message.content})
            if message.stop_reason != "tool_use":
                break
            calls = [block for block in message.content if block.type == "tool_use"]
            messages.append({"role": "user", "content": await asyncio.gather(*map(tool, calls))})
        messages.append({"role": "user", "content": THEN})
        last = await client.messages.create(model=MODEL, max_tokens=500, messages=messages)
        print(f"\n{last.content[0].text}")


if __name__ == "__main__":
    asyncio.run(main())
