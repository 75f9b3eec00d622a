"""What models and tools fail with comes back as the same type with the same text."""

from __future__ import annotations

import random

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, RunContext
from pydantic_ai.exceptions import (
    ApprovalRequired,
    CallDeferred,
    FallbackExceptionGroup,
    ModelHTTPError,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import FunctionModel

import reenact
from tests.adapters.pydantic_agents.agent_runs import anthropic, faithful, openai, record, replay

MAKERS = [openai, anthropic]


class OutOfStock(Exception):
    """An error of the program's own, with a constructor that does not take its text."""

    def __init__(self, item, left):
        super().__init__(f"only {left} of {item}")
        self.left = left


@pytest.mark.sampled
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("stream", [False, True])
def test_a_provider_that_is_out_of_order(maker, stream, provider):
    async def program():
        agent = Agent(maker(provider, "broken"))

        async def streamed():
            async with agent.run_stream("Hi") as streaming:
                await streaming.get_output()

        with pytest.raises(ModelHTTPError) as caught:
            await (streamed() if stream else agent.run("Hi"))
        error = caught.value
        return type(error), str(error), error.status_code, error.body, error.model_name, type(error.__cause__)

    first, recording = faithful(program, provider)
    assert first[2] == 500
    assert [step.call.status for step in recording] == ["error"]
    error = recording.step(1).error
    assert error.type_name == "pydantic_ai.exceptions:_HTTPModelServerError"
    assert error.status_code == 500


def test_a_provider_that_fails_and_then_answers(provider):
    def program():
        outcomes = []
        agent = Agent(_no_retries(provider, "flaky"))
        for _ in range(4):
            try:
                outcomes.append(agent.run_sync("Hi").output)
            except ModelHTTPError as error:
                outcomes.append(str(error))
        return outcomes

    first, _ = faithful(program, provider)
    assert ["out of order" in outcome for outcome in first] == [True, False, True, False]


def test_a_fallback_model_is_one_effect_with_the_answer_that_came_out(provider):
    def program():
        result = Agent(FallbackModel(_no_retries(provider, "broken"), openai(provider, "teller"))).run_sync(
            "Hi"
        )
        return result.output, result.all_messages()

    (output, _), recording = faithful(program, provider)
    assert output.startswith("answer ")
    assert [step.call.label for step in recording] == ["model:fallback:broken,teller"]


def test_a_fallback_model_that_runs_out(provider):
    def program():
        broken = _no_retries(provider, "broken")
        with pytest.raises(FallbackExceptionGroup) as caught:
            Agent(FallbackModel(broken, broken)).run_sync("Hi")
        return type(caught.value), str(caught.value), [str(error) for error in caught.value.exceptions]

    first, _ = faithful(program, provider)
    assert len(first[2]) == 2


def _no_retries(provider, name):
    model = openai(provider, name)
    model.client.max_retries = 0
    return model


def test_a_tool_that_raises_an_error_of_the_program(provider):
    def program():
        agent = Agent(openai(provider, "caller"))

        @agent.tool_plain
        def buy(item: str) -> str:
            raise OutOfStock(item, random.random())

        with pytest.raises(OutOfStock) as caught:
            agent.run_sync("Buy")
        return type(caught.value), str(caught.value), caught.value.left

    faithful(program, provider)


def test_a_tool_that_asks_for_another_try(provider):
    def program():
        agent = Agent(openai(provider, "caller"))

        @agent.tool(retries=2)
        def guess(ctx: RunContext, number: int) -> str:
            if ctx.retry == 0:
                raise ModelRetry(f"not {random.random()}")
            return "right"

        result = agent.run_sync("Guess")
        return result.output, result.all_messages()

    (_, messages), recording = faithful(program, provider)
    assert "not 0." in str(messages)
    assert recording.step(2).error.type_name == "pydantic_ai.exceptions:ModelRetry"


def test_a_tool_whose_tries_run_out(provider):
    def again(messages, info):
        return ModelResponse(parts=[ToolCallPart("guess", {"number": 1})])

    def program():
        agent = Agent(FunctionModel(again))

        @agent.tool_plain
        def guess(number: int) -> str:
            raise ModelRetry(f"not {random.random()}")

        with pytest.raises(UnexpectedModelBehavior) as caught:
            agent.run_sync("Guess")
        return type(caught.value), str(caught.value)

    faithful(program)


@pytest.mark.thorough
@pytest.mark.parametrize("error", [CallDeferred, ApprovalRequired])
def test_calls_put_off_and_taken_up_again(error, provider):
    def program():
        agent = Agent(openai(provider, "caller"), output_type=[str, DeferredToolRequests])

        @agent.tool
        def pay(ctx: RunContext, to: str) -> str:
            if not ctx.tool_call_approved:
                raise error(metadata={"seen": random.random()})
            return f"paid {random.random()}"

        first = agent.run_sync("Pay")
        asked = first.output
        if error is CallDeferred:
            results = DeferredToolResults(calls={call.tool_call_id: "done" for call in asked.calls})
        else:
            results = DeferredToolResults(approvals={call.tool_call_id: True for call in asked.approvals})
        second = agent.run_sync(message_history=first.all_messages(), deferred_tool_results=results)
        return asked.metadata, second.output, second.all_messages()

    faithful(program, provider)


def test_an_output_that_does_not_fit_is_asked_for_again(provider):
    class City(BaseModel):
        size: int

    def answer(messages, info):
        size = random.randrange(9) if len(messages) > 2 else f"large {random.random()}"
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"size": size})])

    def program():
        result = Agent(FunctionModel(answer), output_type=City).run_sync("Which?")
        return result.output.size, result.all_messages()

    _, recording = faithful(program)
    assert [step.call.kind for step in recording] == ["model", "model"]


def test_a_plain_text_that_must_be_a_call_is_asked_for_again():
    class City(BaseModel):
        size: int

    def answer(messages, info):
        if len(messages) < 2:
            return ModelResponse(parts=[TextPart(f"words {random.random()}")])
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"size": 3})])

    def program():
        # The framework makes up a random id for its plea here: it must not count as a difference.
        return [
            type(part).__name__
            for part in Agent(FunctionModel(answer), output_type=City).run_sync("?").all_messages()
        ]

    faithful(program)


def test_a_divergence_inside_a_tool_is_not_swallowed(provider):
    suffix = [""]

    def program():
        agent = Agent(openai(provider, "caller"))

        @agent.tool_plain
        def look(city: str) -> str:
            try:
                return reenact.effect("db", "cities", sql=f"select {city}{suffix[0]}").perform(
                    lambda: "found"
                )
            except Exception as error:
                return f"sorry: {error}"

        return agent.run_sync("Look").output

    _, recording = record(program)
    suffix[0] = "x"
    with pytest.raises(reenact.DivergenceError) as caught:
        replay(program, recording, live=["tool"])
    divergence = caught.value.divergence
    assert divergence.kind is reenact.Departure.CHANGED
    assert divergence.mismatches[0].path == "args.sql"
