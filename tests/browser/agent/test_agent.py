"""The agent against real pages: a scripted model decides, Chromium does it."""

from __future__ import annotations

import asyncio
import re
import threading
import time

import pytest
from pydantic import BaseModel
from pydantic_ai.exceptions import ModelHTTPError

import reenact
from reenact.errors import UsageError
from tests.browser.agent.conftest import SHOP, page
from tests.browser.agent.scripted import Scripted, click, done, element, fill

NAP = {"type": "wait", "time_ms": 20}


def ran(session, *answers, task="Buy green tea", max_steps=10, url=None, **options):
    """An agent that has run, its result, and its model."""
    model = Scripted(*answers)
    given = {name: options.pop(name) for name in ("response_format", "session_offset") if name in options}
    agent = reenact.Client().Agent(session, reasoning_model=model.model, max_steps=max_steps, **options)
    return agent, agent.run(task, url, **given), model


def test_a_task_is_done_and_the_answer_and_every_step_are_there(shop):
    agent, result, model = ran(
        shop, fill("Name", "Ada"), click("button", "Buy"), lambda told: done(re.search("sold .*", told)[0])
    )
    assert (result.success, result.status) == (True, "closed")
    assert result.answer == "sold green to Ada (0)"
    assert [(step["action"], step["success"], step["reasoning"]) for step in result.steps] == [
        ("fill", True, "because fill"),
        ("click", True, "because click"),
        ("completion", True, "because completion"),
    ]
    for step in result.steps:
        assert step["url"].startswith("data:")
        assert {"type", "value", "message"} <= step.keys()
    assert result.steps[1]["value"]["action"] == {
        "type": "click",
        "id": element(model.told[1], "button", "Buy"),
    }
    assert result.steps[1]["value"]["selectors"]
    assert result.created_at < result.closed_at
    assert (result.session_id, result.agent_id) == (shop.id, agent.agent_id)
    assert "Steps left: 10." in model.told[0]
    assert "fill(" in model.told[1]


@pytest.mark.thorough
def test_it_ends_with_as_many_steps_as_it_was_allowed(shop):
    agent, result, model = ran(shop, NAP, max_steps=3)
    assert agent.request.max_steps == len(result.steps) == 3
    assert result.success is False
    assert "3 steps" in result.answer
    assert "complete now" in model.told[-1]


@pytest.mark.thorough
def test_what_fails_is_told_to_the_model_which_finds_another_way(shop):
    def choose(option):
        return lambda told: {
            "type": "select_dropdown_option",
            "id": element(told, "combobox"),
            "value": option,
        }

    _, result, model = ran(shop, choose("red"), choose("red"), choose("black"), done("black"))
    assert [step["success"] for step in result.steps] == [False, False, True, True]
    assert "'green', 'black'" in result.steps[0]["message"]
    assert "'green', 'black'" in model.told[1]
    assert "failed 2 times in a row" in model.told[2]
    assert result.success


def test_an_impossible_action_is_told_back_and_costs_no_step(shop):
    _, result, model = ran(
        shop, {"type": "click", "id": "B77"}, {"type": "fill", "id": "I1"}, click("button"), done()
    )
    assert [step["action"] for step in result.steps] == ["click", "completion"]
    assert "there is no 'B77' on the page as it is now; it has B1" in model.told[1]
    assert "needs a field 'value'" in model.told[2]


def test_a_model_that_makes_no_sense_is_given_up(shop):
    _, result, model = ran(shop, {"type": "click", "id": "B77"})
    assert (result.success, len(result.steps)) == (False, 3)
    assert "3 answers in a row" in result.answer
    assert "B77" in result.answer
    assert [step["action"] for step in result.steps] == [None] * 3
    assert len(model.told) == 9


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            ModelHTTPError(401, "gpt-5", {"message": "no such key"}),
            "the model gpt-5 could not be asked .status 401.*no such key",
        ),
        (ConnectionError("nobody answers"), "nobody answers"),
    ],
)
def test_a_model_that_fails_ends_the_agent_and_the_answer_says_why(shop, error, words):
    _, result, _ = ran(shop, NAP, error)
    assert (result.status, result.success, len(result.steps)) == ("closed", False, 1)
    assert re.search(words, result.answer)
    assert shop.execute(type="reload").success


def test_it_says_when_only_a_person_can_go_on(shop):
    told = []
    _, result, _ = ran(shop, {"type": "help", "reason": "a code was sent to a phone"}, notifier=told.append)
    assert (result.success, result.answer) == (False, "it needs help: a code was sent to a phone")
    assert told == [result]


def test_a_notifier_that_fails_loses_no_result(shop, capfd):
    _, result, _ = ran(shop, done("all the same"), notifier=lambda _: 1 / 0)
    assert result.answer == "all the same"
    assert "notifier failed: ZeroDivisionError" in capfd.readouterr().err


class Sale(BaseModel):
    item: str
    price: float


@pytest.mark.thorough
@pytest.mark.parametrize("form", [Sale, Sale.model_json_schema()])
def test_an_answer_in_a_form_is_checked_and_comes_as_json(shop, form):
    _, result, model = ran(
        shop,
        done("green tea"),
        done({"item": "green"}),
        done({"item": "green", "price": 2}),
        response_format=form,
    )
    assert Sale.model_validate_json(result.answer) == Sale(item="green", price=2)
    assert len(result.steps) == 1
    assert '"price"' in model.told[0]
    assert "answer: it is to be JSON" in model.told[1]
    assert "price" in model.told[2]


def test_a_failure_needs_no_form(shop):
    _, result, _ = ran(shop, done("sold out", success=False), response_format=Sale)
    assert (result.success, result.answer) == (False, "sold out")


@pytest.mark.thorough
def test_it_begins_where_it_is_told_and_says_when_that_is_nowhere(session):
    _, result, model = ran(session, done(), url=page("<title>Elsewhere</title>"))
    assert result.success
    assert "Elsewhere at data:" in model.told[0]
    _, result, model = ran(session, done(), url="http://127.0.0.1:9/")
    assert not result.success
    assert "http://127.0.0.1:9/ cannot be opened" in result.answer
    assert not model.told


@pytest.mark.thorough
def test_it_knows_what_the_script_did_from_the_step_that_it_is_told(shop):
    offset = shop.offset()
    shop.execute(type="fill", selector="#pw", value="hunter2")
    shop.execute(type="click", selector="#none", timeout=1, raise_on_failure=False)
    _, _, model = ran(shop, done(), session_offset=offset)
    assert 'fill(selector="#pw"' in model.told[0]
    assert "click(" in model.told[0]
    assert "failed: " in model.told[0]
    assert "hunter2" not in model.told[0]
    _, _, model = ran(shop, done())
    assert "Done before" not in model.told[0]


@pytest.mark.thorough
def test_a_secret_is_filled_in_by_its_name_and_never_told(shop):
    _, result, model = ran(
        shop, fill("Password", "{{shop}}"), fill("Name", "{{nobody}}"), fill("Password", "clear"), click("button"), NAP, done(),
        vault={"shop": "correct horse"},
    )  # fmt: skip
    assert "sold green to {{nobody}} (5)" in model.told[-1]
    assert "{{shop}}" in model.told[0]
    everything = "\n".join(model.told) + repr(result)
    assert "correct horse" not in everything
    # What the model itself wrote into a password field it is not shown again.
    assert "clear" not in model.told[-1]
    shop.execute(type="reload")


@pytest.mark.thorough
def test_pictures_are_sent_where_they_are_wanted_and_taken(shop):
    _, _, model = ran(shop, NAP, done())
    assert model.pictures == 2
    _, _, model = ran(shop, NAP, done(), use_vision=False)
    assert model.pictures == 0
    refused = ModelHTTPError(400, "m", {"message": "no images"})
    agent, result, model = ran(shop, refused, NAP, done())
    assert result.success
    assert model.pictures == 1
    assert "refused the picture" in "\n".join(agent.watch_logs())


@pytest.mark.thorough
def test_it_works_in_the_background_is_watched_and_is_stopped(shop):
    model = Scripted(NAP)
    agent = reenact.Client().Agent(shop, reasoning_model=model.model, max_steps=500)
    with pytest.raises(UsageError, match="not started"):
        agent.status()
    assert agent.start("Wait").status == "active"
    seen = []
    for line in agent.watch_logs():
        seen.append(line)
        if line.startswith("step 3"):
            break
    with pytest.raises(UsageError, match="at work"):
        agent.start("Something else")
    assert len(agent.status().steps) >= 3
    stopped = agent.stop()
    assert (stopped.status, stopped.success, stopped.answer) == (
        "closed",
        False,
        "stopped before it was done",
    )
    assert 3 <= len(stopped.steps) < 500
    assert agent.wait() == agent.status() == stopped
    assert list(agent.watch_logs())[-1] == "not done: stopped before it was done"
    assert "step 1: wait(time_ms=20) (ok)" in seen


@pytest.mark.thorough
async def test_a_notebook_may_run_it_and_a_loop_may_await_it(shop):
    client = reenact.Client()
    assert client.Agent(shop, reasoning_model=Scripted(NAP, done("cell")).model).run("Wait").answer == "cell"
    agent = client.Agent(shop, reasoning_model=Scripted(NAP, done("loop")).model)
    assert (await agent.arun("Wait")).answer == "loop"
    await agent.astart("Again")
    lines = [line async for line in agent.watch_logs()]
    assert lines[-1] == "done: loop"
    assert (await agent.await_()).success
    nap = client.Agent(shop, reasoning_model=Scripted(NAP).model, max_steps=500)
    await nap.astart("Wait")
    await asyncio.sleep(0.05)
    assert (await nap.astop()).answer == "stopped before it was done"
    assert (await nap.watch_logs()).status == "closed"


@pytest.mark.thorough
def test_two_agents_in_one_program_are_told_apart_in_the_recording(shop):
    ran(shop, click("button", "Buy"), done(), task="Buy tea", agent_id="buyer")
    agent, _, _ = ran(shop, fill("Name", "Bob"), done(), task="Say Bob")
    steps = [step for step in reenact.load(shop.recording).steps if step.call.kind == "agent"]
    assert [step.args["task"] for step in steps][-2:] == ["Buy tea", "Say Bob"]
    assert steps[-2].call.scope.endswith("agent:buyer")
    models = [step for step in reenact.load(shop.recording).steps if step.call.kind == "model"]
    assert "agent:browser" in models[-1].call.scope
    code = agent.workflow.code()
    compile(code.python_script, "script.py", "exec")
    assert 'task="Say Bob"' in code.python_script
    assert "Buy tea" not in code.python_script
    assert [one["type"] for one in code.json_actions] == ["fill"]


@pytest.mark.thorough
@pytest.mark.parametrize("wrong", [{"max_steps": 0}, {"max_steps": True}, {"vault": ["x"]}, {"persona": 3}])
def test_arguments_that_cannot_be_are_refused_at_once(shop, wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        reenact.Client().Agent(shop, **wrong)


@pytest.mark.thorough
def test_a_session_that_ends_meanwhile_ends_its_agent(browser_here, tmp_path, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path))
    at_work = threading.Event()

    def nap(told):
        at_work.set()
        return NAP

    with reenact.Client().Session() as session:
        session.execute(type="goto", url=page(SHOP))
        agent = reenact.Client().Agent(session, reasoning_model=Scripted(nap).model, max_steps=500)
        agent.start("Wait")
        at_work.wait()
    result = agent.wait()
    assert (result.status, result.success) == ("closed", False)
    assert "the session has ended" in result.answer


@pytest.mark.thorough
def test_the_documents_programs_run_as_written(browser_here, tmp_path, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path))
    client = reenact.Client(api_key="unused", model=Scripted(NAP, done("info@example.com")).model)
    with client.Session() as session:
        agent = client.Agent(session=session, max_steps=10)
        agent.start(task="Find the contact email", url=page(SHOP))
        while (status := agent.status()).status == "active":
            time.sleep(0.05)
        assert status.success
        result = agent.wait()
        assert result.answer == "info@example.com"
        told = [
            f"{step['action']}: {step['success']} {step['message']} {step.get('url')} {step.get('reasoning')}"
            for step in result.steps
        ]
        assert len(told) == 2

        async def run_agent_task():
            return await client.Agent(session=session, reasoning_model=Scripted(done("async")).model).arun(
                task="Go"
            )

        assert asyncio.run(run_agent_task()).answer == "async"
        stubborn = client.Agent(session=session, max_steps=2, reasoning_model=Scripted(NAP).model)
        assert len(stubborn.run(task="Go").steps) == stubborn.request.max_steps
