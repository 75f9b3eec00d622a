"""A whole agent with a real browser: recorded once, and then without one."""

from __future__ import annotations

import base64
import json
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("browser_use", reason="browser-use has an environment of its own: make test-browser-use")

from tests.adapters.browser_use.world import OLDER

NOWHERE = {"CHROME": "/nonexistent/chromium"}


@contextmanager
def edited(program, *changes):
    """The program with other words in it."""
    text = new = program.read_text()
    for old, other in changes:
        assert old in new
        new = new.replace(old, other)
    program.write_text(new)
    try:
        yield
    finally:
        program.write_text(text)


def steps(recording):
    return [step.call.label for step in recording if step.call.within is None]


def test_every_page_request_and_action_is_a_step_of_its_own(recording):
    assert steps(recording) == [
        "browser:start", "tool:navigate",
        "browser:state", "model:gpt-5-mini", "tool:input", "tool:click",
        "browser:state", "model:gpt-5-mini", "tool:navigate",
        "browser:state", "model:gpt-5-mini", "tool:switch",
        "browser:state", "model:gpt-5-mini", "tool:extract",
        "browser:state", "model:gpt-5-mini", "tool:write_file",
        "browser:state", "model:gpt-5-mini", "tool:done",
        "model:gpt-5-mini", "browser:kill",
    ]  # fmt: skip


def test_what_an_action_asks_a_model_stands_within_it(recording):
    inside = [step.call for step in recording if step.call.within is not None]
    assert [call.label for call in inside] == ["model:gpt-5-mini"]
    assert "tool:extract" in inside[0].address


def test_a_key_in_a_page_is_nowhere_in_its_recording(run):
    stored = b"".join(path.read_bytes() for path in run.shell.home.rglob("*") if path.is_file())
    page = json.loads(run.shell.run("show", run.recording.id, "3", "--raw").out.splitlines()[-1])["value"]
    assert any("[[secret:" in word for word in page["words"])
    assert b"Zq8vT2mKx41L" not in stored + zlib.decompress(base64.b64decode(page["dom"]["$bytes"]))


def test_a_replay_needs_no_browser_and_nobody_who_answers(run):
    asked, visits = run.world.asked, len(run.world.visits)
    done = run.shell.run("replay", run.recording.id, env=NOWHERE)
    assert done.status == 0, done.err
    assert done.out == run.done.out
    assert "faithful" in done.err
    assert (run.world.asked, len(run.world.visits)) == (asked, visits)


def test_a_changed_task_is_named_where_the_model_is_told_of_it(run):
    with edited(run.program, ("Find the", "Look up the")):
        done = run.shell.run("replay", run.recording.id, env=NOWHERE)
    assert done.status == 1
    assert "CHANGED  step 4" in done.err
    assert "args.messages[1].content[0].text" in done.err


def test_a_changed_action_is_named_as_such(run):
    other = "async def other(agent):\n    await agent.tools.wait(seconds=1)\n\n\nasync def main"
    with edited(run.program, ("async def main", other), ("max_steps=8", "max_steps=8, on_step_end=other")):
        done = run.shell.run("replay", run.recording.id, env=NOWHERE)
    assert done.status == 1
    assert "tool:wait" in done.err


def test_an_action_runs_for_real_by_a_policy_alone(run):
    done = run.shell.run("replay", run.recording.id, "--live", "tool", "--live", "browser")
    assert done.status == 1
    assert "tool:navigate was not run: its code is not known" in done.err
    assert "--policy navigate=live" in done.err


def test_actions_let_through_without_their_browser_are_refused_in_words(run):
    words = ["--live", "tool", "--policy", "tool=live"]
    done = run.shell.run("replay", run.recording.id, *words, env=NOWHERE)
    assert done.status == 1
    assert any('live=["tool", "browser"]' in line for line in done.ours)


def test_actions_on_a_real_page_end_at_the_first_request_that_names_its_tab(run):
    words = ["--live", "tool", "--live", "browser", "--policy", "tool=live"]
    done = run.shell.run("replay", run.recording.id, *words)
    assert done.status == 1
    assert "CHANGED  step 4" in done.err
    assert "Current tab: " in done.err
    assert "ran for real: tool:navigate × 1" in done.err


def test_each_picture_is_kept_once_and_comes_out_as_it_went_in(run, tmp_path):
    done = run.shell.run("show", run.recording.id, "--filter", "browser:state", "--pictures", tmp_path)
    assert done.status == 0, done.err
    pictures = sorted(tmp_path.iterdir())
    assert [path.name for path in pictures] == [f"{n:04d}-screenshot.png" for n in (3, 7, 10, 13, 17, 20)]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)
    kept = [path.read_bytes() for path in run.shell.home.rglob("blobs/*/*")]
    large = {path.read_bytes() for path in pictures if path.stat().st_size >= 16384}
    assert large
    assert all(kept.count(data) == 1 for data in large)


def test_a_page_is_shown_by_its_text_and_the_size_of_its_picture(run):
    done = run.shell.run("show", run.recording.id, "3")
    assert "placeholder=part" in done.out
    assert "screenshot: image/png" in done.out


def test_a_fork_opens_a_browser_at_the_page_and_finds_the_elements_again(run):
    run.world.steps = run.world.steps[:1] + run.world.steps[4:]
    run.world.resume(1)
    edit = 'output.completion.action[0].input.text = "bolt"'
    done = run.shell.run("fork", run.recording.id, "--at", "4", "--set", edit, "--policy", "tool=live")
    assert done.status == 0, done.err
    assert any("the fork goes on in a new browser" in line for line in done.ours)
    fork = run.shell.last()
    asked = next(step for step in fork if step.call.label == "tool:input")
    page = [step for step in fork if step.call.label == "browser:state"][1]
    assert asked.args["text"] == "bolt"
    # 0.12 says nothing of what is typed; its picture does.
    typed = "placeholder=part" if OLDER else "placeholder=part value=bolt"
    assert typed in run.shell.run("show", fork.id, str(page.number)).out
    assert len({step.output["screenshot"] for step in (fork.step(3), page)}) == 2

    again = run.shell.run("replay", fork.id, env=NOWHERE)
    assert again.status == 0, again.err
    assert again.out == done.out

    diff = run.shell.run("diff", run.recording.id, fork.id)
    assert "tool:input" in diff.out
    assert "bolt" in diff.out


def test_a_fork_that_needs_no_browser_has_none_to_stop(run):
    judged = next(step.number for step in run.recording if step.call.label == "tool:done") + 1
    done = run.shell.run("fork", run.recording.id, "--at", str(judged))
    assert done.status == 0, done.err
    *_, last = run.shell.last()
    assert (last.call.label, last.call.status) == ("browser:kill", "ok")


def test_pages_that_the_program_drives_itself_are_replayed_command_by_command(run):
    program = run.shell.write("looker.py", (Path(__file__).parent / "looker.py").read_text())
    done = run.shell.run("record", "--", sys.executable, program, run.world.shop)
    assert done.status == 0, done.err
    assert "Valve V7 Shop/part" in done.out
    labels = [step.call.label for step in run.shell.last()]
    assert {"browser:start", "browser:Page.navigate", "browser:Runtime.evaluate", "browser:get_pages"} <= set(
        labels
    )
    again = run.shell.replay(env=NOWHERE)
    assert again.status == 0, again.err
    assert again.out == done.out
