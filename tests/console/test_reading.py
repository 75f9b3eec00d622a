"""A recording, as a person reads it."""

from __future__ import annotations

import re
import shlex
import threading
import time

import pytest
from playwright.async_api import expect

import reenact
from reenact.cli import main
from reenact.core.store import bundle
from reenact.core.store.local import LocalStore

driven = pytest.mark.asyncio(loop_scope="session")


@driven
async def test_the_conversation_says_what_was_asked_and_done(window, ids):
    page = await window()
    await page.goto(f"/r/{ids['first']}")
    talk = page.get_by_role("feed", name="Conversation")
    await expect(talk).to_contain_text("Please cancel my order ORD-5521")
    await expect(talk).to_contain_text("get_order")
    await page.keyboard.press("j")
    await expect(page).to_have_url(re.compile(r"/1$"))
    for _ in range(4):
        await page.keyboard.press("j")
    await expect(page).to_have_url(re.compile(r"/5$"))
    await page.keyboard.press("k")
    await expect(page).to_have_url(re.compile(r"/4$"))


@pytest.mark.thorough
@driven
async def test_a_link_to_a_step_shows_what_changed_in_its_prompt_and_state(window, ids):
    page = await window()
    await page.goto(f"/r/{ids['first']}/7")
    step = page.get_by_role("region", name="Step 7")
    await expect(step).to_contain_text("Prompt, since step 5")
    await expect(step.locator("ins")).to_contain_text("and exact")
    await step.get_by_role("tab", name="State").click()
    await expect(step.get_by_role("tabpanel", name="State")).to_contain_text("total")
    await step.get_by_role("tab", name="Raw").click()
    await expect(step.get_by_role("tabpanel", name="Raw")).to_contain_text("called")


@pytest.mark.thorough
@driven
async def test_n_goes_from_oddity_to_oddity_and_through_what_a_search_found(window, ids):
    page = await window()
    await page.goto(f"/r/{ids['first']}")
    await expect(page.get_by_text("Anomalies:")).to_be_visible()
    await page.keyboard.press("n")
    await expect(page.get_by_role("region", name=re.compile("Step "))).to_be_visible()
    await page.keyboard.press("Escape")
    await page.keyboard.press("/")
    await page.keyboard.type("tool:get_*")
    await expect(page.get_by_text("2 hits")).to_be_visible()
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(r"/2\?"))
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(r"/3\?"))
    await expect(page.get_by_text("2 of 2 hits")).to_be_visible()


@pytest.mark.thorough
@driven
async def test_ten_thousand_steps_are_gone_through_and_few_are_drawn(window, ids):
    page = await window()
    await page.goto(f"/r/{ids['long']}?view=steps")
    row = page.locator("[role=row]")
    await expect(row.first).to_contain_text("look")
    await page.keyboard.press("End")
    last = page.locator("[aria-rowindex='10000']")
    await expect(last).to_contain_text("look")
    await expect(last).to_have_attribute("aria-selected", "true")
    await page.get_by_role("grid", name="Steps").hover()
    await page.mouse.wheel(0, -140_000)
    await expect(page.locator("[aria-rowindex='4990']")).to_contain_text("look")
    assert await row.count() < 150
    assert await page.get_by_role("img", name="10000 steps").count() == 1


@pytest.mark.thorough
@driven
async def test_what_runs_grows_while_one_looks(window, own_site):
    home, site = own_site
    page = await window()
    await page.goto(f"{site}/")
    go, done = threading.Event(), threading.Event()
    look = reenact.tool(lambda page: f"page {page}", name="look")

    def run():
        with reenact.record("alive", home=home):
            for page in range(1, 4):
                look(page)
            go.wait(300)
            for page in range(4, 7):
                look(page)
                time.sleep(0.05)
            done.wait(300)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        row = page.get_by_role("row").filter(has_text="alive")
        await expect(row).to_contain_text("live")
        await row.get_by_role("link", name="alive").click()
        await expect(page.get_by_role("feed")).to_contain_text("page=3")
        go.set()
        await expect(page.get_by_role("feed")).to_contain_text("page=6")
        await expect(page.get_by_role("banner").or_(page.locator("header.head")).last).to_contain_text(
            "6 steps"
        )
        done.set()
        await expect(page.locator("header.head").get_by_text("live", exact=True)).to_have_count(0)
    finally:
        go.set()
        done.set()
        thread.join(120)
        await page.close()


@pytest.mark.thorough
@driven
async def test_two_runs_stand_beside_each_other_and_part_where_they_do(window, ids):
    page = await window()
    await page.goto(f"/compare/{ids['first']}/{ids['hostile']}")
    await expect(page.get_by_text("First difference").first).to_be_visible()
    await page.keyboard.press("n")
    await page.keyboard.press("a")
    await expect(page).to_have_url(re.compile(f"/r/{ids['first']}/"))


@pytest.mark.thorough
@driven
async def test_a_page_is_shown_as_soon_as_its_module_is_there(window):
    page = await window()
    await page.clock.install()
    await page.goto("/")
    await expect(page.locator(".list .row")).to_have_count(4)
    await page.clock.pause_at("2100-01-01T00:00:00")
    # No time passes: React's `Suspense` would wait for a part of a second.
    await page.get_by_role("link", name="Compare").click()
    await expect(page.get_by_role("heading", name="Compare two recordings")).to_be_visible()


@driven
async def test_a_page_whose_module_cannot_be_fetched_says_so_and_the_others_go_on(window):
    page = await window()
    await page.route("**/assets/compare-*.js", lambda route: route.abort())
    await page.goto("/compare")
    await expect(page.get_by_role("heading", name="This page failed")).to_be_visible()
    await page.get_by_role("link", name="Recordings", exact=True).click()
    await expect(page.locator(".list .row")).to_have_count(4)


@driven
async def test_what_is_not_there_is_said_in_a_sentence(window):
    page = await window()
    await page.goto("/r/nothere000")
    await expect(page.get_by_role("alert")).to_contain_text("no recording")
    await page.goto("/nowhere/at/all")
    await expect(page.get_by_text("This page does not exist")).to_be_visible()


@driven
@pytest.mark.parametrize("button", ["More", "Export"])
async def test_the_commands_of_a_recording_s_dialogs_have_all_that_they_need(
    window, ids, capsys, tmp_path, button
):
    page = await window()
    await page.goto(f"/r/{ids['first']}")
    await page.get_by_role("button", name=button).click()
    shown = page.get_by_role("dialog").locator(".command code")
    await shown.first.wait_for()
    commands = await shown.all_inner_texts()
    assert len(commands) >= 2
    for command in commands:
        program, *words = shlex.split(command.replace("STEP", "1"))
        # A folder without recordings: the command is understood, and names what it does not find.
        status = main([*words, "--home", str(tmp_path)])
        assert (program, status) == ("reenact", 2)
        assert "no recording" in capsys.readouterr().err, command


@pytest.mark.sampled(every=10)
@driven
@pytest.mark.parametrize("name", ["first", "long"])
async def test_a_recording_is_exported_as_a_page_and_as_a_file_by_clicks(window, ids, tmp_path, name):
    page = await window()
    await page.goto(f"/r/{ids[name]}")
    await page.get_by_role("button", name="Export").click()
    dialog = page.get_by_role("dialog", name="Export")
    async with page.expect_download() as begun:
        await dialog.get_by_role("button", name="File (.reenact)").click()
    file = tmp_path / "taken.reenact"
    await (await begun.value).save_as(file)
    bundle.bring(LocalStore(tmp_path / "another"), file)
    assert reenact.load(ids[name], home=tmp_path / "another").steps
    await page.get_by_role("button", name="Export").click()
    await dialog.get_by_role("button", name="Page (.html)").click()
    await expect(page).to_have_url(re.compile("/jobs/"))
    async with page.expect_download() as begun:
        await page.get_by_role("link", name=f"{ids[name]}.html").click()
    await (await begun.value).save_as(tmp_path / "taken.html")
    assert "<h2>Conversation</h2>" in (tmp_path / "taken.html").read_text(encoding="utf-8")


@driven
async def test_whole_numbers_of_any_size_are_shown_and_edited_as_they_were_recorded(window, own_site):
    home, site = own_site
    large = 1234567890123456789
    with reenact.record("ids", home=home) as recording:
        reenact.tool(lambda order: {"order": order, "state": "paid"}, name="find")(large)
    page = await window()
    await page.goto(f"{site}/r/{recording.id}")
    talk = page.get_by_role("feed", name="Conversation")
    await expect(talk).to_contain_text(f"order={large}")
    await talk.get_by_role("button", name="Open step 1").click()
    step = page.get_by_role("region", name="Step 1")
    await expect(step.get_by_text(str(large), exact=True)).to_have_count(2)
    await step.get_by_role("button", name="Edit and fork").click()
    dialog = page.get_by_role("dialog")
    answer = dialog.get_by_label("The answer of this step")
    await expect(answer).to_have_value(re.compile(str(large)))
    await answer.fill(f'{{"order": {large + 1}, "price": 1.0}}')
    await dialog.get_by_text("In a terminal").click()
    await expect(dialog.locator("code")).to_contain_text(f'output = {{"order":{large + 1},"price":1.0}}')
    assert page.errors == []


@driven
async def test_what_is_changed_or_deleted_elsewhere_is_told_on_the_page_that_shows_it(window, own_site):
    home, site = own_site
    with reenact.record("shared", home=home) as recording:
        reenact.tool(lambda: "found", name="look")()
    page = await window()
    await page.goto(f"{site}/r/{recording.id}/1?tab=raw")
    await expect(page.get_by_role("tab", name="Raw", selected=True)).to_be_visible()
    await expect(page.get_by_role("tabpanel")).to_contain_text("called")
    assert main(["label", recording.id, "good", "--note", "seen", "--home", str(home)]) == 0
    await expect(page.locator("header.head")).to_contain_text("Note: seen")
    await page.get_by_role("button", name="Label").click()
    await expect(page.get_by_role("button", name="good", pressed=True)).to_be_visible()
    note = page.get_by_role("dialog").get_by_label("Note")
    await note.fill("mine")
    assert main(["rm", "--yes", recording.id, "--home", str(home)]) == 0
    await expect(page.locator(".recording > .failure")).to_contain_text("no recording")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("no recording")
    await expect(note).to_have_value("mine")
    await page.keyboard.press("Escape")
    await page.get_by_role("tab", name="Step").click()
    await expect(page).to_have_url(re.compile("/1$"))
    await expect(page.get_by_role("tabpanel")).to_contain_text("found")


@driven
async def test_a_live_run_is_followed_until_one_scrolls_up_to_read(window, own_site):
    home, site = own_site
    page = await window()
    more = [threading.Event() for _ in range(3)]
    look = reenact.tool(lambda page: f"page {page}", name="look")

    def run():
        with reenact.record("alive", home=home):
            for part, event in enumerate(more):
                for number in range(30):
                    look(30 * part + number)
                event.wait(300)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        await page.goto(f"{site}/")
        await page.get_by_role("link", name="alive").click()
        talk, head = page.get_by_role("feed"), page.locator("header.head")
        await expect(head).to_contain_text("30 steps")
        more[0].set()
        await expect(talk).to_contain_text("page=59")
        await talk.hover()
        await page.mouse.wheel(0, -1500)
        await expect(talk).not_to_contain_text("page=59")
        above = await talk.evaluate("(one) => one.scrollTop")
        more[1].set()
        await expect(head).to_contain_text("90 steps")
        assert await talk.evaluate("(one) => one.scrollTop") == above
        await expect(talk).not_to_contain_text("page=89")
    finally:
        for event in more:
            event.set()
        thread.join(120)


@driven
async def test_the_list_has_the_focus_after_a_step_or_the_search_is_closed(window, ids):
    page = await window()
    await page.goto(f"/r/{ids['first']}")
    talk = page.get_by_role("feed", name="Conversation")
    await talk.get_by_role("button", name="Open step 2").first.focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Close the step").focus()
    await page.keyboard.press("Enter")
    await expect(talk).to_be_focused()
    await page.keyboard.press("/")
    await page.keyboard.type("tool:get_*")
    await page.keyboard.press("Escape")
    await expect(talk).to_be_focused()
    await expect(page.get_by_role("searchbox")).to_have_value("tool:get_*")
