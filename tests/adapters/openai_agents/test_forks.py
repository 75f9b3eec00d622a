"""Forks: another answer of a tool or a model, another model, and what became of it."""

from __future__ import annotations

import asyncio

import pytest
from agents import Agent, Runner, function_tool

import reenact
from reenact.errors import UsageError
from tests.adapters.openai_agents.sdk_runs import chat, record, responses


@function_tool
def status(order: str) -> str:
    """Look up an order."""
    return "shipped"


def program(provider, model=responses, *, streaming=False):
    """A program that asks its model, a tool and its model again; and gives the last words."""

    async def main():
        agent = Agent("Desk", model=model(provider, "call:status"), tools=[status])
        if not streaming:
            return (await Runner.run(agent, "Where is it?")).final_output
        result = Runner.run_streamed(agent, "Where is it?")
        _ = [event async for event in result.stream_events()]
        return result.final_output

    return lambda: asyncio.run(main())


def test_a_tool_with_another_answer_is_what_the_model_then_sees(provider):
    main = program(provider)
    _, recording = record(main)
    with reenact.fork(recording, at=2, edit={"output": "lost"}) as fork:
        said = main()
    assert "lost" in said
    difference = reenact.diff(recording, fork.recording)
    assert "lost" in repr(difference.pairs)


@pytest.mark.sampled
@pytest.mark.parametrize("model", [responses, chat])
@pytest.mark.parametrize("streaming", [False, True])
def test_a_model_with_another_text(streaming, model, provider):
    main = program(provider, model, streaming=streaming)
    _, recording = record(main)
    with reenact.fork(recording, at=1, edit={"text": "It is lost."}) as fork:
        assert main() == "It is lost."
    assert len(fork.recording.steps) == 1


@pytest.mark.parametrize("model", [responses, chat])
@pytest.mark.parametrize("streaming", [False, True])
def test_another_model_is_asked(streaming, model, provider):
    main = program(provider, model, streaming=streaming)
    _, recording = record(main)
    with reenact.fork(recording, at=3, model="limited") as fork, pytest.raises(Exception, match="too fast"):
        main()
    assert fork.recording.step(2).output == "shipped"


def test_a_model_that_has_no_name_cannot_be_another():
    from reenact.adapters.openai_agents.model import _another

    with pytest.raises(UsageError, match="openai:gpt-5"):
        _another(object.__new__(type("Mine", (), {})), "gpt-5")
