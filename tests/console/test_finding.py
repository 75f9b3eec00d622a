"""The list of recordings, as a person uses it: by keyboard."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

import reenact

driven = pytest.mark.asyncio(loop_scope="session")


def lines(page):
    """The recordings of the list, without the row of headings."""
    return page.locator(".list .row")


@driven
async def test_a_run_is_found_by_typing_and_opened_and_left_by_keyboard(window, ids):
    page = await window()
    await page.goto("/")
    await expect(page.get_by_role("status").filter(has_text="4 recordings")).to_be_visible()
    await page.keyboard.press("/")
    await page.keyboard.type("tag:staging")
    await expect(page.get_by_role("status").filter(has_text="2 recordings")).to_be_visible()
    assert page.url.endswith("/?q=tag%3Astaging")
    await page.keyboard.press("Enter")
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(f"/r/{ids['first']}"))
    await expect(page.get_by_role("heading", name="support", level=1)).to_be_visible()
    await page.keyboard.press("?")
    help_ = page.get_by_role("dialog", name="Keyboard shortcuts")
    await expect(help_).to_contain_text("Next anomaly")
    await page.keyboard.press("Escape")
    await expect(help_).to_have_count(0)
    await page.keyboard.press("Escape")
    await expect(page).to_have_url(re.compile(r"/\?q=tag%3Astaging$"))


@driven
async def test_a_view_is_saved_under_a_name_and_shown_to_others_by_a_click_until_it_is_removed(window):
    page, other = await window(), await window()
    await page.goto("/")
    views = page.get_by_role("region", name="Saved views")
    await expect(lines(page)).to_have_count(4)
    await expect(views).to_have_count(0)
    await page.goto("/?q=tag%3Astaging&sort=steps")
    await expect(lines(page)).to_have_count(2)
    await views.get_by_role("button", name="Save this view").click()
    await page.keyboard.type("Staging")
    await page.keyboard.press("Enter")
    await expect(views.get_by_role("button", name="Staging", exact=True)).to_be_visible()
    await other.goto("/")
    await expect(lines(other)).to_have_count(4)
    await other.get_by_role("button", name="Staging", exact=True).click()
    await expect(lines(other)).to_have_count(2)
    await expect(other).to_have_url(re.compile(r"/\?q=tag%3Astaging&sort=steps$"))
    await views.get_by_role("button", name="Remove the view Staging").click()
    await expect(views.get_by_role("button", name="Staging", exact=True)).to_have_count(0)
    await page.goto("/")
    await expect(lines(page)).to_have_count(4)
    await expect(views).to_have_count(0)


@pytest.mark.thorough
@driven
async def test_a_filter_that_cannot_be_read_is_marked_and_the_list_stays(window):
    page = await window()
    await page.goto("/")
    await page.get_by_role("searchbox").fill("tool and steps >")
    wrong = page.get_by_role("alert")
    await expect(wrong).to_contain_text("column")
    await expect(page.get_by_role("searchbox")).to_have_attribute("aria-invalid", "true")
    await expect(lines(page)).to_have_count(4)
    await page.get_by_role("searchbox").fill("tool:cancel_order")
    await expect(wrong).to_have_count(0)
    await expect(lines(page)).to_have_count(2)


@pytest.mark.thorough
@driven
async def test_plain_words_are_looked_for_in_texts(window):
    page = await window()
    await page.goto("/")
    await page.get_by_role("searchbox").fill("changed my mind")
    await expect(lines(page)).to_have_count(2)


@driven
@pytest.mark.parametrize(
    "typed", [pytest.param(10, id="whole", marks=pytest.mark.thorough), pytest.param(5, id="its beginning")]
)
async def test_a_recording_is_found_by_its_id(window, ids, typed):
    page = await window()
    await page.goto("/")
    await page.get_by_role("searchbox").fill(ids["first"][:typed])
    await expect(lines(page)).to_have_count(1)
    await expect(lines(page)).to_contain_text(ids["first"])


@pytest.mark.thorough
@driven
async def test_what_is_chosen_beside_the_list_stands_in_the_address(window):
    page = await window()
    await page.goto("/")
    await page.get_by_role("complementary").get_by_role("button", name="staging").click()
    await expect(lines(page)).to_have_count(2)
    await page.reload()
    await expect(lines(page)).to_have_count(2)
    pressed = page.get_by_role("button", name="staging", pressed=True)
    await pressed.click()
    await expect(lines(page)).to_have_count(4)


@pytest.mark.thorough
@driven
async def test_two_are_chosen_and_compared(window, ids):
    page = await window()
    await page.goto("/")
    await expect(lines(page)).to_have_count(4)
    await page.get_by_role("grid").focus()
    for key in "xjxc":
        await page.keyboard.press(key)
    await expect(page).to_have_url(re.compile(f"/compare/{ids['second']}/{ids['first']}"))
    await expect(
        page.get_by_text("Both runs").or_(page.get_by_text("First difference")).first
    ).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(lines(page)).to_have_count(4)


@pytest.mark.thorough
@driven
async def test_the_palette_goes_anywhere(window):
    page = await window()
    await page.goto("/")
    await expect(lines(page)).not_to_have_count(0)
    await page.keyboard.press("Control+k")
    await page.keyboard.type("supp")
    await expect(page.get_by_role("option")).to_have_count(2)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="support", level=1)).to_be_visible()


@pytest.mark.thorough
@driven
async def test_a_narrow_list_is_sorted_by_a_choice(window):
    page = await window(width=390)
    await page.goto("/")
    await page.get_by_role("combobox", name="Sort by").select_option("steps")
    await expect(page).to_have_url(re.compile(r"sort=steps$"))
    await expect(lines(page).first).to_contain_text("long")
    await page.get_by_role("combobox", name="Sort by").select_option("-steps")
    await expect(lines(page).last).to_contain_text("long")


@pytest.mark.thorough
@driven
async def test_the_list_tells_prompt_and_outcome_and_a_click_on_a_heading_sorts_it(window):
    page = await window(width=1280)
    await page.goto("/")
    first = lines(page).filter(has_text="support").first
    await expect(first).to_contain_text("Please cancel my order ORD-5521")
    await expect(first).to_contain_text("Done: Mara has her mail.")
    steps = page.get_by_role("columnheader", name="Steps")
    await steps.get_by_role("button").click()
    await expect(steps).to_have_attribute("aria-sort", "descending")
    await expect(page).to_have_url(re.compile(r"sort=steps$"))
    await expect(lines(page).first).to_contain_text("long")
    await steps.get_by_role("button").click()
    await expect(steps).to_have_attribute("aria-sort", "ascending")
    await expect(lines(page).last).to_contain_text("long")
    beside = await page.evaluate(
        """() => [".facets", ".middle"].map(place => document.querySelector(place).getBoundingClientRect())
                 .map(({left, width}) => [left, width])"""
    )
    assert beside[0][1] < 250 <= beside[1][1]
    assert beside[1][0] >= beside[0][1]


@driven
async def test_compare_begins_with_the_rows_that_are_chosen_in_the_list(window, ids):
    page = await window()
    compare = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Compare")
    await page.goto(f"/?x={ids['first']}")
    await expect(lines(page)).to_have_count(4)
    await compare.click()
    await expect(page).to_have_url(re.compile(rf"/compare\?a={ids['first']}$"))
    await expect(page.get_by_text("Choose the recording to compare it with.")).to_be_visible()
    await page.get_by_role("link", name="Recordings", exact=True).click()
    await page.goto(f"/?x={ids['first']},{ids['second']}")
    await page.get_by_role("navigation", name="Pages").get_by_role("link", name="Trends").click()
    await compare.click()
    await expect(page).to_have_url(re.compile(f"/compare/{ids['first']}/{ids['second']}$"))
    # From a comparison it leads to another one.
    await compare.click()
    await expect(page.get_by_role("heading", name="Compare two recordings")).to_be_visible()


@driven
async def test_the_cursor_stays_on_its_recording_while_others_come_and_when_one_comes_back(window, own_site):
    home, site = own_site
    for number in range(40):
        with reenact.record(f"run-{number:02}", home=home):
            pass
    page = await window()
    await page.goto(f"{site}/")
    await expect(page.get_by_role("status").filter(has_text="40 recordings")).to_be_visible()
    await expect(lines(page).first).to_contain_text("run-")
    for _ in range(30):
        await page.keyboard.press("j")
    here = page.locator(".list .row.here")
    name = await here.locator(".name").inner_text()
    with reenact.record("newest", home=home):
        pass
    await expect(page.get_by_role("status").filter(has_text="41 recordings")).to_be_visible()
    await expect(here.locator(".name")).to_have_text(name)
    await expect(here).to_be_in_viewport()
    await expect(here).to_have_attribute("aria-rowindex", "33")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    await page.go_back()
    await expect(here.locator(".name")).to_have_text(name)
    await expect(here).to_be_in_viewport()
    await page.keyboard.press("k")
    await expect(here).to_have_attribute("aria-rowindex", "32")


@driven
async def test_back_undoes_the_filter_and_the_order_of_a_click(window, ids):
    page = await window()
    await page.goto("/trends")
    await page.get_by_role("navigation").get_by_role("link", name="Recordings").click()
    await page.get_by_role("complementary").get_by_role("button", name="staging").click()
    await expect(page).to_have_url(re.compile(r"/\?q=[^&]*staging[^&]*$"))
    await page.get_by_role("button", name="Time", exact=True).first.click()
    await expect(page).to_have_url(re.compile("sort="))
    await page.go_back()
    await expect(page).to_have_url(re.compile(r"/\?q=[^&]*staging[^&]*$"))
    await page.go_back()
    await expect(page).to_have_url(re.compile(r"/$"))
    await expect(page.get_by_role("button", name="staging", pressed=True)).to_have_count(0)
