"""`create_agent` in every way to run it: recorded against a provider, replayed without it, with equal results."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode
from pydantic import BaseModel

import reenact
from reenact.errors import DivergenceError
from tests.adapters.langchain.chains import (
    chat,
    faithful,
    record,
    replay,
    traffic,
    traffic_later,
    weather,
)

ASKED = {"messages": [("user", "What is it like in Bern?")]}
MODES = ["messages", "updates", "values"]


def test_an_agent_streams_the_same_tokens_and_results_in_the_same_order(provider):
    def program():
        agent = create_agent(chat(provider, "caller"), [weather, traffic], system_prompt="Be short.")
        return list(agent.stream(ASKED, stream_mode=MODES))

    streamed, recording = faithful(program, provider)
    assert len(streamed) > 20
    labels = [step.call.label for step in recording]
    assert labels[0] == labels[-1] == "model:caller"
    assert sorted(labels[1:-1]) == ["tool:traffic", "tool:traffic", "tool:weather", "tool:weather"]


def test_an_agent_in_an_event_loop(provider):
    async def program():
        agent = create_agent(chat(provider, "caller"), [weather, traffic_later])
        return [chunk async for chunk in agent.astream(ASKED, stream_mode=MODES)]

    faithful(program, provider)


async def _later(model):
    return await model.abatch(["same"] * 4), [chunk async for chunk in model.astream("same")]


@pytest.mark.parametrize("way", ["sync", "async"])
def test_batches_and_streams_of_equal_questions_get_each_its_own_answer(provider, way):
    def at_once():
        model = chat(provider, "teller")
        return model.batch(["same"] * 4), list(model.stream("same"))

    async def later():
        return await _later(chat(provider, "teller"))

    (answers, chunks), _ = faithful(at_once if way == "sync" else later, provider)
    assert len({answer.content for answer in answers}) == 4
    assert len(chunks) > 3


class City(BaseModel):
    """A city."""

    name: str


def test_structured_output_is_asked_with_its_schema(provider):
    def program():
        return (
            chat(provider, "caller").with_structured_output(City, method="function_calling").invoke("Where?")
        )

    city, recording = faithful(program, provider)
    assert city == City(name="Bern")
    assert recording.step(1).args["tools"][0]["function"]["name"] == "City"


def test_tools_of_one_node_run_beside_each_other(provider):
    calls = [{"name": "weather", "args": {"city": "Bern"}, "id": f"call_{n}"} for n in range(4)]

    def program():
        class State(TypedDict):
            messages: Annotated[list, operator.add]

        graph = StateGraph(State)
        graph.add_node("tools", ToolNode([weather]))
        graph.add_edge(START, "tools")
        return graph.compile().invoke({"messages": [AIMessage("", tool_calls=calls, id="1")]})

    _, recording = faithful(program, provider)
    scopes = [step.call.scope for step in recording]
    assert sorted(scope.rpartition("/")[2] for scope in scopes) == [f"call:call_{n}" for n in range(4)]
    assert all("/node:tools/" in scope for scope in scopes)


def test_a_changed_prompt_is_named_though_the_program_catches_everything(provider):
    caught = []

    def program(prompt):
        agent = create_agent(chat(provider, "caller"), [weather, traffic], system_prompt=prompt)
        try:
            return agent.invoke(ASKED)
        except Exception as error:
            caught.append(error)

    _, recording = record(lambda: program("Be short."))
    provider.stop()
    with pytest.raises(DivergenceError) as departed:
        replay(lambda: program("Be long."), recording)
    assert departed.value.divergence.step == 1
    assert [str(found.path) for found in departed.value.divergence.mismatches] == ["args.messages[0].content"]
    assert not caught


async def test_a_changed_prompt_is_named_in_a_loop_too(provider):
    caught = []

    async def program(prompt):
        agent = create_agent(chat(provider, "caller"), [weather, traffic_later], system_prompt=prompt)
        try:
            await agent.ainvoke(ASKED)
        except Exception as error:
            caught.append(error)

    with reenact.record("test") as recording:
        await program("Be short.")
    provider.stop()
    with pytest.raises(DivergenceError):
        with reenact.replay(recording.id):
            await program("Be long.")
    assert not caught


def test_tools_run_for_real_while_the_model_stays_recorded(provider):
    def program():
        return create_agent(chat(provider, "caller"), [traffic]).invoke(ASKED)["messages"][-1].content

    first, recording = record(program)
    provider.stop()
    second, verdict = replay(program, recording, live=["tool"], ignore=["args.messages[*].content"])
    assert second == first
    assert verdict.live == {"tool:traffic": 2}


def test_the_recording_reads_as_a_conversation(provider):
    _, recording = record(
        lambda: create_agent(chat(provider, "caller"), [traffic], system_prompt="Be short.").invoke(ASKED)
    )
    from reenact.core import messages as reading

    step = recording.step(1)
    call = reading.read(step.log, step.call)
    assert (call.model, call.provider, call.tools) == ("caller", "openai", ("traffic",))
    assert [message.role for message in call.messages] == ["system", "user"]
    assert [asked.args for asked in call.answer.calls] == [{"city": "Bern"}] * 2
    assert (call.usage.input, call.usage.output, call.finish) == (11, 5, "tool_calls")
    assert call.schemas["traffic"]["properties"]["city"] == {"type": "string"}
    last = recording.steps[-1]
    told = reading.read(last.log, last.call)
    assert [message.role for message in told.messages] == ["system", "user", "assistant", "tool", "tool"]
    assert told.messages[-1].name == "traffic"
    assert told.answer.text.startswith("answer ")
