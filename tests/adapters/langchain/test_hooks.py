"""Installing: nothing by halves; and a program from the terminal: recorded, replayed, forked, compared."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace

import pytest
from langchain_core.language_models import BaseChatModel, chat_models
from langchain_core.tools import BaseTool
from langgraph.pregel import main as pregel

import reenact
from reenact import adapters
from reenact.adapters import langchain, langgraph
from reenact.adapters.hooks import HookMissing
from reenact.adapters.langgraph import checkpoints

PROGRAM = """
    import sys
    from langchain.agents import create_agent
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    @tool
    def weather(city: str) -> str:
        "Look at the sky."
        return f"sunny in {city}"

    @tool
    def traffic(city: str) -> str:
        "Look at the street."
        raise ValueError(f"no street in {city}")

    agent = create_agent(ChatOpenAI(model="caller", base_url=sys.argv[1], api_key="sk-test"), [weather, traffic])
    try:
        agent.invoke({"messages": [("user", "Hi")]})
    except ValueError as error:
        print(error)
    agent = create_agent(ChatOpenAI(model="caller", base_url=sys.argv[1], api_key="sk-test"), [weather])
    for part, about in agent.stream({"messages": [("user", "Hi")]}, stream_mode="messages"):
        print(part.content)
"""


def test_installed_twice_is_installed_once():
    adapters.install()
    before = BaseChatModel.agenerate, BaseTool.run, pregel.Pregel.stream
    langchain.install(chat_models)
    langgraph.install(pregel)
    assert before == (BaseChatModel.agenerate, BaseTool.run, pregel.Pregel.stream)


def test_a_version_that_is_not_known_is_refused_whole():
    class Changed:
        def _generate(self):
            """All that is left."""

    with pytest.raises(HookMissing, match=r"LangChain .* is not known .*Changed has no _agenerate"):
        langchain._check(Changed, BaseTool)
    assert not hasattr(Changed._generate, "_reenact")


def test_another_langgraph_is_refused_whole():
    other = ModuleType("langgraph.pregel.main")
    other.Pregel = SimpleNamespace(stream=lambda: None)
    with pytest.raises(HookMissing, match=r"LangGraph .* is not known .*Pregel.stream"):
        langgraph.install(other)
    other.BaseCheckpointSaver = object
    with pytest.raises(HookMissing, match="BaseCheckpointSaver has no get_tuple"):
        checkpoints.install(other)


def test_a_program_from_the_terminal(shell, provider):
    program = shell.write("agent.py", PROGRAM)
    recorded, recording = shell.record(program, f"{provider.url}/v1")
    assert recorded.status == 0, recorded.err
    assert recorded.out.startswith("no street in Bern\n")
    provider.stop()
    replayed = shell.replay()
    assert replayed.status == 0, replayed.err
    assert recorded.out in replayed.out
    last = recording.steps[-1].number
    forked = shell.run("fork", recording.id, "--at", last, "--set", "text = rain")
    assert forked.status == 0, forked.err
    assert "rain" in forked.out
    told = reenact.diff(recording, shell.last())
    assert told.parting.a.number == told.parting.b.number == last
