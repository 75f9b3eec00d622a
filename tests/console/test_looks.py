"""The pages as they look: to those who see them, to those who hear them, and to what would harm them."""

from __future__ import annotations

import asyncio
import re
import threading

import pytest
from playwright.async_api import expect

import reenact
from reenact.analysis.views.text import visible
from tests.console.keyboard import awalked
from tests.console.looking import faults

driven = pytest.mark.asyncio(loop_scope="session")
COMBINATIONS = [
    (False, 1440),
    (True, 390),
    pytest.param(True, 2560, marks=pytest.mark.thorough),
    pytest.param(False, 1280, marks=pytest.mark.thorough),
    pytest.param(False, 2560, marks=pytest.mark.thorough),
    pytest.param(True, 1280, marks=pytest.mark.thorough),
    pytest.param(True, 1440, marks=pytest.mark.thorough),
    pytest.param(False, 390, marks=pytest.mark.thorough),
]


def pages(ids):
    first, second = ids["first"], ids["second"]
    return {
        "/": "Anomaly",
        "/?q=tokens+%3E": "expected",
        f"/r/{first}": "changed my mind",
        f"/r/{first}?view=steps": "get_order",
        f"/r/{first}/7": "since step 5",
        f"/r/{first}/9": "smtp.example.org",
        f"/compare/{first}/{second}": "steps",
        "/compare": "Compare two recordings",
        "/login": "API key",
        "/trends": "Trends",
        "/jobs": "Jobs",
        "/heals": "Heals",
    }


@driven
@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(("dark", "width"), COMBINATIONS)
async def test_every_page_is_clean_in_both_themes_and_widths(window, ids, dark, width):
    page = await window(dark=dark, width=width)
    wrong = []
    for address, text in pages(ids).items():
        await page.goto(address)
        await expect(page.locator("#root")).to_contain_text(text)
        await expect(page.locator("h1")).not_to_have_count(0)
        await expect(page.locator("main > [aria-busy=true]")).to_have_count(0)
        wrong += [f"{address}: {one}" for one in await faults(page)]
    assert wrong == []
    assert page.errors == []


@driven
@pytest.mark.parametrize("width", [pytest.param(390, marks=pytest.mark.thorough), 1280])
async def test_tab_reaches_each_control_of_every_page_and_the_focus_is_seen(window, ids, width):
    page = await window(width=width)
    wrong = []
    for address, text in pages(ids).items():
        await page.goto(address)
        await expect(page.locator("#root")).to_contain_text(text)
        await expect(page.locator("h1")).not_to_have_count(0)
        await expect(page.locator("main > [aria-busy=true]")).to_have_count(0)
        await page.wait_for_load_state("networkidle")
        wrong += [f"{address}: {one}" for one in await awalked(page)]
    assert wrong == []


@driven
async def test_escape_closes_each_dialog_and_the_focus_is_back_where_it_was(window):
    page = await window()
    await page.goto("/")
    await expect(page.locator("#root")).to_contain_text("support")
    for name in ("Go to", "Keyboard shortcuts"):
        button = page.get_by_role("banner").get_by_role("button", name=name)
        await button.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(button).to_be_focused()


@pytest.mark.thorough
@driven
async def test_what_would_harm_is_shown_as_text_and_nothing_of_it_happens(window, site, ids):
    page = await window()
    hostile = ids["hostile"]
    addresses = [
        "/",
        f"/r/{hostile}",
        f"/r/{hostile}?view=steps",
        *(f"/r/{hostile}/{step}" for step in range(1, 6)),
        f"/compare/{hostile}/{ids['first']}",
    ]
    for address in addresses:
        await page.goto(address)
        await expect(page.locator("#root")).to_contain_text("<script>window.harmed = 1</script>")
        for tab in ("State", "Raw"):
            if f"{hostile}/" in address and "/r/" in address:
                await page.get_by_role("tab", name=tab).click()
        await page.wait_for_load_state()
        seen = await page.evaluate(
            "[window.harmed ?? null, window.violations, ({}).harmed ?? null,"
            " document.querySelectorAll('#root script, #root iframe, #root style, [onerror], a[href^=javascript]').length,"
            " [...document.links].filter((link) => link.origin !== location.origin).length,"
            " /[\\u202a-\\u202e]/.test(document.body.innerText)]"
        )
        assert seen == [None, [], None, 0, 0, False], address
    assert {url for url in page.asked if not url.startswith(f"{site}/")} == set()
    assert page.errors == []


HIDDEN = "a\x1b[31m\x00b\x9b\u200f\u202egnp.exe\u202c\u2028\U000e0041\U000e0042"


@driven
async def test_what_cannot_be_seen_is_written_out_wherever_it_stands(window, own_site):
    home, site = own_site

    @reenact.tool(kind="model", name=f"model {HIDDEN}")
    def ask(messages):
        return {"role": "assistant", "name": HIDDEN, "content": HIDDEN}

    ids = []
    for number in (1, 2):
        with reenact.record(f"run {HIDDEN}", home=home, tags=[f"tag{HIDDEN[:4]}"]) as recording:
            ask([{"role": "user", "name": HIDDEN, "content": f"{number} {HIDDEN}"}])
            tool = reenact.tool(lambda **args: args, name=f"tool {HIDDEN}")
            thread = threading.Thread(target=tool, kwargs={"key": {HIDDEN: HIDDEN}}, name=HIDDEN)
            thread.start()
            thread.join()
        ids.append(recording.id)
    page = await window()
    for address in (
        "/",
        *(f"/r/{ids[0]}{rest}" for rest in ("", "/1", "/2", "?view=steps")),
        "/compare/" + "/".join(ids),
        f"/debug/{ids[0]}",
    ):
        await page.goto(f"{site}{address}")
        await expect(page.locator("#root")).to_contain_text("⟨U+202E⟩gnp.exe")
        await page.wait_for_load_state("networkidle")
        await page.keyboard.press("Control+k")
        await expect(page.get_by_role("option").filter(has_text="⟨U+202E⟩gnp.exe").first).to_be_visible()
        seen = await page.evaluate(
            "[document.title, document.documentElement.textContent, ...[...document.querySelectorAll('*')].flatMap("
            "(one) => ['title', 'alt', 'aria-label'].map((name) => one.getAttribute(name) ?? ''))]"
        )
        assert [text for text in seen if visible(text) != text] == [], address


@driven
@pytest.mark.parametrize("width", [360, 1280])
async def test_what_is_wrong_with_a_filter_is_told_in_one_sentence_that_fits_the_page(window, ids, width):
    page = await window(width=width)
    for address in ("/?q=%s", f"/r/{ids['first']}?q=%s", "/trends?q=%s"):
        for text in ("(", "tokens > 1 " * 40 + "("):
            await page.goto(address % text)
            alert = page.get_by_role("alert").first
            await expect(alert).to_contain_text("expected a word")
            assert not re.search(r"\^\s*$", await alert.inner_text()), address
            assert not await page.evaluate("document.documentElement.scrollWidth > innerWidth"), (
                address,
                text,
            )
            assert await alert.evaluate(
                "(one) => [...one.querySelectorAll('*'), one].every((each) => each.scrollWidth <= one.clientWidth + 1)"
            ), (address, text)


@driven
async def test_a_step_that_is_still_read_is_clean_and_says_so(window, ids):
    page = await window()
    answered = asyncio.Event()

    async def hold(route):
        await answered.wait()
        await route.continue_()

    await page.route("**/steps/9", hold)
    await page.goto(f"/r/{ids['first']}/9")
    step = page.get_by_role("region", name="Step 9")
    await expect(step).to_contain_text("Reading step 9…")
    await expect(page.get_by_role("feed", name="Conversation")).to_contain_text("smtp.example.org")
    assert await faults(page) == []
    answered.set()
    await expect(step).to_contain_text("smtp.example.org")
    await expect(step).not_to_contain_text("Reading")
    await page.unroute_all(behavior="wait")
