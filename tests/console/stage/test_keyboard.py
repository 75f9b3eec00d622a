"""The pages that play and debug, by keyboard and on a phone, reached by clicking."""

from __future__ import annotations

import re

import pytest

from tests.browser.watch.shop import buy
from tests.console.keyboard import walked
from tests.console.stage.conftest import stopped, three_lamps

TABS = ("Step", "Model", "Network", "Console", "Tree", "Page")


def arrived(page, name, address):
    """Open the page behind a link of the recording's page, by a click."""
    page.get_by_role("link", name=name, exact=True).click()
    page.wait_for_url(re.compile(address))


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.thorough)])
def test_tab_reaches_each_control_of_a_session_that_was_opened_by_clicking(opened, home, width):
    recording = buy(home, consent=False, dom=True).name
    page = opened("/")
    page.set_viewport_size({"width": width, "height": 900})
    page.locator(".list .row").first.get_by_role("link").first.click()
    page.wait_for_url(re.compile(f"/r/{recording}"))
    arrived(page, "Session", "/session/1")
    page.locator(".filmstrip img").first.wait_for()
    page.locator("video").wait_for()
    wrong = []
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        wrong += [f"{tab}: {one}" for one in walked(page)]
    assert not wrong, "\n".join(wrong)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [pytest.param(390, marks=pytest.mark.thorough), 1280])
def test_tab_reaches_each_control_of_the_debugger_that_was_opened_by_clicking(opened, home, tmp_path, width):
    recording = three_lamps(home, tmp_path, "lamps by keyboard")
    page = opened("/")
    page.set_viewport_size({"width": width, "height": 900})
    page.locator(".list .row").first.get_by_role("link").first.click()
    page.wait_for_url(re.compile(f"/r/{recording}"))
    arrived(page, "Debug", "/debug/")
    page.get_by_role("button", name="Start").wait_for()
    wrong = [f"before it begins: {one}" for one in walked(page)]
    page.get_by_role("button", name="Start").click()
    stopped(page, "stopped before step 1")
    for tab in page.get_by_role("tab").all_inner_texts():
        page.get_by_role("tab", name=tab).click()
        wrong += [f"{tab}: {one}" for one in walked(page)]
    assert not wrong, "\n".join(wrong)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.request.delete(page.url.replace("/debug/", "/api/v1/debug/"))
