"""A model's answer: read as it was meant, refused in one line where it makes no sense."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel, ValidationError

from reenact.browser.agent.decision import Decision, decision_of, formed


class Price(BaseModel):
    item: str
    cents: int


@pytest.mark.parametrize(
    "written",
    [
        {"reasoning": "it is there", "action": {"type": "fill", "id": "I1", "value": "x"}},
        {"action": {"type": "fill", "id": "I1", "value": "x", "url": "", "amount": None, "success": None}},
        {"type": "fill", "id": "I1", "value": "x"},
        {"action": "fill", "id": "I1", "value": "x"},
        {"action": {"fill": {"id": "I1", "value": "x"}}},
        {"action": '{"type": "fill", "id": "I1", "value": "x"}'},
        {"action": {"type": "fill", "id": "I1", "value": "x", "key": "Enter"}},
    ],
)
def test_an_action_is_understood_in_every_way_that_models_write_it(written):
    assert Decision.model_validate(written).action == {"type": "fill", "id": "I1", "value": "x"}


def test_false_is_a_value_and_nothing_is_none():
    action = Decision.model_validate({"action": {"type": "check", "id": "I1", "value": False}}).action
    assert action == {"type": "check", "id": "I1", "value": False}
    assert Decision.model_validate({"action": {"type": "completion"}}).action == {
        "type": "completion",
        "success": True,
        "answer": "",
    }


@pytest.mark.parametrize(
    "written", [{}, {"action": {"type": "fly"}}, {"action": None}, {"action": {"type": "evaluate_js"}}, []]
)
def test_what_is_no_action_is_refused(written):
    with pytest.raises(ValidationError):
        Decision.model_validate(written)


def test_an_answer_takes_the_form_that_is_asked_for():
    kind = decision_of(Price)
    action = {"type": "completion", "success": True, "answer": {"item": "tea", "cents": 250}}
    assert formed(kind.model_validate({"action": action}).answer, Price) == '{"item":"tea","cents":250}'
    assert formed('{"item": "tea", "cents": "250"}', Price) == '{"item":"tea","cents":250}'
    assert "Price" in json.dumps(kind.model_json_schema())


@pytest.mark.parametrize(
    ("answer", "form", "where"),
    [
        ("it is 250", Price, "answer"),
        ({"item": "tea"}, Price, "answer.cents"),
        ({"item": 3}, {"type": "object", "properties": {"item": {"type": "string"}}}, "answer.item"),
    ],
)
def test_an_answer_of_another_form_is_named_by_its_place(answer, form, where):
    with pytest.raises(ValueError, match=where):
        formed(answer, form)
