r"""A travel agent over OpenAI's realtime API, in text. Such a session does not last for ever: a lost one is begun anew.

# /// framework
# title = "OpenAI SDK, realtime"
# package = "openai"
# wire = "realtime"
# page = "sdks.md"
# hook = "websockets, message by message"
# model = "websocket:receive */v1/realtime"
# tool = "http:GET */{name}"
# edit = "body.degrees = -40"
# thorough = true
# provider = "tests.frameworks.realtime:Realtime"
# [absent]
# state = "keeps no state of its own; `reenact.track` keeps the program's"
# ///
"""

from __future__ import annotations

import asyncio
import json
import os

from openai import AsyncOpenAI
from travel import QUESTION, THEN, TOOLS, call, schema
from websockets.exceptions import ConnectionClosed

FUNCTIONS = [
    {"type": "function", "name": name, "description": about, "parameters": schema(name)}
    for name, (about, _) in TOOLS.items()
]


class Conversation:
    def __init__(self, client):
        self.client = client
        self.items = []
        self.session = None

    async def connect(self):
        self.session = await self.client.realtime.connect(model="gpt-realtime").enter()
        await self.session.session.update(
            session={"type": "realtime", "output_modalities": ["text"], "tools": FUNCTIONS}
        )
        for item in self.items:
            await self.session.conversation.item.create(item=item)

    async def say(self, item):
        self.items.append(item)
        try:
            await self.session.conversation.item.create(item=item)
        except ConnectionClosed:
            await self.connect()

    async def ask(self, text):
        content = [{"type": "input_text", "text": text}]
        await self.say({"type": "message", "role": "user", "content": content})

    async def answer(self, end="|"):
        await self.session.response.create()
        while True:
            event = await self.session.recv()
            if event.type == "response.output_text.delta":
                print(event.delta, end=end, flush=True)
            elif event.type == "response.done":
                items = [item.to_dict() for item in event.response.output]
                self.items += items
                return [item for item in items if item["type"] == "function_call"]

    async def tool(self, asked):
        result = await call(asked["name"], json.loads(asked["arguments"]))
        print(asked["name"], asked["arguments"], "gave", result)
        return {"type": "function_call_output", "call_id": asked["call_id"], "output": result}


async def main():
    async with AsyncOpenAI(websocket_base_url=os.environ.get("OPENAI_WEBSOCKET_BASE_URL")) as client:
        talk = Conversation(client)
        await talk.connect()
        await talk.ask(QUESTION)
        while asked := await talk.answer():
            for result in await asyncio.gather(*map(talk.tool, asked)):
                await talk.say(result)
        print()
        await talk.ask(THEN)
        await talk.answer(end="")
        print()
        await talk.session.close()


if __name__ == "__main__":
    asyncio.run(main())
