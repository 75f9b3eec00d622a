"""Every way to run an agent: recorded against a provider, replayed without it, with equal results."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, NativeOutput, RunContext, ToolOutput, UsageLimits
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import FunctionToolset

import reenact
from tests.adapters.pydantic_agents.agent_runs import anthropic, faithful, openai, record, replay, run

MAKERS = [openai, anthropic]


class Found(BaseModel):
    when: datetime
    id: UUID


@dataclass
class Place:
    at: tuple[int, int]


@dataclass
class Deps:
    secret: str


def weather(city: str) -> dict:
    """Look at the sky."""
    return {"city": city, "degrees": random.random(), "seen": datetime.now(UTC)}


async def traffic(city: str) -> tuple:
    """Look at the street, for a while that nobody foresees."""
    await asyncio.sleep(random.random() * 0.01)
    return city, Decimal(random.randrange(1000)) / 10


def make(maker, provider, name="caller", **options):
    options.setdefault("tools", [weather, traffic])
    return Agent(maker(provider, name), instructions="Be brief.", **options)


@pytest.mark.parametrize("maker", MAKERS)
def test_run_sync_gives_the_same_messages_usage_and_output(maker, provider):
    def program():
        result = make(maker, provider).run_sync("Hot?")
        return result.output, result.all_messages(), result.usage

    first, recording = faithful(program, provider)
    assert first[0].startswith("answer ")
    assert [step.call.kind for step in recording] == ["model", *["tool"] * 4, "model"]


@pytest.mark.thorough
@pytest.mark.parametrize("maker", MAKERS)
def test_run_gives_the_same(maker, provider):
    async def program():
        result = await make(maker, provider).run("Hot?")
        return result.output, result.all_messages()

    faithful(program, provider)


def test_the_inside_of_a_model_call_is_not_recorded(provider):
    _, recording = faithful(lambda: make(openai, provider, "teller").run_sync("Hi").output, provider)
    assert [step.call.label for step in recording] == ["model:teller"]


def test_thinking_parts_keep_their_signatures(provider):
    def program():
        return make(anthropic, provider, "thinker").run_sync("Hot?").all_messages()

    first, _ = faithful(program, provider)
    thoughts = [part for message in first for part in message.parts if isinstance(part, ThinkingPart)]
    assert all(part.signature for part in thoughts)
    assert thoughts


def test_iter_with_next_and_for(provider):
    async def program():
        seen = []
        agent = make(openai, provider)
        async with agent.iter("Hot?") as by_hand:
            node = by_hand.next_node
            while not agent.is_end_node(node):
                seen.append(type(node).__name__)
                node = await by_hand.next(node)
        async with agent.iter("Hot?") as by_itself:
            seen += [type(node).__name__ async for node in by_itself]
        return seen, by_hand.result.output, by_itself.result.output

    faithful(program, provider)


@pytest.mark.thorough
def test_equal_parallel_tool_calls_each_get_their_own_answer_in_the_recorded_order(provider):
    finished = []

    def program():
        finished.clear()
        agent = make(openai, provider, tools=[])

        @agent.tool(name="traffic")
        async def slow(ctx: RunContext, city: str) -> str:
            await asyncio.sleep(random.random() * 0.02)
            return f"{city} {uuid4()}"

        result = agent.run_sync("Hot?")
        return result.output, result.all_messages()

    for _ in range(5):
        first, recording = record(program)
        second, verdict = replay(program, recording)
        assert verdict.faithful, verdict
        assert first[0] == second[0]


@pytest.mark.thorough
def test_a_prompt_that_depends_on_which_tool_came_first(provider):
    def program():
        agent = make(openai, provider, tools=[])
        order = []

        @agent.instructions
        def so_far() -> str:
            return f"Finished: {order}"

        @agent.tool(name="traffic")
        async def slow(ctx: RunContext, city: str) -> str:
            nap = reenact.effect("nap", "random").perform(random.random)
            await reenact.effect("wait", "a while").aperform(lambda: asyncio.sleep(nap * 0.01))
            order.append(ctx.tool_call_id)
            return city

        return agent.run_sync("Hot?").output, order

    for _ in range(5):
        _, recording = record(program)
        # Let through, the tools run, and their inside is answered in the order in which it was.
        (_, order), verdict = replay(program, recording, live=["tool"])
        assert not verdict.divergences, verdict
        assert len(order) == 2


def test_python_types_of_tool_results_survive(provider):
    kept = []

    def program():
        def look(city: str) -> list:
            return [
                Found(when=datetime.now(UTC), id=uuid4()),
                Place((1, 2)),
                {3: {4}},
                b"\xff",
                Decimal("1.10"),
            ]

        agent = make(openai, provider, tools=[look])
        messages = agent.run_sync("Look").all_messages()
        kept.append([part.content for part in messages[2].parts])
        return messages[-1]

    faithful(program, provider)
    assert kept[0] == kept[1]
    assert [type(item) for item in kept[0][0]] == [type(item) for item in kept[1][0]]


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["tool", "native", "prompted"])
def test_typed_outputs_and_their_functions_run_for_real(kind):
    class City(BaseModel):
        name: str
        size: int

    checked = []

    def answer(messages, info):
        size = random.randrange(10**6)
        if info.output_tools:
            return ModelResponse(
                parts=[ToolCallPart(info.output_tools[0].name, {"name": "Bern", "size": size})]
            )
        return ModelResponse(parts=[TextPart(f'{{"name": "Bern", "size": {size}}}')])

    def program():
        output = {"tool": ToolOutput(City), "native": NativeOutput(City), "prompted": City}[kind]
        agent = Agent(FunctionModel(answer), output_type=output)

        @agent.output_validator
        def check(city: City) -> City:
            checked.append(city)
            return city

        return agent.run_sync("Which city?").output

    faithful(program)
    assert len(checked) == 2


@pytest.mark.thorough
def test_history_carried_from_one_run_to_the_next(provider):
    def program():
        agent = make(openai, provider)
        first = agent.run_sync("Hot?")
        second = agent.run_sync("And now?", message_history=first.all_messages())
        return first.output, second.output, second.all_messages()

    faithful(program, provider)


def test_agents_at_the_same_time(provider):
    async def program():
        agents = [make(openai, provider), make(anthropic, provider), make(openai, provider, name="teller")]
        results = await asyncio.gather(*(agent.run("Hot?") for agent in agents), agents[0].run("Hot?"))
        return [(result.output, result.all_messages()) for result in results]

    faithful(program, provider)


def test_an_agent_as_another_ones_tool(provider):
    ran = []

    def program():
        expert = make(anthropic, provider, name="teller", tools=[])
        chief = make(openai, provider, tools=[])

        @chief.tool
        async def ask(ctx: RunContext, topic: str) -> str:
            ran.append(topic)
            return (await expert.run(f"{topic} {random.random()}", usage=ctx.usage)).output

        result = chief.run_sync("Find out")
        return result.output, result.all_messages()

    _, recording = faithful(program, provider)
    assert [step.call.within is not None for step in recording] == [False, False, False, True, True, False]
    before = len(ran)
    (output, _), verdict = replay(program, recording, live=["tool"], ignore=["args.messages"])
    assert len(ran) == before + 2
    assert output.startswith("answer ")
    assert not verdict.divergences


@pytest.mark.thorough
def test_limits_are_hit_where_they_were(provider):
    def program():
        counted = []
        for limits in (
            UsageLimits(request_limit=1),
            UsageLimits(tool_calls_limit=3),
            UsageLimits(output_tokens_limit=2),
        ):
            with pytest.raises(UsageLimitExceeded) as caught:
                make(openai, provider).run_sync("Hot?", usage_limits=limits)
            counted.append(str(caught.value))
        usage = make(openai, provider).run_sync("Hot?").usage
        return counted, usage.tool_calls, usage.requests, usage.input_tokens

    first, _ = faithful(program, provider)
    assert first[1:3] == (4, 2)


@pytest.mark.thorough
def test_retries_of_tools_and_outputs_are_counted(provider):
    def program():
        agent = make(openai, provider, tools=[])

        @agent.tool(retries=3)
        def shy(ctx: RunContext, city: str) -> str:
            if ctx.retry < 1:
                raise ModelRetry(f"try again {random.random()}")
            return f"{ctx.retry} {random.random()}"

        def again(messages, info):
            if len(messages) < 6:
                return ModelResponse(parts=[ToolCallPart("shy", {"city": "Bern"})])
            return ModelResponse(parts=[TextPart(f"done {random.random()}")])

        with agent.override(model=FunctionModel(again)):
            result = agent.run_sync("Hot?")
        return result.output, result.all_messages()

    first, _ = faithful(program)
    assert "retry" in str(first[1])


def test_dependencies_are_no_part_of_the_question(provider):
    def program():
        agent = make(openai, provider, tools=[], deps_type=Deps)

        @agent.tool
        def who(ctx: RunContext[Deps], name: str) -> str:
            return f"{name} {ctx.deps.secret} {random.random()}"

        return agent.run_sync("Who?", deps=Deps(secret=uuid4().hex[:8])).output

    first, recording = record(program)
    second, verdict = replay(program, recording)
    assert verdict.faithful
    assert first == second
    assert recording.step(2).args == {"name": "Bern"}


def test_toolsets_prefixed_filtered_and_wrapped(provider):
    def program():
        toolset = (
            FunctionToolset([weather, traffic])
            .prefixed("city")
            .filtered(lambda _, tool: "traffic" in tool.name)
        )
        agent = make(openai, provider, tools=[], toolsets=[toolset])
        return agent.run_sync("Hot?").output

    _, recording = faithful(program, provider)
    assert {step.call.label for step in recording if step.call.kind == "tool"} == {"tool:city_traffic"}


@pytest.mark.thorough
def test_test_model_with_random_tools():
    def program():
        result = Agent(TestModel(), tools=[weather, traffic]).run_sync("Hot?")
        return result.output, result.all_messages()

    faithful(program)


@pytest.mark.thorough
def test_requests_without_an_agent(provider):
    from pydantic_ai.direct import (
        model_request,
        model_request_stream,
        model_request_stream_sync,
        model_request_sync,
    )
    from pydantic_ai.messages import ModelRequest

    question = [ModelRequest.user_text_prompt("Hot?")]

    async def later():
        whole = await model_request(anthropic(provider, "teller"), question)
        async with model_request_stream(openai(provider, "teller"), question) as stream:
            return whole, [event async for event in stream], stream.get()

    def program():
        whole = model_request_sync(openai(provider, "teller"), question)
        with model_request_stream_sync(openai(provider, "teller"), question) as stream:
            events, response = list(stream), stream.response
        return whole, events, response, asyncio.run(later())

    _, recording = faithful(program, provider)
    assert [step.call.label for step in recording] == ["model:teller"] * 4


def test_nothing_is_added_where_nobody_records(provider):
    seen = []

    def answer(messages, info):
        return ModelResponse(parts=[TextPart("yes")])

    agent = Agent(FunctionModel(answer))

    async def program():
        async with agent.iter("Hi") as running:
            seen.append(running.ctx.deps.root_capability)
            async for _ in running:
                pass

    reenact.adapters.install()
    run(program)
    record(program)
    assert ["FlightRecorder" in repr(_leaves(capability)) for capability in seen] == [False, True]


def _leaves(capability):
    leaves = []
    capability.apply(lambda leaf: leaves.append(type(leaf).__name__))
    return leaves
