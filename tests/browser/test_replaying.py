"""A recorded browser session run again: without any browser, live against the page, and forked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import reenact
from reenact.browser.camera.footage import sessions
from reenact.browser.video import render
from reenact.browser.watch.content import film
from reenact.core.query.facts import RecordingFacts
from reenact.errors import DivergenceError
from tests.conftest import Shell

PROGRAM = """
    import asyncio, os, sys
    from reenact import Client

    url = sys.argv[1]

    def main():
        with Client().Session() as session:
            session.execute(type="goto", url=url)
            ids = {{one.name: one.id for one in session.observe().space.interaction_actions}}
            print(session.execute(type="fill", id=ids["Full name"], value="Ada").message)
            print(session.execute(type="select_dropdown_option", selector="#colour", value="Green").message)
            failed = session.execute(type="click", selector="#no", timeout=100, raise_on_failure=False)
            print(failed.message, failed.why["reason"])
            print("step", failed.step)
            print(session.page.locator("#name").input_value(), session.page.get_by_role("button").count())
            print(session.execute(type="click", id=ids["Place order"]).url)
            print(session.id, session.scrape(), session.offset(), session.status().status)

    main()
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory, open_session, site):
    """A program that has been recorded, in a shell with no other browser than the one that recorded it."""
    shell = Shell(tmp_path_factory.mktemp("replaying"))
    program = shell.write("shop.py", PROGRAM.format())
    shell.environ["REENACT_BROWSER"] = open_session().options.executable_path
    shell.first = shell.run("record", "--", sys.executable, program, site("form.html"))
    assert shell.first.status == 0, shell.first.err
    shell.id = reenact.load("last", home=shell.home).id
    shell.without = {"REENACT_BROWSER": "/nowhere/chromium"}
    return shell


def test_a_replay_needs_no_browser_and_gives_the_same(shop):
    again = shop.run("replay", shop.id, env=shop.without)
    assert (again.status, again.out) == (0, shop.first.out), again.err
    assert "faithful" in again.err
    assert f"{shop.id}.1" in again.out


def test_the_result_of_an_action_the_video_and_the_page_of_watch_show_one_number(shop):
    recording = reenact.load(shop.id, home=shop.home)
    (step,) = (step for step in recording if step.label == "browser:click" and not step.output["success"])
    assert f"step {step.number}\n" in shop.first.out
    footage = sessions(Path(recording.path))
    (chapter,) = (chapter for chapter in render(footage[0]).chapters if chapter.call == step.call.number)
    assert chapter.title.startswith(f"{step.number}. Click")
    rows = film(RecordingFacts(recording), footage, 1).view.steps
    assert [row.n for row in rows if row.call == step.call.number] == [step.number]
    shown = shop.run("show", shop.id).out
    assert any(line.split()[:2] == [str(step.number), "browser:click"] for line in shown.splitlines()), shown


@pytest.mark.thorough
def test_a_replay_of_another_program_says_where_it_departs(shop):
    program = shop.folder / "shop.py"
    before = program.read_text()
    program.write_text(before.replace("Green", "Blue"))
    other = shop.run("replay", shop.id, env=shop.without)
    program.write_text(before)
    assert other.status == 1
    assert "browser:select_dropdown_option" in other.err
    assert "'Blue'" in other.err or '"Blue"' in other.err


@pytest.mark.thorough
def test_the_browser_can_be_let_live_in_a_replay(shop):
    live = shop.run("replay", shop.id, "--live", "browser", "--policy", "browser=live")
    assert live.out == shop.first.out, live.err
    assert "partly from the recording" in live.err
    assert "ran for real: browser:select_dropdown_option × 1" in live.err


@pytest.mark.thorough
def test_a_fork_goes_on_in_a_browser_of_its_own(shop):
    step = next(s.number for s in reenact.load(shop.id, home=shop.home).steps if s.label == "browser:click")
    forked = shop.run("fork", shop.id, "--at", step, "--policy", "browser=live")
    assert forked.status == 0, forked.err
    assert "a new one was opened, at http://127.0.0.1:" in forked.err
    # What was filled before the fork is not there, and the order shows it.
    assert "done.html?name=&" in forked.out
    assert "done.html?name=Ada" in shop.first.out


def test_it_can_be_read_as_any_recording(shop):
    shown = shop.run("show", shop.id)
    assert "No element matches #no" in shown.out
    diff = shop.run("diff", shop.id, shop.id)
    assert diff.status == 0
    assert shop.run("diagnose", shop.id).status in (0, 1)


@pytest.mark.thorough
def test_a_block_that_a_session_opened_for_itself_is_replayed(tmp_path, open_session, site, monkeypatch):
    def program():
        with open_session(home=tmp_path) as session:
            return session.id, session.execute(type="goto", url=site("form.html")).title

    first = program()
    monkeypatch.setenv("REENACT_BROWSER", "/nowhere/chromium")
    with reenact.replay(first[0], home=tmp_path) as replay:
        assert program() == first
    assert replay.verdict.divergence is None
    with pytest.raises(DivergenceError), reenact.replay(first[0], home=tmp_path), open_session() as session:
        session.execute(type="goto", url=site("done.html"))


@pytest.mark.thorough
async def test_an_async_program_is_replayed_too(tmp_path, open_session, site):
    async def program():
        async with open_session() as session:
            await session.aexecute(type="goto", url=site("tabs.html"))
            async with session.page.expect_popup() as popup:
                await session.page.click("#open")
            return (
                session.id,
                await popup.value.title(),
                popup.value.url,
                (await session.aobserve()).screenshot,
            )

    with reenact.record("tabs", home=tmp_path) as recording:
        first = await program()
    with reenact.replay(recording.id, home=tmp_path) as replay:
        assert await program() == first
    assert replay.verdict.divergence is None
