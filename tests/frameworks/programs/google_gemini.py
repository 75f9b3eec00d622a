"""A travel agent on Google's SDK: generateContent, streamed, with tools that run side by side.

# /// framework
# title = "Google Gen AI SDK"
# package = "google-genai"
# wire = "gemini"
# page = "http.md"
# hook = "HTTP, chunk by chunk"
# model = "http:POST */models/*enerateContent"
# tool = "http:GET */{name}"
# edit = "body.degrees = -40"
# thorough = true
# [absent]
# state = "keeps no state of its own; `reenact.track` keeps the program's"
# ///
"""

from __future__ import annotations

import asyncio

from google import genai
from google.genai import types
from travel import QUESTION, THEN, TOOLS, call, schema

MODEL = "gemini-2.5-flash"
FUNCTIONS = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(name=name, description=about, parameters_json_schema=schema(name))
        for name, (about, _) in TOOLS.items()
    ]
)


async def tool(asked):
    result = await call(asked.name, asked.args)
    print(asked.name, asked.args, "gave", result)
    return types.Part.from_function_response(name=asked.name, response={"result": result})


async def answer(client, contents):
    """One streamed answer, printed as it comes; returns its parts."""
    config = types.GenerateContentConfig(tools=[FUNCTIONS])
    parts = []
    stream = await client.models.generate_content_stream(model=MODEL, contents=contents, config=config)
    async for chunk in stream:
        for part in chunk.candidates[0].content.parts or ():
            parts.append(part)
            if part.text:
                print(part.text, end="|", flush=True)
    return parts


async def main():
    async with genai.Client().aio as client:
        contents = [types.UserContent(QUESTION)]
        for _ in range(8):
            parts = await answer(client, contents)
            contents.append(types.ModelContent(parts))
            calls = [part.function_call for part in parts if part.function_call]
            if not calls:
                break
            contents.append(types.UserContent(await asyncio.gather(*map(tool, calls))))
        contents.append(types.UserContent(THEN))
        last = await client.models.generate_content(model=MODEL, contents=contents)
        print(f"\n{last.text}")


if __name__ == "__main__":
    asyncio.run(main())
