"""An agent's items and the run's context are in the recorded state without being asked for."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from agents import Agent, RunContextWrapper, Runner, function_tool

import reenact
from reenact.core.boundary import current, tracked
from tests.adapters.openai_agents.sdk_runs import record, responses


@dataclass
class Desk:
    seen: list[str] = field(default_factory=list)


@function_tool
def look(ctx: RunContextWrapper[Desk], city: str) -> str:
    """Look at a city."""
    ctx.context.seen.append(city)
    return f"{city} is fine"


def scout(provider, name="call:look"):
    return Agent[Desk]("Scout", model=responses(provider, name), tools=[look])


def test_the_items_are_those_of_each_step(provider):
    result, recording = record(lambda: Runner.run_sync(scout(provider), "go", context=Desk()))
    whole = result.to_input_list()
    found = [recording.state(step.number)["openai_agents.items"] for step in recording]
    assert [len(items) for items in found] == [1, 2, 3]
    assert found[2] == whole[:3]
    assert len(recording.state()["openai_agents.items"]) == 4
    assert recording.state(1).of("openai_agents.items").exact


def test_the_items_are_ones_that_an_agent_can_go_on_from(provider):
    _, recording = record(lambda: Runner.run_sync(scout(provider), "go", context=Desk()))
    items = recording.state()["openai_agents.items"]
    more = Runner.run_sync(scout(provider, "teller"), [*items, {"role": "user", "content": "and?"}])
    assert "and?" in more.final_output


def test_the_context_is_tracked_streamed_or_not(provider, capsys):
    async def program():
        await Runner.run(scout(provider), "go", context=Desk())
        result = Runner.run_streamed(scout(provider), "go", context=Desk(["before"]))
        _ = [event async for event in result.stream_events()]

    with reenact.record("test", snapshot_every=1) as going:
        asyncio.run(program())
    recording = going.load()
    seen = [recording.state(step.number)["openai_agents.context"].seen for step in recording]
    assert seen == [[], [], ["Bern"], ["before"], ["before"], ["before", "Bern"]]
    assert capsys.readouterr().err == ""


def test_an_inner_agent_with_the_same_context_has_no_other(provider):
    names = []

    @function_tool
    async def delegate(ctx: RunContextWrapper[Desk]) -> str:
        """Ask other agents."""
        for context in (ctx.context, Desk(["other"])):

            @function_tool
            def name() -> str:
                """Tell what is tracked."""
                names.append(sorted(tracked.live(current().run)))
                return "x"

            inner = Agent("Inner", model=responses(provider, "call:name"), tools=[name])
            await Runner.run(inner, "inner", context=context)
        return "done"

    outer = Agent("Outer", model=responses(provider, "call:delegate"), tools=[delegate])
    record(lambda: Runner.run_sync(outer, "go", context=Desk()))
    assert names[0] == ["openai_agents.context"]
    assert [name.partition("@")[0] for name in names[1]] == ["openai_agents.context"] * 2
