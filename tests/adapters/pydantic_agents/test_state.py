"""An agent's message history and dependencies are in the recorded state without being asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel

import reenact
from reenact.core.boundary import current, tracked
from tests.adapters.pydantic_agents.agent_runs import openai, plain, record, replay


class Connection:
    """What no recording can hold."""


@dataclass
class Deps:
    seen: list[str] = field(default_factory=list)
    connection: Connection = field(default_factory=Connection)


def look(ctx: RunContext[Deps], city: str) -> str:
    """Look at a city."""
    ctx.deps.seen.append(city)
    return f"{city} is fine"


def thrice(messages, info):
    """Three tools one after the other, then an answer."""
    asked = sum(isinstance(message, ModelResponse) for message in messages)
    if asked < 3:
        return ModelResponse([ToolCallPart("look", {"city": f"city {asked}"}, tool_call_id=f"call {asked}")])
    return ModelResponse([TextPart("all is fine")])


def agent(**options):
    return Agent(FunctionModel(thrice), deps_type=Deps, tools=[look], name="scout", **options)


def test_the_message_history_is_that_of_each_step():
    result, recording = record(lambda: agent().run_sync("go", deps=Deps()))
    whole = result.all_messages()
    kinds = [
        (step.call.kind, recording.state(step.number).of("pydantic_ai.messages").exact) for step in recording
    ]
    assert kinds == [("model", True), ("tool", False)] * 3 + [("model", True)]
    lengths = [len(recording.state(step.number)["pydantic_ai.messages"]) for step in recording]
    assert lengths == [1, 2, 3, 4, 5, 6, 7]
    assert len(recording.state()["pydantic_ai.messages"]) == len(whole) == 8


def test_the_history_is_one_that_an_agent_can_go_on_from():
    result, recording = record(lambda: agent().run_sync("go", deps=Deps()))
    for number in (4, 5, None):
        history = ModelMessagesTypeAdapter.validate_python(recording.state(number)["pydantic_ai.messages"])
        there = result.all_messages()[: len(history)]
        assert [
            [(part.part_kind, getattr(part, "content", None) or part.args) for part in message.parts]
            for message in history
        ] == [
            [(part.part_kind, getattr(part, "content", None) or part.args) for part in message.parts]
            for message in there
        ]
    more = agent().run_sync("again", deps=Deps(), message_history=history)
    assert more.output == "all is fine"


def test_the_history_of_a_streamed_answer_has_it(provider):
    async def program():
        async with Agent(openai(provider, "plain")).run_stream("go") as stream:
            return await stream.get_output()

    said, recording = record(program)
    last = recording.state()["pydantic_ai.messages"][-1]
    assert "".join(part["content"] for part in last["parts"] if part["part_kind"] == "text") == said


def test_each_agent_has_its_own_history():
    async def delegate(ctx: RunContext[Deps]) -> str:
        """Ask another agent."""
        other = Agent(TestModel(custom_output_text="inner"), name="inner")
        return (await other.run("the inner question")).output

    def once(messages, info):
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("delegate", {}, tool_call_id="one")])
        return ModelResponse([TextPart("done")])

    outer = Agent(FunctionModel(once), tools=[delegate], name="outer")
    _, recording = record(lambda: outer.run_sync("the outer question"))
    inner = next(step for step in recording if "inner" in step.call.scope)
    state = recording.state(inner.number)
    assert state["pydantic_ai.messages"][0]["parts"][0]["content"] == "the inner question"
    others = [name for name in state if name.startswith("pydantic_ai.messages@")]
    assert len(others) == 2
    assert "the outer question" in str([state[name] for name in others])
    assert recording.state()["pydantic_ai.messages"][0]["parts"][0]["content"] == "the outer question"


def test_dependencies_are_tracked(capsys):
    deps = Deps()
    with reenact.record("test", snapshot_every=1) as going:
        agent().run_sync("go", deps=deps)
    recording = going.load()
    seen = [recording.state(step.number)["pydantic_ai.deps"].seen for step in recording]
    assert seen == [[], [], ["city 0"], ["city 0"], ["city 0", "city 1"], ["city 0", "city 1"], [*deps.seen]]
    assert capsys.readouterr().err == ""
    connection = deps.connection
    recording.restore(3)
    assert deps.seen == ["city 0"]
    assert deps.connection is connection


@pytest.mark.thorough
@pytest.mark.parametrize("deps", [None, "a text", 5])
def test_dependencies_that_cannot_change_are_not_tracked(deps, capsys):
    _, recording = record(lambda: Agent(TestModel()).run_sync("go", deps=deps))
    assert "pydantic_ai.deps" not in recording.state()
    assert capsys.readouterr().err == ""


@pytest.mark.thorough
def test_an_agent_that_is_handed_the_same_dependencies_has_no_others():
    names = []

    async def delegate(ctx: RunContext[Deps]) -> str:
        """Ask another agent, with the same dependencies and then with others."""
        for deps in (ctx.deps, Deps(["other"])):
            other = Agent(TestModel(call_tools=["name"]), tools=[name], deps_type=Deps, name="inner")
            await other.run("inner", deps=deps)
        return "done"

    def name(ctx: RunContext[Deps]) -> str:
        """Tell what is tracked."""
        names.append(sorted(tracked.live(current().run)))
        return "x"

    def once(messages, info):
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("delegate", {}, tool_call_id="one")])
        return ModelResponse([TextPart("done")])

    record(lambda: Agent(FunctionModel(once), tools=[delegate], deps_type=Deps).run_sync("go", deps=Deps()))
    assert names[0] == ["pydantic_ai.deps"]
    assert names[1][0] == "pydantic_ai.deps"
    assert names[1][1].startswith("pydantic_ai.deps@")


def test_a_replay_is_faithful_and_has_the_living_dependencies():
    seen = []

    def program():
        deps = Deps()
        result = agent().run_sync("go", deps=deps)
        seen.append(tracked.live(current().run)["pydantic_ai.deps"]["$dataclass"]["fields"]["seen"])
        return result.all_messages()

    first, recording = record(program)
    second, verdict = replay(program, recording)
    assert verdict.faithful
    assert plain(first) == plain(second)
    # The tools run again, so they change the dependencies as they did.
    assert seen == [["city 0", "city 1", "city 2"]] * 2
