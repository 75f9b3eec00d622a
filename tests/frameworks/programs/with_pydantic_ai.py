"""A travel agent with Pydantic AI: tools that run side by side, one that asks to be called again, streamed answers.

# /// framework
# title = "Pydantic AI"
# package = "pydantic-ai-slim"
# wire = "chat"
# page = "pydantic-ai.md"
# hook = "`Agent.iter`: its models and its tools"
# model = "model:gpt-4o-mini"
# tool = "tool:{name}"
# edit = "output.degrees = -40"
# state = ["pydantic_ai.messages", "pydantic_ai.deps"]
# ///
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import httpx
import travel
from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.messages import (
    FunctionToolResultEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)


@dataclass
class Trip:
    """What the tools write down on the way."""

    notes: list[str] = field(default_factory=list)


agent = Agent(
    "openai-chat:gpt-4o-mini",
    deps_type=Trip,
    instructions="You help travellers.",
    retries=2,
    model_settings={"max_tokens": 200},
)


@agent.tool
async def weather(ctx: RunContext[Trip], city: str) -> dict:
    """The temperature in a city, in degrees Celsius."""
    found = await travel.weather(city)
    ctx.deps.notes.append(f"{city}: {found['degrees']}")
    return found


@agent.tool
async def rate(ctx: RunContext[Trip], currency: str) -> dict:
    """How much of a currency one euro buys."""
    try:
        return await travel.rate(currency)
    except httpx.HTTPStatusError as error:
        raise ModelRetry(f"The service said {error.response.status_code}. Ask again.") from error


async def show(ctx, events):
    """Print what comes, as it comes."""
    async for event in events:
        match event:
            case (
                PartStartEvent(part=TextPart(content=text))
                | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
            ):
                print(text, end="|", flush=True)
            case FunctionToolResultEvent():
                print("a tool gave", event.part.content)


async def main():
    trip = Trip()
    first = await agent.run(travel.QUESTION, deps=trip, event_stream_handler=show)
    last = await agent.run(travel.THEN, deps=trip, message_history=first.all_messages())
    print(f"\n{last.output}")


if __name__ == "__main__":
    asyncio.run(main())
