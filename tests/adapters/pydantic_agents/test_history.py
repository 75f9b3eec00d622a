"""A long chat's messages are encoded once, and yet what a program changes in them is never missed."""

from __future__ import annotations

import asyncio
import copy
import gc
import threading

import pytest
from pydantic import BaseModel
from pydantic_ai.direct import model_request
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage

import reenact
from reenact import Departure
from reenact.adapters.pydantic_ai import history, message
from reenact.adapters.pydantic_ai.history import Histories
from reenact.core.model import codec


class Row(BaseModel):
    """What a tool may return."""

    count: int


class Loud(UserPromptPart):
    """A part of the program's own."""


class Refuses:
    """Cannot be compared."""

    __hash__ = None

    def __eq__(self, other):
        raise ValueError("ambiguous")


def chat():
    """A history with a bit of everything, made anew."""
    return [
        ModelRequest(parts=[SystemPromptPart("Be brief."), UserPromptPart("one")], instructions="now"),
        ModelResponse(parts=[ThinkingPart("hm"), ToolCallPart("look", {"deep": [{"n": 1}], "yes": True})]),
        ModelRequest(parts=[ToolReturnPart("look", {"rows": [1, 2], "row": Row(count=1)}, tool_call_id="a")]),
        ModelResponse(parts=[ToolCallPart("look", {}), ToolCallPart("look", {}, tool_call_id="b")]),
        ModelRequest(parts=[UserPromptPart(["see", ImageUrl("http://x.invalid/a.png")])]),
        ModelResponse(
            parts=[TextPart("done")], usage=RequestUsage(input_tokens=1), provider_details={"n": 1}
        ),
    ]


def encoded(histories, messages):
    """What would be recorded."""
    return codec.packed(codec.Encoder().encode(histories.encoded(messages)))


def afresh(messages):
    """The same without a memory."""
    return encoded(Histories(), messages)


def known(messages):
    """Histories that have had these messages, twice."""
    histories = Histories()
    assert encoded(histories, messages) == encoded(histories, messages) == afresh(messages)
    return histories


CHANGES = {
    "a text": lambda m: setattr(m[0].parts[1], "content", "two"),
    "a text by another way": lambda m: m[0].parts[1].__dict__.update(content="two"),
    "a message's own field": lambda m: setattr(m[0], "instructions", "later"),
    "a field taken away": lambda m: setattr(m[0], "instructions", None),
    "an argument, deep": lambda m: m[1].parts[1].args["deep"][0].update(n=2),
    "a number of another type": lambda m: m[1].parts[1].args["deep"][0].update(n=1.0),
    "true for one": lambda m: m[1].parts[1].args["deep"][0].update(n=True),
    "one for true": lambda m: m[1].parts[1].args.update(yes=1),
    "one more argument": lambda m: m[1].parts[1].args.update(more=None),
    "arguments of another shape": lambda m: setattr(m[1].parts[1], "args", "{}"),
    "a result's list": lambda m: m[2].parts[0].content["rows"].append(3),
    "a result's model": lambda m: setattr(m[2].parts[0].content["row"], "count", 2),
    "a call's id": lambda m: setattr(m[3].parts[1], "tool_call_id", "c"),
    "a made-up id for another's": lambda m: setattr(
        m[3].parts[0], "tool_call_id", m[1].parts[1].tool_call_id
    ),
    "a prompt's list": lambda m: m[4].parts[0].content.insert(0, "please"),
    "an image's address": lambda m: setattr(m[4].parts[0].content[1], "url", "http://x.invalid/b.png"),
    "details": lambda m: m[5].provider_details.update(n=True),
    "details put in the place of none": lambda m: setattr(m[1], "provider_details", {}),
    "a set for what looks like one": lambda m: m[2].parts[0].content.update(rows={"$set": [1, 2]}),
    "a set": lambda m: m[2].parts[0].content.update(rows={1, 2}),
    "an object of the program's": lambda m: setattr(m[5].parts[0], "content", object()),
    "one that cannot be compared": lambda m: setattr(m[0].parts[1], "content", Refuses()),
    "one more part": lambda m: m[5].parts.append(TextPart("really")),
    "one part less": lambda m: m[1].parts.pop(0),
    "parts in another order": lambda m: m[0].parts.reverse(),
    "another kind of part": lambda m: m[0].parts.__setitem__(0, UserPromptPart("Be brief.")),
    "a part of the program's own": lambda m: m[0].parts.__setitem__(1, Loud("one")),
    "an image's bytes": lambda m: m[4].parts[0].content.append(BinaryContent(b"\xff", media_type="x/y")),
    "a message between": lambda m: m.insert(2, ModelResponse(parts=[TextPart("wait")])),
    "a message less": lambda m: m.pop(2),
    "the last one less": lambda m: m.pop(),
    "two in another order": lambda m: m.insert(3, m.pop(5)),
    "another last one": lambda m: m.__setitem__(5, ModelResponse(parts=[TextPart("undone")])),
}


@pytest.mark.sampled
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_changed_in_place_is_encoded_as_it_stands_now(change):
    messages = chat()
    histories = known(messages)
    before = afresh(messages)
    change(messages)
    assert encoded(histories, messages) == afresh(messages) != before
    # And once more, now that this is what is known.
    assert encoded(histories, messages) == afresh(messages)
    messages.append(ModelRequest(parts=[UserPromptPart("more")]))
    assert encoded(histories, messages) == afresh(messages)


@pytest.mark.thorough
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_that_is_taken_back_is_taken_back_here_too(change):
    messages = chat()
    histories = known(messages)
    changed = copy.deepcopy(messages)
    change(changed)
    for history_now in (changed, messages, changed, messages):
        assert encoded(histories, history_now) == afresh(history_now)


def test_a_set_is_told_from_a_dict_that_looks_like_its_tag():
    messages = chat()
    messages[2].parts[0].content = {"$set": [1, 2]}
    histories = known(messages)
    messages[2].parts[0].content = {1, 2}
    assert encoded(histories, messages) == afresh(messages)


def test_a_part_that_is_replaced_by_its_equal_is_the_one_that_is_watched_from_then_on():
    messages = chat()
    histories = known(messages)
    twin = copy.copy(messages[0].parts[1])
    messages[0].parts[1] = twin
    assert encoded(histories, messages) == afresh(messages)
    twin.content = "two"
    assert encoded(histories, messages) == afresh(messages)
    assert b'"two"' in encoded(histories, messages)


def test_made_up_ids_keep_their_numbers_when_a_message_before_them_goes():
    messages = chat()
    histories = known(messages)
    del messages[1]
    assert b"pyd_ai_0" in afresh(messages)
    assert encoded(histories, messages) == afresh(messages)


def test_what_never_reaches_the_model_may_change_and_nothing_does():
    messages = chat()
    histories = known(messages)
    before = afresh(messages)
    messages[0].run_id = "another"
    messages[5].usage.input_tokens = 7
    messages[5].metadata = {"trace": 1}
    assert encoded(histories, messages) == before


def test_a_growing_history_has_each_message_encoded_once(monkeypatch):
    messages, count = [ModelRequest(parts=[UserPromptPart("0")])], []
    real = message.encoded
    monkeypatch.setattr(message, "encoded", lambda *args: count.append(args[0]) or real(*args))
    histories = Histories()
    for number in range(1, 50):
        histories.encoded(messages)
        messages.append(ModelResponse(parts=[TextPart(str(number))]))
    # The first request's is encoded again with the second, when it is known that there is a history.
    assert len(count) == 50
    assert encoded(histories, messages) == afresh(messages)


def test_a_message_that_was_only_touched_up_costs_itself_and_no_other(monkeypatch):
    messages, count = chat(), []
    histories = known(messages)
    messages[0].parts[1].content = "two"
    real = message.encoded
    monkeypatch.setattr(message, "encoded", lambda *args: count.append(args[0]) or real(*args))
    histories.encoded(messages)
    assert count == [messages[0]]


def test_many_histories_take_turns_and_few_are_kept():
    histories = Histories()
    chats = [chat() for _ in range(3 * history._MOST)]
    for messages in (*chats, *chats, *reversed(chats)):
        assert encoded(histories, messages) == afresh(messages)
    assert len(histories._known) <= history._MOST


def test_threads_that_share_a_beginning_do_not_mix_up_their_ends():
    histories, begun, wrong = Histories(), chat(), []

    def ask(name):
        for number in range(100):
            messages = [*begun, ModelRequest(parts=[UserPromptPart(f"{name} {number}")])]
            if encoded(histories, messages) != afresh(messages):
                wrong.append(name)

    threads = [threading.Thread(target=ask, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_no_messages_are_no_history():
    assert afresh([]) == b"[]"


def program(histories, *, mutate):
    """Two requests on one history, changed in between or not."""

    async def answer(messages, info):
        histories.append(len(messages))
        return ModelResponse(parts=[TextPart(str(len(histories)))])

    async def main():
        model = FunctionModel(answer, model_name="parrot")
        messages = [ModelRequest(parts=[UserPromptPart(["one", "more"])])]
        for number in range(4):
            messages.append(await model_request(model, messages))
            messages.append(ModelRequest(parts=[UserPromptPart(f"again {number}")]))
            if mutate and number == 2:
                messages[0].parts[0].content[1] = "less"

    asyncio.run(main())


@pytest.mark.thorough
def test_a_message_that_is_mutated_between_two_requests_is_recorded_and_matched_as_mutated():
    asked = []
    with reenact.record("chat") as recording:
        program(asked, mutate=True)
    first = [step.args["messages"][0]["parts"][0]["content"] for step in reenact.load(recording.id)]
    assert first == [["one", "more"]] * 3 + [["one", "less"]]
    with reenact.replay(recording.id) as replay:
        program(asked, mutate=True)
    assert replay.verdict.faithful
    assert len(asked) == 4
    with pytest.raises(reenact.DivergenceError) as raised, reenact.replay(recording.id):
        program(asked, mutate=False)
    assert raised.value.divergence.kind is Departure.CHANGED
    assert raised.value.divergence.step == 4
    assert [m.path for m in raised.value.divergence.mismatches] == ["args.messages[0].parts[0].content[1]"]


def test_a_recording_that_is_over_keeps_no_messages_alive():
    others = list(history._runs.values())  # of other tests, whose tasks may live on
    with reenact.record("chat"):
        program([], mutate=False)
    gc.collect()
    assert [one for one in history._runs.values() if one not in others] == []
