"""Pages of the console on the way to them, by clicking: their headings, their faces and their first pictures."""

from __future__ import annotations

import re

import pytest

from tests.browser.watch.shop import buy

FRAMES = "() => new Promise((done) => { let left = 3; (function next() { left-- ? requestAnimationFrame(next) : done() })() })"
SHOWN = "!document.querySelector('.screen') || document.querySelector('.screen > video')?.readyState > 0"


@pytest.mark.parametrize("withheld", ["**/assets/*", "**/api/v1/**"])
def test_a_page_has_its_heading_from_its_first_paint(opened, home, address, withheld):
    recording = buy(home, consent=False).name
    page = opened("/")
    page.locator("main h1").wait_for(state="attached")
    waiting = []

    def withhold(route):
        waiting.append(route)

    page.route(withheld, withhold)
    for place in ("Compare", "Trends", "Jobs", "Heals"):
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=place).click()
        page.wait_for_url(re.compile(f"/{place.lower()}"))
        page.evaluate(FRAMES)
        assert len(page.get_by_role("heading", level=1).all()) == 1, place
    for where in (
        f"/r/{recording}",
        f"/r/{recording}/session/1",
        f"/debug/{recording}",
        f"/compare/{recording}/{recording}",
    ):
        page.evaluate("where => { history.pushState(null, '', where) }", where)
        page.wait_for_url(address + where)
        page.evaluate(FRAMES)
        assert len(page.get_by_role("heading", level=1).all()) == 1, where
    assert waiting


@pytest.mark.thorough
def test_a_recording_shows_its_face_and_its_browser_steps_as_sentences(opened, home):
    recording = buy(home, consent=False).name
    page = opened("/")
    page.locator(".list .row").first.get_by_role("link").first.click()
    page.wait_for_url(re.compile(f"/r/{recording}"))
    assert page.locator("header h1").inner_text() == "buy a lamp, again"
    assert page.locator(".head .prompt").inner_text().split("\n") == ["Prompt:", "Buy the brass lamp."]
    page.locator(".said", has_text="at Shop").first.wait_for()
    assert '"success"' not in page.locator(".talk").inner_text()


@pytest.mark.thorough
def test_a_session_opens_at_a_settled_picture(opened, home):
    buy(home, consent=False)
    page = opened("/")
    page.locator(".list .row").first.get_by_role("link").first.click()
    page.get_by_role("link", name="Session").first.click()
    page.wait_for_url(re.compile("/session/1"))
    page.locator(".screen").wait_for()
    while not page.evaluate(SHOWN):
        page.wait_for_timeout(50)
    assert page.get_by_text("Nothing was visible yet").count() == 0
