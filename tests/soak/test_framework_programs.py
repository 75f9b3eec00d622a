"""The program of each framework, recorded once and proved ten times: under other conditions the same output and state.

The programs have tools that keep state and run side by side, answers that are streamed, and sessions. One more has a
guardrail beside its agent.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.conftest import Shell
from tests.frameworks.frameworks import FRAMEWORKS
from tests.frameworks.provider import Provider
from tests.soak.tables import SHORT, size, table

pytestmark = [pytest.mark.slow, pytest.mark.timeout(14_400)]

GUARDED = """
import asyncio
import sys
sys.path.insert(0, {programs!r})
import travel
import with_openai_agents as base
from agents import Agent, GuardrailFunctionOutput, Runner, SQLiteSession, input_guardrail

judge = Agent("Judge", instructions="Answer in one word.", model="gpt-4o-mini")

@input_guardrail
async def careful(ctx, agent, asked):
    found = await Runner.run(judge, "Is that about travel? Answer in one word.")
    ctx.context.notes.append(f"judged: {{found.final_output}}")
    return GuardrailFunctionOutput(output_info=found.final_output, tripwire_triggered=False)

async def main():
    trip, session = base.Trip(), SQLiteSession("trip")
    agent = base.agent.clone(input_guardrails=[careful])
    run = Runner.run_streamed(agent, travel.QUESTION, context=trip, session=session)
    async for event in run.stream_events():
        print(event.type)
    print(run.final_output, trip.notes, len(await session.get_items()))
    last = await Runner.run(agent, travel.THEN, context=trip, session=session)
    print(last.final_output, trip.notes)

asyncio.run(main())
"""


def installed():
    # What runs in no Python is replayed by a proxy, which has no conditions to change.
    found = [known for known in FRAMEWORKS if known.version not in (None, *known.refused) and not known.runs]
    return found[::5] if SHORT else found


def proved(shell, recording, times):
    done = shell.run("prove", recording.id, "--times", times)
    return "proved" if done.status == 0 else f"not proved: {done.out}{done.err}"


def test_each_program_is_proved_ten_times(tmp_path):
    times, found = size(10, 2), {}
    for framework in installed():
        provider = framework.serve()
        try:
            shell = Shell(tmp_path / framework.name)
            shell.folder.mkdir()
            shell.environ |= provider.environ
            _, recording = framework.record(shell)
        finally:
            provider.stop()
        found[framework.name] = proved(shell, recording, times)
    table(f"programs of frameworks, {times} replays each", [Counter(found.values())])
    assert {name: said for name, said in found.items() if said != "proved"} == {}


def test_a_guardrail_beside_a_streamed_agent_with_a_session_is_proved_ten_times(tmp_path):
    pytest.importorskip("agents")
    provider = Provider()
    try:
        shell = Shell(tmp_path)
        shell.environ |= provider.environ
        agents = next(known for known in FRAMEWORKS if known.name == "with_openai_agents")
        program = tmp_path / "guarded.py"
        program.write_text(GUARDED.format(programs=str(agents.program.parent)))
        recorded, recording = shell.record(program)
        assert "judged: Warmer" in recorded.out
    finally:
        provider.stop()
    assert proved(shell, recording, size(10, 2)) == "proved"
