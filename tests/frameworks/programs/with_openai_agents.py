"""A travel agent on the OpenAI Agents SDK: tools that run side by side, a context, a session, streamed answers.

# /// framework
# title = "OpenAI Agents SDK, responses"
# package = "openai-agents"
# wire = "responses"
# page = "openai-agents.md"
# hook = "the runner: its models, tools and sessions"
# model = "model:gpt-4o-mini"
# tool = "tool:{name}"
# edit = "output.degrees = -40"
# thorough = true
# state = ["openai_agents.items", "openai_agents.context"]
# ///
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import travel
from agents import Agent, ModelSettings, RunContextWrapper, Runner, SQLiteSession, function_tool


@dataclass
class Trip:
    """What the tools write down on the way."""

    notes: list[str] = field(default_factory=list)


@function_tool
async def weather(ctx: RunContextWrapper[Trip], city: str) -> dict:
    """The temperature in a city, in degrees Celsius."""
    found = await travel.weather(city)
    ctx.context.notes.append(f"{city}: {found['degrees']}")
    return found


def tell_the_model(ctx: RunContextWrapper[Trip], error: Exception) -> str:
    """Say what a tool could not do."""
    return f"error: {error}"


@function_tool(failure_error_function=tell_the_model)
async def rate(currency: str) -> dict:
    """How much of a currency one euro buys. The service is busy at times: then ask again."""
    return await travel.rate(currency)


agent = Agent[Trip](
    "Travel agent",
    instructions="You help travellers.",
    model="gpt-4o-mini",
    model_settings=ModelSettings(max_tokens=200, parallel_tool_calls=True),
    tools=[weather, rate],
)


async def main():
    trip, session = Trip(), SQLiteSession("trip")
    run = Runner.run_streamed(agent, travel.QUESTION, context=trip, session=session)
    async for event in run.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            print(event.data.delta, end="|", flush=True)
        elif event.type == "run_item_stream_event" and event.name == "tool_output":
            print("a tool gave", event.item.output)
    last = await Runner.run(agent, travel.THEN, context=trip, session=session)
    print(f"\n{last.final_output}")


if __name__ == "__main__":
    asyncio.run(main())
