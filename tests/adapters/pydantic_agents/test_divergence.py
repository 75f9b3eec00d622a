"""A changed agent is told the first place where it leaves its recording, and what differs there."""

from __future__ import annotations

import random

import pytest
from pydantic_ai import Agent
from pydantic_ai.settings import ModelSettings

import reenact
from reenact import Departure
from tests.adapters.pydantic_agents.agent_runs import openai, record, replay


class Program:
    """An agent whose parts can be changed between recording and replay."""

    def __init__(self, provider):
        self.provider = provider
        self.prompt = "Hot?"
        self.instructions = "Be brief."
        self.system = "You are a thermometer."
        self.settings = ModelSettings(temperature=0.5)
        self.extra_tool = False
        self.more = 0
        self.unit = ""
        self.output = str
        self.ran = 0

    def __call__(self):
        agent = Agent(
            openai(self.provider, "caller"),
            instructions=self.instructions,
            system_prompt=self.system,
            output_type=self.output,
            model_settings=self.settings,
        )

        @agent.tool_plain
        def degrees(city: str) -> str:
            self.ran += 1
            return f"{random.random()}{self.unit}"

        if self.extra_tool:

            @agent.tool_plain
            def wind(city: str) -> float:
                return random.random()

        outputs = [agent.run_sync(self.prompt).output]
        outputs += [agent.run_sync(f"More {count}").output for count in range(self.more)]
        return outputs


@pytest.fixture
def program(provider):
    return Program(provider)


def departure(program, recording, **options):
    """The divergence of a changed program's replay."""
    program.provider.stop()
    with pytest.raises(reenact.DivergenceError) as caught:
        replay(program, recording, **options)
    return caught.value.divergence


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "value", "path"),
    [
        ("prompt", "Cold?", "args.messages[0].parts[1].content"),
        ("system", "You are a barometer.", "args.messages[0].parts[0].content"),
        ("instructions", "Be long.", "args.messages[0].instructions"),
        ("settings", ModelSettings(temperature=0.6), "args.settings.temperature"),
        ("extra_tool", True, "args.tools[1]"),
        ("output", bool, "args.output.mode"),
    ],
)
def test_what_the_model_is_asked_is_named_where_it_changed(name, value, path, program):
    _, recording = record(program)
    setattr(program, name, value)
    divergence = departure(program, recording)
    assert divergence.kind is Departure.CHANGED
    assert divergence.step == 1
    assert divergence.mismatches[0].path.startswith(path)


def test_the_texts_of_both_sides_are_shown(program):
    _, recording = record(program)
    program.prompt = "Cold?"
    assert "recorded 'Hot?', actual 'Cold?'" in str(departure(program, recording))


def test_one_more_run_is_extra(program):
    _, recording = record(program)
    program.more = 1
    divergence = departure(program, recording)
    assert divergence.kind is Departure.EXTRA
    assert "model:caller" in divergence.address


def test_one_run_less_is_missing(program):
    program.more = 1
    _, recording = record(program)
    program.more = 0
    divergence = departure(program, recording)
    assert divergence.kind is Departure.MISSING
    assert "model:caller" in divergence.address


def test_tools_let_through_run_while_the_model_stays_recorded(program):
    _, recording = record(program)
    program.provider.stop()
    before = program.ran
    # What the tools draw at random is drawn again as it was, so even their answers are the same.
    _, verdict = replay(program, recording, live=["tool"])
    assert program.ran == before + 2
    assert verdict.live == {"tool:degrees": 2}
    assert not verdict.divergences


def test_another_tool_answer_shows_in_the_next_question(program):
    _, recording = record(program)
    program.unit = " K"
    divergence = departure(program, recording, live=["tool"])
    assert divergence.kind is Departure.CHANGED
    assert divergence.mismatches[0].path == "args.messages[2].parts[0].content"


def test_an_edited_tool_is_tried_against_the_recorded_model(program):
    outputs, recording = record(program)
    program.provider.stop()
    program.unit = " K"
    again, verdict = replay(program, recording, live=["tool"], ignore=["args.messages[*].parts[*].content"])
    assert again == outputs
    assert verdict.rules == ("ignore args.messages[*].parts[*].content",)


def test_an_edited_program_keeps_the_answers_of_its_other_calls(program):
    program.more = 2
    outputs, recording = record(program)
    program.provider.stop()
    program.prompt = "Cold?"
    again, verdict = replay(program, recording, on_divergence="realign")
    assert again == outputs
    assert {d.kind for d in verdict.divergences} == {Departure.CHANGED}


def test_a_recorded_conversation_reads_well(program):
    _, recording = record(program)
    first = recording.step(1)
    assert first.args["messages"][0]["parts"][1] == {"content": "Hot?", "part_kind": "user-prompt"}
    assert first.args["tools"][0]["name"] == "degrees"
    assert first.output["parts"][0]["tool_name"] == "degrees"
    assert recording.step(2).args == {"city": "Bern"}
