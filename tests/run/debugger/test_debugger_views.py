"""How steps lie inside each other, what the model saw, and what differs."""

from __future__ import annotations

import reenact
from reenact.core.query.facts import RecordingFacts
from reenact.run.debugger.debugger_views import changed, compared, depths, holding, seen
from reenact.run.debugger.orders import Actual


@reenact.tool
def inner(n):
    return n


@reenact.tool
def middle(n):
    return inner(n) + inner(n + 1)


@reenact.tool
def outer(n):
    return middle(n)


@reenact.tool(kind="model", name="gpt")
def ask(messages):
    return {"choices": [{"message": {"role": "assistant", "content": "yes"}}]}


def _recorded():
    with reenact.record() as recording:
        inner(0)
        ask([{"role": "user", "content": "hello"}])
        outer(1)
    return RecordingFacts(reenact.load(recording.id))


def test_a_step_is_as_deep_as_the_calls_around_it(home):
    facts = _recorded()
    assert depths(facts) == [0, 0, 0, 1, 2, 2]
    assert holding(facts) == {3, 4}


def test_the_messages_of_a_step_are_those_of_the_last_model_call(home):
    facts = _recorded()
    assert [seen(facts, number) for number in (1, 2, 3, 6)] == [None, 2, 2, 2]


def test_what_is_asked_now_is_compared_part_by_part(home):
    step = _recorded().steps[1].step
    same = Actual(label="model:gpt", args={"messages": [{"role": "user", "content": "hello"}]})
    other = Actual(label="model:gpt", args={"messages": [{"role": "user", "content": "bye"}]})
    assert compared(step, same) == []
    (mismatch,) = compared(step, other)
    assert (mismatch.path, mismatch.recorded, mismatch.actual) == ("args.messages[0].content", "hello", "bye")


def test_changes_of_the_state_are_named_by_their_paths():
    (mismatch,) = changed({"memory": {"a": 1, "b": 2}}, {"memory": {"a": 1, "b": 3}})
    assert (mismatch.path, mismatch.recorded, mismatch.actual) == ("memory.b", 2, 3)
    assert changed({"memory": 1}, {"memory": 1}) == []
