"""The page itself in the page of `reenact watch` and in an exported file: by mouse, by keys, and with damaged moments."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reenact.browser.camera.footage import sessions
from reenact.browser.watch import write
from reenact.verbs.export_html import write as export
from reenact.verbs.interface import Context
from tests.browser.filming import served
from tests.browser.watch.shop import buy
from tests.browser.watch.test_html import opened  # noqa: F401 - the fixture of the same page

PAGES = {
    "/": "<!doctype html><title>Shop</title><style>h1{color:teal}</style><h1>Shop</h1><label>Search <input id=q></label>"
    "<button id=go onclick=\"found.textContent = '2 lamps'\">Search</button><p id=found></p><a href=/cart>Cart</a>",
    "/cart": "<!doctype html><title>Cart</title><h1>Cart</h1><button id=order>Order</button>",
}


@pytest.fixture(scope="module")
def folder(open_session):
    with served(PAGES) as site, open_session(headless=True, raise_on_failure=False) as session:
        session.execute(type="goto", url=site)
        session.execute(type="fill", selector="#q", value="lamp")
        session.execute(type="click", selector="#go")
        session.execute(type="click", selector="text=Cart")
        session.execute(type="click", selector="#order")
    return Path(session.recording)


def to_page(page):
    page.get_by_role("tab", name="Page").click()
    page.wait_for_selector(".moment[data-shown]")


def shown(page):
    return page.frame_locator(".moment-page").locator("body").inner_text().split()


def tried(page, text):
    field = page.get_by_label("Try a selector")
    field.fill(text)
    page.wait_for_function("() => document.querySelector('.moment-count').textContent !== ''")
    page.wait_for_timeout(200)
    return page.locator(".moment-count").text_content()


def test_a_selector_is_tried_at_the_moment_of_the_chosen_step(opened, folder):  # noqa: F811
    page = opened(write(folder, folder / "page.html", frames=True))
    page.locator(".row", has_text="Click button “Search”").click()
    to_page(page)
    assert "2" not in shown(page)
    assert tried(page, "text=2 lamps") == "No elements match"
    page.locator(".row", has_text="Click link “Cart”").click()
    page.wait_for_function(
        "() => document.querySelector('.moment-count').textContent === '1 element matches'"
    )
    assert "lamps" in shown(page)
    assert tried(page, "#order") == "No elements match"
    page.locator(".row", has_text="#order").or_(page.locator(".row", has_text="Order")).last.click()
    page.wait_for_function(
        "() => document.querySelector('.moment-count').textContent === '1 element matches'"
    )
    assert tried(page, "a[").startswith("It does not parse")
    assert page.locator(".moment-screen rect.match").count() == 0


@pytest.mark.thorough
def test_an_element_is_selected_by_mouse_and_by_keys_and_its_selectors_are_at_hand(opened, folder):  # noqa: F811
    page = opened(write(folder, folder / "page.html", frames=True))
    page.keyboard.press("6")
    page.wait_for_selector(".moment[data-shown]")
    page.locator(".row", has_text="Click link “Cart”").click()
    page.get_by_label("Try a selector").fill("role=button")
    page.get_by_label("Try a selector").press("Enter")
    facts = page.locator(".moment-facts")
    facts.get_by_role("heading", name="button “Search”").wait_for()
    assert facts.locator("dd").all_text_contents()[:2] == ["button", "go"]
    assert 'role=button[name="Search"]' in facts.get_by_role("button").all_text_contents()
    page.locator(".moment-screen").focus()
    page.keyboard.press("ArrowLeft")
    facts.locator("dd").first.get_by_text("label").wait_for()
    page.keyboard.press("ArrowDown")
    facts.get_by_role("heading", name="textbox “Search”").wait_for()
    frame = page.locator(".moment-page").bounding_box()
    page.mouse.click(frame["x"] + 30 * frame["width"] / 1280, frame["y"] + 45 * frame["height"] / 720)
    facts.get_by_role("heading", name="heading “Shop”").wait_for()
    assert page.locator(".moment-screen rect.selected").count() == 1
    facts.get_by_role("button").first.click()
    page.get_by_text("1 element matches").wait_for()


def test_a_session_without_moments_has_no_such_tab(opened, tmp_path):  # noqa: F811
    file = write(buy(tmp_path), tmp_path / "page.html", frames=True)
    page = opened(file)
    page.keyboard.press("6")
    assert "Page" not in page.get_by_role("tab").all_text_contents()
    assert "InjectedScript" not in file.read_text()


@pytest.mark.thorough
def test_a_moment_that_is_damaged_is_said_and_the_others_are_shown(opened, folder, tmp_path):  # noqa: F811
    damaged = tmp_path / folder.name
    shutil.copytree(folder, damaged)
    (footage,) = sessions(damaged)
    last = [entry["blob"] for entry in footage.entries("dom")][-1].removeprefix("sha256:")
    (damaged / "blobs" / last[:2] / last).write_bytes(b"<script>alert(1)</script>")
    page = opened(write(damaged, tmp_path / "page.html", frames=True))
    page.keyboard.press("6")
    page.wait_for_selector(".moment[data-shown]")
    page.keyboard.press("End")
    page.get_by_text("This moment is lost, or left out of the page.").wait_for()
    page.keyboard.press("Home")
    page.wait_for_selector(".moment[data-shown]")


@pytest.mark.thorough
def test_an_exported_file_has_it_too(chromium, folder, tmp_path):
    file = export(folder.name, tmp_path / "run.html", Context(folder.parent.parent), beside=None, force=False)
    page = chromium.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(file.as_uri())
    film = page.frame_locator("iframe.film")
    film.get_by_role("tab", name="Page").click()
    film.get_by_label("Try a selector").fill('get_by_role("button", name="Search")')
    film.locator("#slider").fill("999")
    film.get_by_label("Try a selector").fill("#order")
    film.get_by_text("1 element matches").wait_for()
    assert [one for one in wrong if "can escape its sandboxing" not in one] == []  # its policy holds it
    page.close()
