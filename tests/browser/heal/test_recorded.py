"""A block in a recording: replayed in another process without browser and model, shown by actor, written as a script."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

import reenact
from reenact.browser.camera.footage import sessions
from reenact.browser.video import facts
from reenact.cli import main
from tests.browser.agent.conftest import SHOP, page
from tests.browser.watch.test_content import inside
from tests.hints import followed

PROGRAM = """
import json
import os
from pathlib import Path

from playwright.async_api import Error
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from reenact import Client

PAGE = os.environ["PAGE"]
STEPS = [{"type": "click", "id": "B1"}, {"type": "completion", "success": True, "answer": "bought"}]


def decide(messages, info):
    asked = Path("asked.txt")
    number = len(asked.read_text()) if asked.exists() else 0
    asked.write_text("x" * (number + 1))
    args = json.dumps({"reasoning": "so", **STEPS[number % 2]})
    return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, args)])


def sold(session):
    Path("judged.txt").write_text("yes")
    return "sold green" in session.execute(type="scrape").data


client = Client()
with client.Session() as session:
    session.execute(type="goto", url=PAGE)
    model = FunctionModel(decide, model_name="scripted")
    with client.AgentFallback(session, task="Buy tea", expect=sold, reasoning_model=model) as fb:
        session.execute(type="fill", selector="#name", value="Ada")
        print(session.execute(type="click", selector="#gone", timeout=1).message)
        print(session.execute(type="click", selector="#gone").message)
    print(fb.success, fb.error, fb.duration, fb.cost, fb.skipped, fb.agent_response.answer, len(fb.steps))
    with client.AgentFallback(session, task="Buy more", expect="sold green", reasoning_model=model) as fb:
        try:
            session.page.click("#gone", timeout=50)
        except Error as error:
            print(error)
        session.page.click("text=Buy")
    print(fb.success, fb.error, fb.skipped)
    with client.AgentFallback(session, task="Look", heal="off") as fb:
        session.execute(type="wait", time_ms=0)
    print(fb.success)
"""


@pytest.fixture(scope="module")
def program(browser_here, tmp_path_factory):
    """The program, recorded."""
    from tests.conftest import Shell

    shell = Shell(tmp_path_factory.mktemp("program"))
    shell.environ["PAGE"] = page(SHOP)
    shell.write("app.py", PROGRAM)
    shell.first = shell.run("record", "--", sys.executable, "app.py")
    assert shell.first.status == 0, shell.first.err
    return shell


@pytest.mark.thorough
def test_another_process_replays_it_without_browser_model_and_function(program):
    (program.folder / "judged.txt").unlink()
    again = program.run("replay", "last", env={"REENACT_BROWSER": "/nowhere"})
    assert (again.status, again.out) == (0, program.first.out), again.err
    assert "faithful" in again.err
    assert (program.folder / "asked.txt").read_text() == "xxxx"
    assert not (program.folder / "judged.txt").exists()


def test_it_is_told_in_the_recording_who_did_what(program):
    steps = program.last().steps
    acted = [
        (step.label, step.output.get("actor"))
        for step in steps
        if step.label in {"browser:fill", "browser:click"}
    ]
    assert acted == [
        ("browser:fill", "script"), ("browser:click", "script"), ("browser:click", "agent"), ("browser:click", "agent"),
    ]  # fmt: skip
    verdicts = [(step.args["expect"], step.output["state"]) for step in steps if step.label == "heal:verdict"]
    assert verdicts == [({"function": "sold"}, "met"), ({"text": "sold green"}, "met")]
    assert [step.args["action"]["type"] for step in steps if step.label == "heal:skip"] == [
        "click",
        "page.click",
    ]


@pytest.mark.thorough
def test_the_video_and_the_page_to_watch_tell_script_and_agent_apart(program):
    (footage,) = sessions(Path(program.last().path))
    # A call of session.page that fails is no action of the session's, and is not in the film.
    assert [one.actor for one in facts.read(footage).actions if one.box] == ["script", "agent", "agent"]
    shown = program.run("watch", "last", "--output", "watch.html")
    assert shown.status == 0, shown.err
    rows = inside(program.folder / "watch.html", "data")["sides"][0]["rows"]
    acted = [row["actor"] for row in rows if row["title"].startswith(("Fill", "Click"))]
    assert acted == ["script", "script", "agent", "script", "agent"]


def test_a_patch_that_an_agent_made_needless_names_the_script_of_what_it_did(program):
    said = program.run("heals", "--patch", "app.py")
    done = program.run(*followed(said.out, "browser/heal/patch.py", "export-script"))
    assert (done.status, done.out.count("client.AgentFallback(session, task=")) == (0, 3), done.err


@pytest.mark.thorough
def test_it_is_written_as_a_script_that_runs(program, capsys, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(program.home))
    monkeypatch.chdir(program.folder)
    assert main(["export-script", "last"]) == 0
    text = capsys.readouterr().out
    assert text.count("client.AgentFallback(session, task=") == 3
    assert 'task="Look", heal="off"' in text
    script = program.write("script.py", text)
    with reenact.record("written", home=program.home) as recording:
        runpy.run_path(str(script))
    steps = reenact.load(recording.id, home=program.home).steps
    done = [step.output["success"] for step in steps if step.label == "browser:click"]
    assert done.count(True) == 2
