"""Installing: nothing by halves, and what the SDK reports to its maker disturbs nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from types import ModuleType

import agents
import pytest
from agents.run_internal import run_loop

import reenact
from reenact.adapters import openai_agents as adapter
from reenact.adapters import scopes

PROGRAM = """
    import asyncio, json, os, random, sys, uuid
    from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, SQLiteSession
    from agents import function_tool, set_trace_processors
    from agents.tracing.processors import BackendSpanExporter, BatchTraceProcessor
    from openai import AsyncOpenAI

    url = sys.argv[1]
    exporter = BackendSpanExporter(api_key="sk-trace", endpoint=url + "/traces", max_retries=0)
    processor = BatchTraceProcessor(exporter, schedule_delay=0.05)
    set_trace_processors([processor])
    client = AsyncOpenAI(base_url=url + "/v1", api_key="sk-test", max_retries=0)

    @function_tool
    async def look(city: str) -> str:
        "Look."
        await asyncio.sleep(random.random() * 0.01)
        return f"{city} {uuid.uuid4()}"

    @function_tool
    def fails(city: str) -> str:
        "Fail."
        raise LookupError(city)

    def agent(kind):
        return Agent("Scout", model=kind(model="caller", openai_client=client), tools=[look, fails])

    async def main():
        session = SQLiteSession("chat", "chat.db")
        both = [agent(OpenAIResponsesModel), agent(OpenAIChatCompletionsModel)]
        whole = await asyncio.gather(*(Runner.run(each, "Hot?") for each in both))
        result = Runner.run_streamed(both[0], "Hot?", session=session)
        events = [event.type async for event in result.stream_events()]
        await asyncio.sleep(0.2)
        return [each.final_output for each in whole], events, len(await session.get_items())

    print(json.dumps(asyncio.run(main())))
    processor.shutdown()
"""


@pytest.mark.thorough
def test_a_program_is_recorded_and_replayed_from_the_command_line(provider, tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))

    def run(*words):
        command = [sys.executable, "-W", "ignore", "-m", "reenact", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60)
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout.splitlines()[0])

    first = run("record", "--", sys.executable, "program.py", provider.url)
    recorded = reenact.load("last", home=str(tmp_path / "home"))
    assert "/traces" in provider.paths
    assert {step.call.kind for step in recorded} == {"model", "tool", "memory"}
    hits = provider.hits
    assert run("replay", recorded.id) == first
    # Nothing went out, though somebody was there.
    assert provider.hits == hits


def test_an_unknown_version_is_refused_whole_and_in_one_line(monkeypatch):
    before = agents.run.AgentRunner.run
    monkeypatch.setattr(adapter, "_INVOKE", ("_gone",))
    with pytest.raises(reenact.ReenactError, match=r"there is no .*tool_execution\._gone") as caught:
        adapter.install(agents)
    assert "\n" not in str(caught.value)
    assert agents.run.AgentRunner.run is before


def test_installing_twice_patches_once():
    reenact.adapters.install()
    once = agents.run.AgentRunner.run, run_loop.get_model
    adapter.install(agents)
    assert (agents.run.AgentRunner.run, run_loop.get_model) == once


def test_a_package_of_the_programs_own_with_that_name_is_left_alone():
    assert adapter.install(ModuleType("agents")) is False


def test_what_such_a_package_starts_is_told_apart_as_the_programs_own(monkeypatch):
    def begun():
        return scopes.transparent()

    namespace = {"__name__": "agents.mine", "begun": begun}
    exec("def start(): return begun()", namespace)
    assert namespace["start"]()
    monkeypatch.setitem(sys.modules, "agents", ModuleType("agents"))
    assert not namespace["start"]()
