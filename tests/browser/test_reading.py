"""What a language model makes of a page, as an effect of its own."""

from __future__ import annotations

import asyncio

import pydantic
import pytest
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

import reenact
from reenact.errors import UsageError


class Order(pydantic.BaseModel):
    title: str
    fields: int


def answer(messages, info):
    """Reads a page as a model would that finds its title and counts its lines."""
    prompt = str(messages[0].parts[-1].content)
    title = prompt.partition("# The page\n# ")[2].splitlines()[0]
    if info.output_tools:
        return ModelResponse([ToolCallPart(info.output_tools[0].name, {"title": title, "fields": 2})])
    return ModelResponse([TextPart(f"It is called {title}.")])


@pytest.fixture
def program(open_session, site):
    def run():
        with open_session(model=FunctionModel(answer)) as session:
            session.execute(type="goto", url=site("form.html"))
            return (
                session.scrape("What is it called?"),
                session.scrape(response_format=Order),
                session.execute(type="scrape", instructions="Its name?").data,
            )

    return run


def test_instructions_and_formats_are_answered_by_the_model_and_replayed(program, tmp_path):
    with reenact.record("read", home=tmp_path) as recording:
        first = program()
    assert first == ("It is called Order.", Order(title="Order", fields=2), "It is called Order.")
    labels = [step.label for step in reenact.load(recording.path).steps]
    assert labels[2:4] == ["browser:scrape", "model:function:answer:"]
    with reenact.replay(recording.id, home=tmp_path) as replay:
        assert program() == first
    assert replay.verdict.divergence is None


@pytest.mark.thorough
def test_where_a_loop_runs_already_it_is_answered_too(program):
    async def cell():
        return program()[0]

    assert asyncio.run(cell()) == "It is called Order."


@pytest.mark.thorough
def test_without_a_model_it_says_how_to_name_one(open_session, site):
    with open_session(save_replay_on="never") as session:
        session.execute(type="goto", url=site("form.html"))
        with pytest.raises(
            UsageError,
            match="no model is named: give model='openai:gpt-5' .* or set REENACT_MODEL",
        ):
            session.scrape("What is it called?")
