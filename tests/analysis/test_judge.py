"""A language model's finding is one among the others, and marked."""

from __future__ import annotations

import pytest
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

import reenact
from reenact.analysis.anomalies import judge
from reenact.core.query.facts import RecordingFacts
from reenact.errors import UsageError
from tests.analysis.conftest import does, says


def judging(**opinion):
    """A model that has that opinion of every run, and keeps what it was told."""
    heard = []

    def answer(messages, info):
        heard.append(messages[-1].parts[-1].content)
        return ModelResponse([ToolCallPart(info.output_tools[0].name, opinion)])

    model = FunctionModel(answer)
    return model, heard


def test_the_judges_finding_is_marked_as_such(kept):
    model, heard = judging(step=2, reason="The price was made up.", quote="$512")
    recording = kept(does("look"), says("It costs $512."))
    found = [one for one in reenact.anomalies(recording, judge=model, settings={}) if one.rule == "judge"]
    assert [(one.step, one.severity, one.sentence, one.evidence) for one in found] == [
        (2, "warning", "The price was made up.", "$512")
    ]
    assert "step 1: tool:look" in heard[0]
    assert "answer: It costs $512." in heard[0]


def test_a_judge_that_finds_nothing_adds_nothing(kept):
    model, _ = judging(step=0, reason="")
    assert reenact.anomalies(kept(says("hello")), judge=model, settings={}) == []


def test_a_step_that_there_is_not_is_said(kept):
    model, _ = judging(step=99, reason="Odd.")
    (found,) = reenact.anomalies(kept(says("hello")), judge=model, settings={})
    assert found.step is None
    assert "names step 99, which there is not" in found.sentence


def test_a_judge_that_does_not_answer_as_asked_costs_one_line(kept):
    model = FunctionModel(lambda *_: ModelResponse([TextPart("no idea")]))
    with pytest.raises(UsageError, match="the judge .* could not be asked: ") as raised:
        reenact.anomalies(kept(says("hello")), judge=model, settings={})
    assert "\n" not in str(raised.value)


def test_a_judge_that_there_is_not_costs_one_line(kept):
    with pytest.raises(UsageError, match="the judge nobody:nothing could not be asked"):
        reenact.anomalies(kept(says("hello")), judge="nobody:nothing", settings={})


def test_without_pydantic_ai_the_judge_says_what_to_install(kept, monkeypatch):
    known = judge.importlib.import_module

    def absent(name):
        if name.startswith("pydantic_ai"):
            raise ImportError(name)
        return known(name)

    monkeypatch.setattr(judge.importlib, "import_module", absent)
    with pytest.raises(UsageError, match="pip install pydantic-ai-slim"):
        reenact.anomalies(kept(says("hello")), judge="openai:gpt-4o", settings={})


def test_a_long_run_is_told_in_short(kept):
    recording = kept(*[does("look", {"n": n}, "x" * 5000) for n in range(300)])
    assert len(judge.told(RecordingFacts(recording))) <= 2 * 60_000 + 10
