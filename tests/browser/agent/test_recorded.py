"""An agent's run in a recording: replayed elsewhere without browser or model, forked at a decision."""

from __future__ import annotations

import json
import re
import sys

import pytest

import reenact
from tests.browser.agent.conftest import SHOP, page
from tests.browser.agent.scripted import Scripted, click, done, fill

APP = """
import json
import re
import sys
from pathlib import Path

from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from reenact import Client

PAGE = "data:text/html,<title>Shop</title><button onclick=said.textContent='sold'>Buy</button><p id=said>full</p>"
STEPS = [{"type": "click", "id": "B1"}, {"type": "scrape"}, {"type": "completion", "answer": "bought"}]


def decide(messages, info):
    asked = Path("asked.txt")
    number = len(asked.read_text()) if asked.exists() else 0
    asked.write_text("x" * (number + 1))
    args = json.dumps({"reasoning": "so", **STEPS[number]})
    return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, args)])


with Client().Session() as session:
    agent = Client().Agent(session, reasoning_model=FunctionModel(decide, model_name="scripted"))
    agent.start("Buy", url=PAGE)
    for line in agent.watch_logs():
        print(line)
    result = agent.wait()
    print(result.success, result.answer, result.created_at, result.closed_at, result.agent_id, result.session_id)
    print(result.steps[1]["value"]["data"])
"""


def sold(told):
    """The end, with what the page says."""
    return done(re.search("sold [^\n]*", told)[0])


@pytest.mark.thorough
def test_another_process_replays_it_without_browser_and_model(browser_here, shell):
    shell.write("app.py", APP)
    first = shell.run("record", "--", sys.executable, "app.py")
    assert first.status == 0, first.err
    assert "sold" in first.out
    again = shell.run("replay", "last", env={"REENACT_BROWSER": "/nowhere"})
    assert (again.status, again.out) == (0, first.out), again.err
    assert "3 model" in again.err
    assert (shell.folder / "asked.txt").read_text() == "xxx"


@pytest.mark.thorough
def test_decisions_are_done_on_a_living_page_and_edited_they_lead_to_another_future(
    browser_here, tmp_path, monkeypatch
):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path))
    answers = [fill("Name", "Ada"), click("button"), sold]

    def program():
        model = Scripted(*answers)
        with reenact.Client().Session() as session:
            agent = reenact.Client().Agent(session, reasoning_model=model.model, use_vision=False)
            return agent.run("Buy", url=page(SHOP)).answer

    with reenact.record("buyer") as recording:
        recording.output = program()
    with reenact.replay(recording.id, live=["browser"], policy=["browser=live"]) as replay:
        replay.output = program()
    assert replay.output == recording.output
    assert (replay.verdict.divergences, replay.verdict.kinds["model"]) == ((), 3)
    assert replay.verdict.live["browser:click"] == 1
    first = recording.load()
    decision = next(step for step in first.steps if step.call.kind == "model")

    def bob(answer):
        call = answer["parts"][0]
        call["args"] = json.dumps(
            {**json.loads(call["args"]), "action": {"type": "fill", "id": "I2", "value": "Bob"}}
        )
        return answer

    # The first decision is not asked for again: it is the edited one.
    del answers[0]
    forked = first.fork(at=decision.number, edit=bob, program=program, policy="browser=live")
    filled = [step.args["value"] for step in forked.steps if step.label == "browser:fill"]
    assert filled == ["Bob"]
    assert forked.output == "sold green to Bob (0)"
    assert forked.status == "ok"


@pytest.mark.thorough
def test_two_agents_at_once_in_two_sessions_replay_each_its_own(browser_here, tmp_path, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path))
    asked = []

    def program():
        client = reenact.Client()
        with client.Session() as one, client.Session() as two:
            agents = []
            for session, name in ((one, "Ada"), (two, "Bob")):
                model = Scripted(fill("Name", name), click("button"), sold)
                asked.append(model.told)
                agents.append(client.Agent(session, reasoning_model=model.model, use_vision=False))
                agents[-1].start(f"Buy for {name}", url=page(SHOP))
            return [agent.wait().answer for agent in agents]

    with reenact.record("two") as recording:
        recording.output = program()
    assert recording.output == ["sold green to Ada (0)", "sold green to Bob (0)"]
    monkeypatch.setenv("REENACT_BROWSER", "/nowhere")
    asked.clear()
    with reenact.replay(recording.id) as replay:
        replay.output = program()
    assert replay.verdict.faithful
    assert replay.output == recording.output
    assert asked == [[], []]
