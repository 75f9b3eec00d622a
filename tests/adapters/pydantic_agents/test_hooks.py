"""Installing: nothing by halves, and recordings outlive the process that made them."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from types import ModuleType

import pydantic_ai
import pytest

import reenact
from reenact.adapters import pydantic_ai as adapter

PROGRAM = """
    import asyncio, json, random, sys
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    import reenact

    async def main():
        agent = Agent(OpenAIChatModel("caller", provider=OpenAIProvider(base_url=sys.argv[2], api_key="sk-test")))

        @agent.tool_plain
        async def look(city: str) -> tuple:
            await asyncio.sleep(random.random() * 0.01)
            return city, random.random()

        whole = await asyncio.gather(agent.run("Hot?"), agent.run("Hot?"))
        async with agent.run_stream("Hot?") as streamed:
            pieces = [piece async for piece in streamed.stream_text(delta=True, debounce_by=None)]
        return [result.output for result in whole], pieces

    if sys.argv[1] == "record":
        with reenact.record("fresh") as recording:
            output = asyncio.run(main())
    else:
        with reenact.replay("last") as replay:
            output = asyncio.run(main())
        assert replay.verdict.faithful, replay.verdict
    print(json.dumps(output))
"""


@pytest.mark.thorough
def test_a_recording_is_replayed_by_another_process(provider, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))

    def run(verb):
        command = [sys.executable, "-W", "ignore", str(program), verb, provider.url + "/v1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    first = run("record")
    provider.stop()
    assert run("replay") == first
    assert run("replay") == first


def test_an_unknown_version_is_refused_whole_and_in_one_line():
    class Agent:
        def iter(self, prompt):
            """An older one, without capabilities."""

    module = ModuleType("pydantic_ai")
    module.Agent = Agent
    before = Agent.iter
    with pytest.raises(reenact.ReenactError, match=r"Agent\.iter takes no capabilities") as caught:
        adapter.install(module)
    assert "\n" not in str(caught.value)
    assert Agent.iter is before


def test_installing_twice_patches_once():
    reenact.adapters.install()
    once = pydantic_ai.Agent.iter
    adapter.install(pydantic_ai)
    assert pydantic_ai.Agent.iter is once
