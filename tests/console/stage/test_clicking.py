"""Every page of the console, reached by clicking: it looks as it does when it is opened by its address."""

from __future__ import annotations

import re

import pytest

from tests.browser.watch.shop import buy
from tests.console.stage.conftest import AXE

WINDOWS = ((390, "dark"), (1280, "light"), (2560, "dark"))
PLACES = """() => [...document.querySelectorAll(
    "main section, main header, main form, main nav, main [role=tablist], main [role=tab], main [role=toolbar], main h1, main h2")]
    .filter((el) => el.checkVisibility())
    .map((el) => { const at = el.getBoundingClientRect();
        return [el.localName + "." + el.className, ...[at.x, at.y, at.width, at.height].map(Math.round)] })"""
FRAMES = "() => new Promise((done) => { let left = 3; (function next() { left-- ? requestAnimationFrame(next) : done() })() })"
SHOWN = "!document.querySelector('.screen') || document.querySelector('.screen > video')?.readyState > 0"
RIGHT = "Math.max(document.documentElement.scrollWidth, ...[...document.querySelectorAll('main section')].map((el) => el.getBoundingClientRect().right))"


def looks(page):
    """The places of a page's parts, by width and theme. None is beyond the window."""
    page.locator("main h1, main h2").first.wait_for()
    page.locator("main [aria-busy=true]").first.wait_for(state="detached")
    while not page.evaluate(SHOWN):  # a page's own policy forbids `wait_for_function`
        page.wait_for_timeout(50)
    found = {}
    for width, theme in WINDOWS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        found[width, theme] = still(page)
        assert page.evaluate(RIGHT) <= width
    page.set_viewport_size({"width": 1280, "height": 900})
    return found


def still(page):
    """The places of a page's parts, once three looks in a row, each some frames after the last, find the same."""
    seen = [None] * 3
    while seen[0] is None or not seen[0] == seen[1] == seen[2]:
        page.evaluate(FRAMES)
        seen = [*seen[1:], page.evaluate(PLACES)]
    return seen[0]


def faultless(page):
    """Nothing that axe finds fault with, in both themes and three widths."""
    page.evaluate(AXE.read_text())
    for width, theme in WINDOWS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        still(page)
        wrong = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        assert [(each["id"], each["nodes"][0]["html"]) for each in wrong] == [], (page.url, width, theme)
    page.set_viewport_size({"width": 1280, "height": 900})


def test_every_page_that_is_reached_by_clicking_looks_as_by_its_address(opened, home, address):
    second = buy(home, consent=False).name
    page = opened("/")

    def go(name, where):
        page.get_by_role("link", name=name).first.click()
        page.wait_for_url(re.compile(where))

    clicked = {}

    def seen():
        where = re.sub(r"^https?://[^/]+", "", page.url)
        known = where in clicked
        clicked[where] = looks(page)
        if not known:
            faultless(page)

    go("buy a lamp, again", f"/r/{second}")
    seen()
    page.locator(".said").first.click()
    page.get_by_role("tab").first.wait_for()
    seen()
    go("Session", "/session/1")
    seen()
    for _ in range(2):
        page.go_back()
    page.get_by_role("link", name="Debug").wait_for()
    go("Debug", "/debug/")
    seen()
    page.go_back()
    go("Session", "/session/1")
    page.go_back()
    go("Compare", "/compare")
    seen()
    go("Jobs", "/jobs")
    page.locator(".jobs").wait_for()
    seen()
    go("Heals", "/heals")
    page.get_by_role("heading", name="No script has needed help").wait_for()
    seen()
    go("Recordings", "/")
    go("buy a lamp, again", f"/r/{second}")
    page.locator(".said").first.click()
    page.get_by_role("tab").first.wait_for()
    seen()  # once more, with the sheets of all pages

    assert len(clicked) >= 6, list(clicked)
    for where, places in clicked.items():
        page.goto(address + where)
        fresh = looks(page)
        for how, boxes in places.items():
            assert boxes == fresh[how], (where, how)


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
