"""`session.page`: Playwright's page as a program uses it, every call of it in the recording."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Error
from playwright.sync_api import TimeoutError as TooLate

import reenact
from reenact.browser.camera.footage import sessions
from reenact.errors import UsageError


@pytest.fixture
def session(shared_session):
    return shared_session()


@pytest.fixture
def page(session, site):
    session.execute(type="goto", url=site("form.html"))
    return session.page


@pytest.mark.thorough
def test_locators_are_described_here_and_asked_there(page, session):
    steps = session.recording
    before = len(reenact.load(steps).steps)
    form = page.locator("form")
    button = (
        form.get_by_role("button", name=re.compile("place", re.IGNORECASE))
        .or_(page.locator("#nothing"))
        .first
    )
    assert len(reenact.load(steps).steps) == before
    assert button.inner_text() == "Place order"
    last = reenact.load(steps).steps[-1]
    assert (last.label, last.args) == (
        "browser:page.inner_text",
        {
            "on": "page.locator('form').get_by_role('button', name=re.compile('place', re.IGNORECASE))"
            ".or_(page.locator('#nothing')).first"
        },
    )


@pytest.mark.thorough
def test_it_does_and_tells_what_a_page_does_and_tells(page, session):
    page.fill("#name", "Ada")
    page.keyboard.press("Tab")
    page.keyboard.type("ada@example.com")
    assert page.locator("#email").input_value() == "ada@example.com"
    assert page.evaluate("a => a.map(n => n + 1)", [1, 2]) == [2, 3]
    assert (page.title(), page.main_frame.name, page.viewport_size["width"]) == ("Order", "", 1280)
    assert page.get_by_label("Gift wrapping").filter(has_not=page.locator("b")).count() == 1


def test_objects_of_the_browser_come_back_as_such(page):
    inputs = page.query_selector_all("input[type=radio]")
    assert [one.get_attribute("value") for one in inputs] == ["slow", "fast"]
    assert [one.input_value() for one in page.get_by_role("radio").all()] == ["slow", "fast"]
    assert page.evaluate("(e) => e.value", inputs[1]) == "fast"
    assert page.reload().status == 200
    assert [frame.url == page.url for frame in page.frames] == [True]


def test_what_is_expected_is_waited_for(page, session, site):
    page.goto(site("downloads.html"))
    with page.expect_download() as download:
        page.click("#file")
    assert download.value.suggested_filename == "report.csv"


class _Block:
    """A block that notes the failed calls."""

    def __init__(self):
        self.failed = []

    def page_failed(self, name, args, error):
        self.failed.append((name, args))
        yield from ()

    def page_skipped(self, name, args):
        return False


def test_errors_are_playwrights_and_are_noticed(page, session):
    block = _Block()
    session.core.block = block
    with pytest.raises(TooLate, match="Timeout 100ms"):
        page.click("#nothing", timeout=100)
    with pytest.raises(Error, match="not defined"):
        page.evaluate("nothing")
    session.core.block = None
    assert block.failed == [
        ("page.click", {"args": ["#nothing"], "timeout": 100}),
        ("page.evaluate", {"args": ["nothing"]}),
    ]


def test_what_it_does_is_marked_in_the_film(page, session):
    page.get_by_label("Full name").fill("Ada")
    (film,) = sessions(Path(session.recording))
    *_, before = film.entries("before")
    *_, after = film.entries("after")
    assert before["action"] == {"type": "page.fill", "on": "page.get_by_label('Full name')", "args": ["Ada"]}
    assert (before["target"]["box"][2] > 50, after["success"], after["call"]) == (True, True, before["call"])


def test_what_cannot_be_is_refused(page):
    with pytest.raises(UsageError, match=r"connect with Playwright to session.cdp_url\(\)"):
        page.on("dialog", print)
    with pytest.raises(UsageError, match="a function cannot be given"):
        page.expect_event("request", print).__enter__()
    with pytest.raises(AttributeError, match="Page has no 'clik'"):
        page.clik("#a")


@pytest.mark.thorough
def test_a_popup_is_a_page_too(session, site):
    session.execute(type="goto", url=site("tabs.html"))
    page = session.page
    with page.expect_popup() as popup:
        page.click("#open")
    assert popup.value.locator("h1").inner_text() == "Thank you"
    assert page.title() == "Tabs"
    popup.value.close()


@pytest.mark.thorough
def test_another_playwright_connects_to_the_same_browser(page, session):
    async def asked():
        from playwright.async_api import async_playwright, expect

        async with async_playwright() as playwright:
            browser = await playwright.chromium.connect_over_cdp(session.cdp_url())
            await expect(browser.contexts[0].pages[0].locator("h1")).to_have_text("Order")

    import asyncio

    with reenact.core.boundary.entered(None):
        asyncio.run(asked())
