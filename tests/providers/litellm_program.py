"""A program that asks three providers through litellm: whole, streamed, with a tool, and all at once.

Usage: litellm_program.py URL PROMPT
"""

import asyncio
import sys

import litellm

URL, PROMPT = sys.argv[1:]
MESSAGES = [{"role": "user", "content": PROMPT}]
ROUTES = {
    "openai/teller": f"{URL}/v1",
    "anthropic/teller": URL,
    "gemini/gemini-2.5-flash": f"{URL}/v1beta/models/gemini-2.5-flash",
}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}


def main():
    for model, base in ROUTES.items():
        asked = {
            "model": model,
            "api_base": base,
            "api_key": "sk-test-0123456789abcdefghij",
            "messages": MESSAGES,
        }
        print(model, litellm.completion(**asked).choices[0].message.content)
        pieces = [chunk.choices[0].delta.content for chunk in litellm.completion(**asked, stream=True)]
        print(model, len(pieces), pieces)
    asked = {"model": "anthropic/caller", "api_base": URL, "api_key": "sk-test-0123456789abcdefghij"}
    answer = litellm.completion(**asked, messages=MESSAGES, tools=[TOOL]).choices[0].message
    print([(call.function.name, call.function.arguments) for call in answer.tool_calls])
    print(asyncio.run(together()))


async def together():
    async def one(model, base):
        asked = {
            "model": model,
            "api_base": base,
            "api_key": "sk-test-0123456789abcdefghij",
            "messages": MESSAGES,
        }
        return [
            chunk.choices[0].delta.content async for chunk in await litellm.acompletion(**asked, stream=True)
        ]

    return await asyncio.gather(*(one(model, base) for model, base in ROUTES.items()))


main()
