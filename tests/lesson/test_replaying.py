"""A replay model gives a session's answers strictly in order, and refuses what was not asked then."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from pydantic_ai.models.function import FunctionModel

import reenact
from reenact.analysis.interchange import importers
from reenact.core.store.local import LocalStore
from reenact.errors import DivergenceError, UsageError
from reenact.lesson import SessionRecord, arecord_session, create_replay_model, record_session
from tests.lesson.conftest import ASKED, SAID


@pytest.fixture
def session(shop):
    session = record_session(shop.agent(), ASKED)[1]
    shop.asked.clear()
    return session


def replayed(shop, model, asked=ASKED, **agent):
    agent = shop.agent(**agent)
    with agent.override(model=model):
        return agent.run_sync(asked).output


def test_the_model_is_the_recorded_one_and_the_tools_are_real(shop, session):
    model = create_replay_model(session)
    assert isinstance(model, FunctionModel)
    assert replayed(shop, model) == SAID
    assert shop.asked == [("lookup_order", "ORD-5521"), ("cancel_order", "ORD-5521", "wrong item")]
    assert (model.left, model.divergence, model.missing()) == (0, None, None)


@pytest.mark.thorough
def test_it_is_made_of_a_record_a_dict_a_file_or_a_recording(shop, session, tmp_path):
    file = session.save(tmp_path / "s.json")
    for source in (session, json.loads(file.read_text()), file, str(file), reenact.load("last")):
        assert replayed(shop, create_replay_model(source)) == SAID


@pytest.mark.thorough
def test_another_question_is_a_departure_with_its_place(shop, session):
    model = create_replay_model(session)
    with pytest.raises(DivergenceError, match=r"CHANGED at step 1, .*messages\[0\].parts\[1\].content"):
        replayed(shop, model, "Cancel everything")
    assert shop.asked == []


def test_a_tool_that_answers_otherwise_is_a_departure_before_the_next_answer(shop, session):
    shop.status = "delivered, non-cancellable"
    with pytest.raises(
        DivergenceError, match=r"CHANGED at step 2, .*recorded .*shipped.*actual .*non-cancellable"
    ):
        replayed(shop, create_replay_model(session))
    assert shop.asked == [("lookup_order", "ORD-5521")]


def test_other_instructions_are_a_departure(shop, session):
    with pytest.raises(DivergenceError, match=r"parts\[0\].content: recorded 'You help"):
        replayed(shop, create_replay_model(session), instructions="Be brief.")


def test_a_part_may_be_left_out_of_the_comparison_by_name(shop, session):
    shop.status = "delivered"
    model = create_replay_model(session, ignore=["args.messages[*].parts[*].content"])
    assert replayed(shop, model) == SAID


def test_a_departure_stays_one_though_somebody_caught_it(shop, session):
    model = create_replay_model(session)
    for _ in range(2):
        with pytest.raises(DivergenceError, match="CHANGED at step 1"):
            replayed(shop, model, "something else")
    with pytest.raises(DivergenceError, match="CHANGED at step 1"):
        replayed(shop, model)


@pytest.mark.thorough
def test_more_questions_than_answers_are_a_departure_that_says_what_to_do(shop, session):
    model = create_replay_model(session)
    replayed(shop, model)
    with pytest.raises(DivergenceError, match=r"EXTRA .* has 3 answers, and all were given .*makes another"):
        replayed(shop, model)


@pytest.mark.thorough
def test_answers_that_nobody_asked_for_are_named(shop, session):
    model = create_replay_model(session)
    assert str(model.missing()).startswith("MISSING at step 1")


def test_it_streams(shop):
    async def streamed():
        _, session = await arecord_session(shop.agent(), ASKED)
        model, agent = create_replay_model(session), shop.agent()
        with agent.override(model=model):
            async with agent.run_stream(ASKED) as result:
                return await result.get_output(), model.left

    assert asyncio.run(streamed()) == (SAID, 0)
    assert len(shop.asked) == 4


@pytest.mark.thorough
def test_earlier_turns_come_along_as_history(shop):
    agent = shop.agent()
    first = agent.run_sync(ASKED)
    with reenact.record("second"):
        agent.run_sync("Thanks!", message_history=first.all_messages())
    model = create_replay_model(reenact.load("last"))
    with agent.override(model=model):
        assert agent.run_sync("Thanks!", message_history=first.all_messages()).output == SAID


def test_a_session_of_the_lessons_own_code_replays_as_far_as_it_tells(shop, session):
    theirs = json.loads(json.dumps(session.__dict__))
    theirs["messages"][0]["parts"].insert(0, {"kind": "system-prompt"})
    theirs["instructions"] = None
    agent = shop.agent(instructions=None)
    agent.system_prompt(lambda: "You are kind.")
    with agent.override(model=create_replay_model(theirs)):
        assert agent.run_sync(ASKED).output == SAID


def test_what_is_no_session_is_refused():
    with pytest.raises(UsageError, match="a int is no session"):
        create_replay_model(3)
    with pytest.raises(UsageError, match="holds no answer"):
        create_replay_model(SessionRecord("x"))
    with pytest.raises(UsageError, match="begins with `args`"):
        create_replay_model(SessionRecord("x"), ignore=["messages"])


def test_within_a_recording_it_is_a_model_like_any_other(shop, session):
    with reenact.record("again"):
        replayed(shop, create_replay_model(session))
    labels = [step.call.label for step in reenact.load("last")]
    model = "model:function:gpt-4o"
    assert labels == [model, "tool:lookup_order", model, "tool:cancel_order", model]


def test_an_imported_cassette_of_another_library_replays_through_pydantic_ai(shop, tmp_path):
    # What a Pydantic AI agent asks at its own interface is not in a cassette; the answers are.
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "lookup_order", "arguments": '{"order_id": "7"}'},
    }
    asked = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Where is 7?"}]
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    told = {"role": "tool", "tool_call_id": "call_1", "content": "Order 7: 2x Widget Pro, status: shipped"}
    cassette = tmp_path / "c.json"
    cassette.write_text(json.dumps({"interactions": [
        _exchange(asked, said), _exchange([*asked, said, told], {"role": "assistant", "content": "On its way."}),
    ]}))  # fmt: skip
    store = LocalStore(tmp_path / "imported")
    _, (id,) = importers.bring(store, cassette)
    model = create_replay_model(store.load(id))
    assert replayed(shop, model, "Where is 7?", instructions="Be kind.") == "On its way."
    assert shop.asked == [("lookup_order", "7")]


def _exchange(asked, said):
    body = json.dumps({"model": "gpt-4o", "messages": asked})
    answer = json.dumps({"model": "gpt-4o", "choices": [{"message": said}]})
    return {
        "request": {
            "method": "POST",
            "uri": "https://api.openai.com/v1/chat/completions",
            "body": body,
            "headers": {},
        },
        "response": {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": answer}},
    }


def test_no_request_leaves_the_process(shop, session, monkeypatch):
    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", lambda *_: pytest.fail("a request"))
    assert replayed(shop, create_replay_model(session)) == SAID
