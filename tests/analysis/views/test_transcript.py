"""A recording as a conversation: its pages are the same in whatever order they are asked for."""

from __future__ import annotations

import reenact
from reenact.analysis.views.transcript import Talk
from reenact.core.query.facts import RecordingFacts


@reenact.tool(kind="model", name="gpt-4o")
def model(messages):
    return {"choices": [{"message": {"role": "assistant", "content": f"{len(messages)} messages"}}]}


@reenact.tool
def look(order):
    return f"order {order} is on its way"


def result(order):
    return {"role": "tool", "name": "look", "tool_call_id": "1", "content": f"order {order} is on its way"}


def run():
    """The first prompt has a result of before the run; a tool gives the same one later."""
    messages = [{"role": "user", "content": "Where are they?"}, result(1)]
    model(list(messages))
    for order in (1, 2):
        look(order)
        messages.append(result(order))
        model(list(messages))


def test_a_tools_result_stands_at_its_call_and_not_again_in_the_next_prompt(tmp_path):
    with reenact.record("shop", home=tmp_path) as made:
        run()
    steps = len(reenact.load(made.path).steps)
    pages = []
    for order in (range(1, steps + 1), range(steps, 0, -1)):
        talk = Talk(RecordingFacts(reenact.load(made.path)))
        found = {number: talk.page(number, number, [0] * steps).items for number in order}
        pages.append(
            [(item.step, item.part, item.text) for number in sorted(found) for item in found[number]]
        )
    assert pages[0] == pages[1]
    assert pages[0] == [
        (1, "asked", "Where are they?"),
        (1, "asked", "order 1 is on its way"),
        (1, "answer", "2 messages"),
        (2, "done", "order 1 is on its way"),
        (3, "answer", "3 messages"),
        (4, "done", "order 2 is on its way"),
        (5, "answer", "4 messages"),
    ]


def test_what_is_read_anew_forgets_the_results_from_there_on(tmp_path):
    with reenact.record("shop", home=tmp_path) as made:
        run()
    talk = Talk(RecordingFacts(reenact.load(made.path)))
    before = talk.page(1, 5, [0] * 5)
    talk.forget(3)
    assert talk.page(1, 5, [0] * 5) == before
    talk.forget(1)
    assert talk.page(5, 5, [0] * 5).items == before.items[-1:]
