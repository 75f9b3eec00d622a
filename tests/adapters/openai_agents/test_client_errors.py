"""What a model fails with comes back as the same exception, and the program and the SDK do with it what they did."""

from __future__ import annotations

import asyncio

import openai
import pytest
from agents import Agent, ModelRetryBackoffSettings, ModelRetrySettings, ModelSettings, Runner, retry_policies

from tests.adapters.openai_agents.sdk_runs import chat, faithful, responses

MODELS = [responses, chat]


def told(error):
    """What a program may look at."""
    response = getattr(error, "response", None)
    return (
        type(error),
        str(error),
        getattr(error, "status_code", None),
        getattr(error, "body", None),
        getattr(error, "code", None),
        str(error.request.url).partition("/v1")[2],
        response and (response.status_code, response.json(), response.headers["content-type"]),
    )


@pytest.mark.sampled
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("name", "kind"),
    [("broken", openai.InternalServerError), ("limited", openai.RateLimitError)],
)
@pytest.mark.parametrize("streaming", [False, True])
def test_a_refusal(streaming, name, kind, model, provider):
    async def program():
        agent = Agent("Scout", model=model(provider, name))
        try:
            if streaming:
                _ = [event async for event in Runner.run_streamed(agent, "Hot?").stream_events()]
            else:
                await Runner.run(agent, "Hot?")
        except openai.APIError as error:
            return told(error)
        raise AssertionError("nothing was raised")

    first, recording = faithful(program, provider)
    assert first[0] is kind
    assert recording.step(1).call.outcome["error"]["type"].endswith(kind.__name__)


@pytest.mark.parametrize("streaming", [False, True])
def test_a_time_out(streaming, provider):
    async def program():
        agent = Agent("Scout", model=responses(provider, "slow", timeout=0.05))
        try:
            if streaming:
                _ = [event async for event in Runner.run_streamed(agent, "Hot?").stream_events()]
            else:
                await Runner.run(agent, "Hot?")
        except openai.APITimeoutError as error:
            return told(error)
        raise AssertionError("nothing was raised")

    faithful(program, provider)


@pytest.mark.parametrize("model", MODELS)
def test_a_stream_that_breaks_off(model, provider):
    async def program():
        result = Runner.run_streamed(Agent("Scout", model=model(provider, "cut")), "Hot?")
        seen = []
        try:
            async for event in result.stream_events():
                seen.append(event.type)
        except Exception as error:
            return seen, type(error), str(error)
        raise AssertionError("nothing was raised")

    first, _ = faithful(program, provider)
    assert len(first[0]) >= 3


def test_the_sdk_tries_again_as_often_as_it_did(provider):
    backoff = ModelRetryBackoffSettings(initial_delay=0.01, jitter=True)
    retry = ModelRetrySettings(max_retries=2, policy=retry_policies.provider_suggested(), backoff=backoff)
    settings = ModelSettings(retry=retry)

    def program():
        agent = Agent("Scout", model=responses(provider, "flaky"), model_settings=settings)
        try:
            return Runner.run_sync(agent, "Hot?").final_output
        except openai.APIError as error:
            return told(error)

    _, recording = faithful(program, provider)
    assert [step.call.label for step in recording] == ["model:flaky"] * 2


def test_a_run_that_is_given_up_is_given_up_again(provider):
    async def program():
        run = Runner.run(Agent("Scout", model=responses(provider, "slow")), "Hot?")
        try:
            await asyncio.wait_for(run, 0.1)
        except TimeoutError:
            return "given up"
        raise AssertionError("it was not slow")

    _, recording = faithful(program, provider)
    assert recording.step(1).call.label == "model:slow"
