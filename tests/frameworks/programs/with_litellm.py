"""A travel agent on LiteLLM: completions of an OpenAI model, streamed, with tools that run side by side.

# /// framework
# title = "LiteLLM"
# package = "litellm"
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

import litellm
from travel import QUESTION, THEN, TOOLS, call, schema

MODEL = "openai/gpt-4o-mini"
FUNCTIONS = [
    {"type": "function", "function": {"name": name, "description": about, "parameters": schema(name)}}
    for name, (about, _) in TOOLS.items()
]


async def tool(asked):
    result = await call(asked.function.name, json.loads(asked.function.arguments))
    print(asked.function.name, asked.function.arguments, "gave", result)
    return {"role": "tool", "tool_call_id": asked.id, "content": result}


async def answer(messages):
    """One streamed answer, printed as it comes."""
    chunks = []
    async for chunk in await litellm.acompletion(
        MODEL, messages, tools=FUNCTIONS, max_tokens=200, stream=True
    ):
        chunks.append(chunk)
        if text := chunk.choices[0].delta.content:
            print(text, end="|", flush=True)
    return litellm.stream_chunk_builder(chunks).choices[0].message


async def main():
    messages = [{"role": "user", "content": QUESTION}]
    for _ in range(8):
        message = await answer(messages)
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            break
        messages += await asyncio.gather(*map(tool, message.tool_calls))
    messages.append({"role": "user", "content": THEN})
    last = await litellm.acompletion(MODEL, messages, max_tokens=50)
    print(f"\n{last.choices[0].message.content}")


if __name__ == "__main__":
    asyncio.run(main())
