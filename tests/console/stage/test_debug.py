"""The debugger in the console, by keys alone, on a program that really runs."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.stage.conftest import sound, stopped, three_lamps


@pytest.fixture(scope="module")
def agent(home, tmp_path_factory):
    """The recording of a program that buys three lamps: its id."""
    return three_lamps(home, tmp_path_factory.mktemp("agent"))


def test_a_program_is_debugged_by_keys_alone(opened, agent):
    page = opened(f"/debug/{agent}")
    page.get_by_role("button", name="Start").wait_for()
    sound(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("button", name="Start").press("Enter")
    standing, shown = page.get_by_role("status").first, page.get_by_role("tabpanel")

    def say(key, text):
        page.keyboard.press(key)
        page.keyboard.type(text)
        page.keyboard.press("Enter")
        page.get_by_role("dialog").wait_for(state="hidden")

    stopped(page, "stopped before step 1")
    page.keyboard.press("s")
    stopped(page, "stopped before step 2")
    say("B", "tool:order")
    page.get_by_role("list", name="Breakpoints").get_by_text("at 4").wait_for()
    page.keyboard.press("c")
    stopped(page, "breakpoint tool:order")
    page.keyboard.press("5")
    shown.get_by_text("desk 40").wait_for()
    page.keyboard.press("4")
    shown.get_by_text("as it is now").wait_for()
    page.keyboard.press("2")
    shown.get_by_text("onerror").first.wait_for()
    page.keyboard.press("p")
    stopped(page, "stopped before step 3")

    page.keyboard.press("k")
    page.keyboard.press("e")
    answer = page.get_by_label("The answer", exact=True)
    answer.wait_for()
    assert answer.input_value() == "40"
    page.keyboard.press("Control+a")
    page.keyboard.type("{")
    page.get_by_text("line 1, column").wait_for()
    page.keyboard.press("Control+a")
    page.keyboard.type("50")
    page.keyboard.press("Control+Enter")
    page.get_by_role("dialog").wait_for(state="hidden")
    page.get_by_text("edited", exact=True).first.wait_for()
    page.keyboard.press("c")
    stopped(page, "CHANGED")
    shown.locator("ins", has_text="290").wait_for()
    sound(page)

    say(":", "undo 2")
    stopped(page, "stopped before step 2")
    say(":", "clear")
    page.get_by_role("list", name="Breakpoints").wait_for(state="hidden")
    page.keyboard.press("c")
    page.locator(".debug-standing .badge", has_text="faithful").wait_for()
    page.keyboard.press("f")
    page.get_by_text(f"reenact fork {agent} --at").wait_for()
    page.keyboard.press("Escape")
    say(":", "quit")
    page.get_by_role("button", name="Start").wait_for()
    assert page.evaluate("window.harmed") is None
    assert standing.count() <= 1


@pytest.mark.thorough
def test_a_text_is_not_checked_while_its_answer_lets_the_program_run(opened, agent):
    page = opened(f"/debug/{agent}")
    page.get_by_role("button", name="Start").press("Enter")
    page.locator(".debug-standing", has_text="stopped before step 1").wait_for()
    page.keyboard.press("s")
    page.locator(".debug-standing", has_text="stopped before step 2").wait_for()
    page.clock.install()
    checked, held = [], []
    page.on("request", lambda one: checked.append(one.url) if one.url.endswith("/check") else None)
    page.route(
        "**/steps/1/answer",
        lambda route: held.append(route) if route.request.method == "POST" else route.continue_(),
    )
    page.keyboard.press("k")
    page.keyboard.press("e")
    page.get_by_label("The answer", exact=True).fill("50")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Give this answer").and_(page.locator(":disabled")).wait_for()
    while not held:
        page.wait_for_timeout(20)
    page.clock.run_for(5_000)
    held[0].continue_()
    page.get_by_text("edited", exact=True).first.wait_for()
    assert checked == []
    page.unroute_all()
    page.request.delete(page.url.replace("/debug/", "/api/v1/debug/"))


@pytest.mark.thorough
def test_a_failure_is_reproduced_and_kept_as_a_test(opened, agent):
    page = opened(f"/jobs?kind=reproduce&recording={agent}")
    page.get_by_label("How often").fill("2")
    page.get_by_role("button", name="Begin", exact=True).press("Enter")
    page.get_by_text("It reproduces.").wait_for()
    assert page.get_by_role("row").count() == 3
    sound(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(page.url.partition("/jobs")[0] + f"/jobs?kind=keep&recording={agent}")
    page.get_by_role("button", name="Begin", exact=True).press("Enter")
    with page.expect_download() as kept:
        page.get_by_role("link", name="test_recordings.py").click()
    assert "def test_" in kept.value.path().read_text()
    page.keyboard.press("Escape")
    page.get_by_role("link", name=f"Keep {agent}").first.wait_for()
    sound(page)


def test_run_again_is_the_title_of_the_job_that_it_starts(opened, agent):
    page = opened(f"/r/{agent}")
    page.get_by_role("button", name="Run again").click()
    page.get_by_role("heading", name="Run again").wait_for()
    page.get_by_text("faithful").first.wait_for()
    assert page.title().startswith(f"Run again {agent}")
    page.keyboard.press("Escape")
    page.get_by_role("link", name=f"Run again {agent}").first.wait_for()


def test_a_recording_is_forked_from_a_step_with_another_answer(opened, agent):
    page = opened("/")
    page.get_by_role("link", name="three lamps").last.click()
    page.wait_for_url(f"**/r/{agent}")
    page.get_by_role("button", name="Open step 2").click()
    page.get_by_role("button", name="Edit and fork").click()
    answer = page.get_by_label("The answer of this step")
    assert answer.input_value() == "40"
    fork = page.get_by_role("button", name="Fork with this answer")
    assert fork.is_disabled()
    answer.fill("{")
    assert fork.is_disabled()
    answer.fill("7")
    page.get_by_text("Calls that may run for real").click()
    page.get_by_label("Models and reading calls run").fill("order")
    sound(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    fork.click()
    page.get_by_role("heading", name="The fork made a new recording").wait_for()
    expect(page.get_by_role("row").nth(2)).to_contain_text("ordered for 247")
    page.get_by_role("link", name="Open the fork").click()
    page.get_by_text("edited by a fork").wait_for()
    sound(page)


@pytest.mark.thorough
def test_a_step_that_fails_in_a_fork_says_so(opened, agent):
    page = opened(f"/r/{agent}/1")
    page.get_by_role("button", name="Edit and fork").click()
    page.get_by_label("Let the step fail instead").check()
    page.get_by_label("The error that this step raises").fill("TimeoutError: the shop is closed")
    page.get_by_role("button", name="Fork with this answer").click()
    page.get_by_role("heading", name="The fork made a new recording").wait_for()
    expect(page.get_by_role("row").nth(2)).to_contain_text("TimeoutError: the shop is closed")


@pytest.mark.thorough
def test_a_recording_is_labelled_by_clicks_and_found_by_its_label(opened, agent):
    page = opened(f"/r/{agent}")
    page.get_by_role("button", name="Label").click()
    dialog = page.get_by_role("dialog", name="Labels and note")
    sound(page)
    dialog.get_by_role("button", name="bad").click()
    dialog.get_by_label("Other labels").fill("lamps <b>")
    dialog.get_by_label("Note").fill("One lamp <img src=x onerror='window.harmed = 1'> too many")
    dialog.get_by_role("button", name="Save").click()
    dialog.wait_for(state="hidden")
    page.locator(".person-note", has_text="too many").wait_for()
    sound(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.locator(".head").get_by_role("link", name="#bad").click()
    page.locator(".list .row", has_text="three lamps").get_by_text("too many").wait_for()
    sound(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("link", name="three lamps").first.click()
    page.get_by_role("button", name="Label").click()
    assert dialog.get_by_role("button", name="bad").get_attribute("aria-pressed") == "true"
    dialog.get_by_role("button", name="bad").click()
    dialog.get_by_label("Note").fill("")
    dialog.get_by_role("button", name="Save").click()
    page.locator(".person-note").wait_for(state="hidden")
    assert page.locator(".head").get_by_role("link", name="#bad").count() == 0
    assert page.evaluate("window.harmed") is None
