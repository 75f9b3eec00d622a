"""Pages that are files, to those who hear them or use the keyboard: `watch`, `export`, `diff --html`, `report`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.watch.shop import buy
from tests.chromium import CHROMIUM
from tests.console.keyboard import walked

AXE = Path(__file__).parents[3] / "console" / "node_modules" / "axe-core" / "axe.min.js"
WINDOWS = (
    (390, "light"),
    (390, "dark"),
    (1280, "light"),
    (2560, "dark"),
    pytest.param(1280, "dark", marks=pytest.mark.thorough),
    pytest.param(1440, "light", marks=pytest.mark.thorough),
    pytest.param(1440, "dark", marks=pytest.mark.thorough),
    pytest.param(2560, "light", marks=pytest.mark.thorough),
)
PAGES = ("watch.html", "two.html", "exported.html", "diff.html", "report.html", "viewer.html")

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chrome or Chromium is installed here"),
    pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed here: make console"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with one page of each kind."""
    from reenact.cli import main

    folder = tmp_path_factory.mktemp("pages")
    home = folder / "home"
    good, bad = buy(home).name, buy(home, consent=False).name
    for words in (
        ["watch", good, "-o", "watch.html"],
        ["watch", good, bad, "-o", "two.html"],
        ["export", good, "exported.html"],
        ["diff", good, bad, "--html", "diff.html"],
        ["report", bad, "--good", good, "-o", "report.html"],
        ["export", "--viewer", "viewer.html"],
    ):
        place = [str(folder / word) if word.endswith(".html") else word for word in words]
        assert main([*place, "--home", str(home)]) in {0, 1}
    return folder


@pytest.fixture(scope="module")
def tab(chromium):
    """A tab for all tests: to make one takes longer than most of them."""
    # A page's own policy forbids axe, which comes from outside.
    context = chromium.new_context(bypass_csp=True, reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture
def opened(tab, folder):
    def show(name, width=1280, theme="light"):
        tab.set_viewport_size({"width": width, "height": 844})
        tab.emulate_media(color_scheme=theme)
        tab.goto((folder / name).as_uri())
        if name in {"watch.html", "two.html"}:
            tab.locator("#list [role=option]").first.wait_for()
        if name == "exported.html":
            tab.frame_locator("iframe.film").locator("#list [role=option]").first.wait_for()
        return tab

    return show


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize(("width", "theme"), WINDOWS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_finding_and_does_not_scroll_sideways(opened, name, width, theme):
    page = opened(name, width, theme)
    wrong = []
    for frame in page.frames:
        frame.evaluate(AXE.read_text())
        found = frame.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        wrong += [(each["id"], each["nodes"][0]["html"][:200]) for each in found]
        if frame.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wrong.append(("it scrolls sideways", frame.url))
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "width"),
    [
        ("watch.html", 390),
        ("two.html", 1280),
        ("diff.html", 390),
        ("report.html", 1280),
        pytest.param("watch.html", 1280, marks=pytest.mark.thorough),
        pytest.param("two.html", 390, marks=pytest.mark.thorough),
        pytest.param("diff.html", 1280, marks=pytest.mark.thorough),
        pytest.param("report.html", 390, marks=pytest.mark.thorough),
    ],
)
def test_tab_reaches_each_control_in_order_and_the_focus_is_seen(opened, name, width):
    assert walked(opened(name, width)) == []


@pytest.mark.parametrize("name", ["watch.html", "exported.html"])
def test_escape_closes_the_list_of_keys_and_the_focus_is_back_where_it_was(opened, name):
    page = opened(name)
    player = page if name == "watch.html" else page.frames[1]
    player.locator("#keys").focus()
    page.keyboard.press("Enter")
    player.locator("#help").wait_for()
    page.keyboard.press("Escape")
    player.locator("#help").wait_for(state="hidden")
    assert player.evaluate("document.activeElement.id") == "keys"


def test_on_a_phone_the_player_of_an_exported_page_shows_all_of_its_parts(opened):
    page = opened("exported.html", 390)
    frame = page.frames[1]
    assert page.evaluate("document.querySelector('iframe.film').getBoundingClientRect().width") == 390
    # Nothing of it is behind an inner scroll bar, and the playing takes two lines.
    assert frame.evaluate("document.documentElement.scrollHeight <= innerHeight")
    tops = frame.evaluate(
        "[...document.querySelectorAll('.transport > *')].filter((el) => el.checkVisibility())"
        ".map((el) => { const at = el.getBoundingClientRect(); return Math.round((at.top + at.bottom) / 2) })"
    )
    assert len(set(tops)) == 2
