"""The page in a real browser: by mouse, by keyboard alone, and with hostile recordings."""

from __future__ import annotations

import base64
import io
import re
from importlib.resources import files

import pytest
from PIL import Image

import reenact
from reenact.browser.video import means
from reenact.browser.watch import html as pages
from reenact.browser.watch import write
from tests.browser.watch.shop import COLOURS, SIZE, Shop, buy, picture, see
from tests.chromium import CHROMIUM

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chrome or Chromium is installed here")


@pytest.fixture
def opened(chromium):
    """Opens a page in a window of its own; what goes wrong in it fails the test."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    wrong: list[str] = []

    def show(file, link=""):
        page = context.new_page()
        page.refusals = wrong
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: None if own(request.url) else wrong.append(request.url))
        page.goto(f"{file.as_uri()}{link}")
        page.wait_for_selector("body[data-whole]")
        return page

    yield show
    context.close()
    assert wrong == []


def own(url):
    return url.startswith(("file:", "blob:", "data:"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    return buy(home), buy(home, consent=False)


@pytest.fixture(scope="module")
def bad(folders):
    return write(folders[1], folders[1] / "page.html", frames=True)


@pytest.fixture(scope="module")
def two(folders):
    return write(folders[0], folders[0] / "two.html", beside=folders[1], frames=True)


def chosen(page):
    return page.locator("#list [aria-selected=true] .title").text_content()


def heading(page, column=0):
    return page.locator(".column").nth(column).locator("h2").first.text_content()


def now(page):
    return float(page.locator("#slider").input_value())


def colour(page, screen=0):
    """Which page of the shop is on the screen, by its colour in a corner."""
    frame = page.locator(".screen").nth(screen)
    frame.locator("canvas[data-picture]").wait_for()
    settled(page)
    image = Image.open(io.BytesIO(frame.screenshot())).convert("RGB")
    seen = image.getpixel((image.width - 8, 8))
    return min(COLOURS, key=lambda name: sum(abs(a - b) for a, b in zip(COLOURS[name], seen, strict=True)))


def settled(page):
    """Wait until what was asked for is painted."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_function("() => !document.querySelector('canvas[aria-busy=true]')")


def tab(page, name):
    page.get_by_role("tab", name=name).click()


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


# -- moving together -----------------------------------------------------------------------------------------


def test_a_picture_that_cannot_be_shown_leaves_none_of_another_moment(opened, bad):
    page = opened(bad)
    page.locator("canvas[data-picture]").wait_for()
    page.evaluate("() => { HTMLImageElement.prototype.decode = () => Promise.reject(new Error('broken')) }")
    page.click("text=Click button “Pay”")
    settled(page)
    drawn = "(canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean)"
    assert not page.locator("canvas[role=img]").evaluate(drawn)


def test_a_click_on_a_step_takes_screen_address_and_details_there(opened, bad):
    page = opened(bad)
    page.click("text=Fill #password")
    assert now(page) == pytest.approx(2.2)
    assert heading(page) == "5. Fill #password with •••••"
    page.click("text=Click button “Pay”")
    assert page.locator(".url").text_content() == "https://shop.test/checkout"
    assert colour(page) == "checkout"
    assert page.locator(".why p").text_content() == "the button “Pay” is covered by div#consent"


def test_it_opens_where_the_first_page_is_to_be_seen(opened, bad):
    page = opened(bad)
    assert now(page) > 0
    assert chosen(page) == "Go to https://shop.test/shop"
    assert colour(page) == "shop"


@pytest.mark.thorough
def test_a_strip_of_small_pictures_shows_each_action_and_leads_to_it(opened, bad):
    page = opened(bad)
    small = page.locator("#strip .thumbnail")
    assert small.count() == page.locator("#list .row").count()
    assert small.first.get_attribute("title").endswith("Go to https://shop.test/shop")
    assert small.evaluate_all("all => all.every(each => each.querySelector('img').naturalWidth > 0)")
    last = small.last
    last.click()
    assert last.get_attribute("class").split()[-1] == "here"
    assert chosen(page) in last.get_attribute("title")


def test_scrubbing_marks_the_step_of_that_moment(opened, bad):
    page = opened(bad)
    page.locator("#slider").fill("1.9")
    assert chosen(page) == "Click button “Brass lamp”"
    assert colour(page) == "item"
    page.locator("#slider").fill("0.45")
    assert chosen(page) == "Go to https://shop.test/shop"
    assert colour(page) == "shop"


@pytest.mark.thorough
def test_playing_goes_on_to_the_next_step_and_stops_at_the_end(opened, bad):
    page = opened(bad, "#step=1")
    page.select_option("#speed", "4")
    page.click("#play")
    page.wait_for_function(
        "() => document.querySelector('#play').getAttribute('aria-label') === 'Play'", timeout=120_000
    )
    assert now(page) == pytest.approx(4.0, abs=0.01)
    assert chosen(page) == "Click button “Pay”"


@pytest.mark.thorough
def test_at_a_compact_pace_idle_stretches_are_passed_over(opened, tmp_path):
    with reenact.record(home=tmp_path) as recording:
        shop = Shop(recording)
        shop.act("shop", type="click", selector="#a")
        shop.t = 3600.0
        shop.act("item", type="click", selector="#b")
        shop.close()
    folder = recording._store.folder(recording.id)
    page = opened(write(folder, folder / "page.html", frames=True, pace="compact"), "#step=1")
    assert page.locator("#skip").get_attribute("aria-pressed") == "true"
    page.select_option("#speed", "4")
    page.click("#play")
    page.wait_for_function("() => Number(document.querySelector('#slider').value) > 3600.3", timeout=120_000)
    assert chosen(page) == "Click #b"


def test_the_ring_stands_on_the_element_and_can_be_taken_off(opened, bad):
    page = opened(bad, "#step=3")
    ring = page.locator("svg .ring")
    assert [float(ring.get_attribute(side)) for side in ("x", "y")] == [6, 6]
    assert page.locator(".screen svg").get_attribute("viewBox") == f"0 0 {SIZE[0]} {SIZE[1]}"
    page.keyboard.press("r")
    assert ring.count() == 0


@pytest.mark.thorough
def test_each_pane_shows_what_belongs_to_the_step(opened, bad):
    page = opened(bad, "#step=7")
    tab(page, "Model")
    assert page.locator(".message.answer .text").text_content() == "Now I pay."
    tab(page, "Network")
    assert page.locator("#network-0 .line").count() == 2
    page.click("#network-0 .line.bad")
    assert "https://shop.test/pay" in page.locator(".more").text_content()
    page.click("text=All 5")
    assert page.locator("#network-0 .line").count() == 5
    tab(page, "Console")
    assert page.locator("#console-0 .grow").text_content() == "checkout is shown"
    tab(page, "Tree")
    assert page.locator(".column pre").text_content() == "- heading checkout"


# -- by keyboard alone ---------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_every_key_does_what_the_help_says(opened, bad):
    page = opened(bad)
    press(page, "j", "j")
    assert chosen(page) == "Fill #password with •••••"
    press(page, "k")
    assert chosen(page) == "Click button “Brass lamp”"
    press(page, "n")
    assert chosen(page) == "Click button “Pay”"
    press(page, "p")
    assert chosen(page) == "Click button “Pay”"
    press(page, "Home", "ArrowRight")
    assert now(page) == pytest.approx(1.0)
    press(page, "2")
    assert page.locator("[role=tab][aria-selected=true]").text_content() == "Model"
    press(page, ">", "Space")
    assert page.locator("#play").get_attribute("aria-label") == "Pause"
    assert page.locator("#speed").input_value() == "2"
    press(page, "Space", "a", "Home", "j")
    assert chosen(page) == "I open the lamp."
    press(page, "?")
    assert page.locator("#help").is_visible()
    press(page, "Escape")
    assert page.locator("#help").is_hidden()


@pytest.mark.thorough
def test_search_finds_a_step_by_any_of_its_words(opened, bad):
    page = opened(bad)
    press(page, "/")
    page.keyboard.type("div#consent")
    assert page.locator("#list .row").count() == 1
    press(page, "Enter")
    assert heading(page) == "7. Click button “Pay”"
    assert page.evaluate("document.activeElement.id") == "list"
    press(page, "/", "Escape")
    assert page.locator("#list .row").count() == 4


@pytest.mark.thorough
def test_tab_leads_through_all_controls_and_each_shows_that_it_has_the_focus(opened, bad):
    page = opened(bad)
    seen = []
    for _ in range(20):
        press(page, "Tab")
        name, outline = page.evaluate(
            "(() => { const e = document.activeElement; return [e.id, getComputedStyle(e).outlineStyle] })()"
        )
        if name in seen or not name:
            break
        seen.append(name)
        assert outline != "none", name
    wanted = [
        "keys",
        "play",
        "previous",
        "next",
        "slider",
        "speed",
        "skip",
        "layers",
        "search",
        "kinds",
        "list",
    ]
    assert seen == [*wanted, "tab-Step", "panel"]


@pytest.mark.thorough
def test_a_list_is_walked_by_arrows_and_says_which_row_is_chosen(opened, bad):
    page = opened(bad)
    page.focus("#list")
    press(page, "ArrowDown", "ArrowDown", "End")
    assert chosen(page) == "Click button “Pay”"
    named = page.locator("#list").get_attribute("aria-activedescendant")
    assert page.locator(f"#{named}").get_attribute("aria-selected") == "true"
    page.focus("#tab-Step")
    press(page, "ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-Model"


# -- links ---------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_link_leads_to_a_step_and_choosing_one_makes_the_link(opened, bad):
    page = opened(bad, "#step=5")
    assert heading(page).startswith("5. ")
    press(page, "j")
    assert page.url.endswith("#step=7")
    page.evaluate("location.hash = '#step=6'")
    page.wait_for_function("() => document.querySelector('.column h2').textContent.startsWith('6. ')")
    assert page.locator("#kinds").input_value() == "all"


@pytest.mark.thorough
@pytest.mark.parametrize("link", ["#step=99", "#step=b2", "#step=<script>", "#nothing"])
def test_a_link_to_nowhere_is_the_beginning(opened, bad, link):
    assert now(opened(bad, link)) == now(opened(bad))


# -- two runs ------------------------------------------------------------------------------------------------


def test_two_runs_stand_side_by_side_with_their_parting_marked(opened, two):
    page = opened(two)
    assert "First difference at step 6 of A, step 6 of B" in page.locator("#parting").text_content()
    press(page, "g")
    assert page.locator(".row.here .title").text_content() == "Click button “Accept all”"
    assert chosen(page) == "Click button “Accept all”"
    press(page, "j")
    assert (heading(page, 0), heading(page, 1)) == ("9. Click button “Pay”", "7. Click button “Pay”")
    assert page.locator(".difference del").first.text_content() == "true"
    assert page.locator(".difference ins").first.text_content() == "false"


@pytest.mark.thorough
def test_two_runs_pause_at_the_first_difference_and_go_on_from_there(opened, two):
    page = opened(two)
    parting = page.evaluate(
        "(() => { document.querySelector('#parting button').click(); return Number(document.querySelector('#slider').value) })()"
    )
    page.locator("#slider").fill(str(parting - 0.2))
    press(page, "Escape")
    page.click("#play")
    page.wait_for_selector("#play[aria-label=Play]")
    assert now(page) == pytest.approx(parting, abs=0.011)
    page.click("#play")
    page.wait_for_selector("#play[aria-label=Pause]")
    page.wait_for_selector("#play[aria-label=Play]")
    assert now(page) > parting + 0.1


def test_at_each_shared_step_both_runs_begin_together(opened, two):
    page = opened(two, "#step=9")
    page.locator("#slider").fill(str(now(page) + 0.5))
    assert (colour(page, 0), colour(page, 1)) == ("thanks", "checkout")
    assert [row.text_content() for row in page.locator(".url").all()] == [
        "https://shop.test/thanks",
        "https://shop.test/checkout",
    ]


# -- video ---------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.skipif(means() == "page", reason="nothing here encodes H.264")
def test_a_video_is_kept_to_the_time_of_the_page(opened, folders):
    page = opened(write(folders[1], folders[1] / "video.html"), "#step=5")
    video = page.locator("video")
    page.wait_for_function("() => document.querySelector('video').readyState >= 2")
    segments = pages_video(page)
    begin = segments[0][1]
    assert video.evaluate("v => v.currentTime") == pytest.approx(2.2 - begin, abs=0.05)
    press(page, "Space")
    page.wait_for_function(
        "() => document.querySelector('video').currentTime > 1.9 && !document.querySelector('video').paused"
    )
    press(page, "Space")
    page.wait_for_function(
        "() => document.querySelector('video').paused && !document.querySelector('video').seeking"
    )
    assert video.evaluate("v => v.currentTime") == pytest.approx(now(page) - begin, abs=0.1)


@pytest.mark.skipif(means() == "page", reason="nothing here encodes H.264")
def test_a_video_that_is_too_large_for_the_page_lies_beside_it(opened, folders, tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "INSIDE", 1000)
    page = opened(write(folders[1], tmp_path / "a #1.html"), "#step=5")
    page.wait_for_function("() => document.querySelector('video').readyState >= 2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a #1.html", "a #1.mp4"]


def pages_video(page):
    return page.evaluate("() => inflated(dataOf('data')).then((data) => data.sides[0].video)")


# -- what it must stand ---------------------------------------------------------------------------------------

HOSTILE = [
    "<script>document.title = 'owned'</script>",
    "</script><img src=x onerror=\"document.title='owned'\">",
    "javascript:document.title='owned'",
    "{{script}} {{policy}}",
    "\u202egnp.exe",
    "nul \x00 \x1b[31m bell \x07",
    "\ud800 alone".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
    "عربى يمين",
]


@pytest.mark.thorough
def test_hostile_recordings_are_shown_as_text_and_run_nothing(opened, tmp_path):
    with reenact.record(HOSTILE[1] + HOSTILE[3], home=tmp_path) as recording:
        shop = Shop(recording)
        for text in HOSTILE:
            shop.think(text)
            shop.act("shop", type="fill", selector=text, value=text, failed=text, why={text: text}, name=text)
            shop.request(shop.t - 0.1, text, body=text)
            shop.file.write("console", t=shop.t - 0.1, tab=0, level=text, text=text, url=text, row=7)
            shop.file.write("dialog", t=shop.t - 0.2, tab=0, kind=text, text=text, answer=text)
            shop.file.write("tab", t=shop.t - 0.2, tab=0, what="navigated", url=text, title=text)
        shop.close()
    folder = recording._store.folder(recording.id)
    page = opened(write(folder, folder / "page.html", beside=folder, frames=True))
    for key in "123451":
        press(page, key)
        for _ in HOSTILE:
            press(page, "j")
        press(page, "Home")
    assert page.title() != "owned"
    assert page.locator("script").count() == 7
    assert page.locator("img:not(#strip img)").count() == 0
    assert HOSTILE[0] in page.locator("body").inner_text()
    assert "<U+202E>gnp.exe" in page.locator("#list").inner_text()
    assert "\x00" not in page.content()


def test_the_page_may_fetch_nothing_and_run_nothing_else(bad, opened):
    text = bad.read_text()
    assert "default-src 'none'" in text
    assert "unsafe" not in re.search(r'Security-Policy" content="([^"]*)"', text)[1]
    page = opened(bad)
    assert (
        page.evaluate("() => fetch('file:///etc/hostname').then(() => 'came', () => 'refused')") == "refused"
    )
    assert (
        page.evaluate(
            "() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
            " document.body.append(s); return window.ran }"
        )
        is None
    )
    page.refusals.clear()


def test_no_script_of_the_page_takes_text_for_markup():
    for name in pages.SCRIPTS:
        text = files("reenact.browser.watch").joinpath(name).read_text()
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text
        )


@pytest.mark.thorough
def test_of_a_thousand_steps_only_those_in_sight_are_on_the_page(opened, tmp_path):
    with reenact.record(home=tmp_path) as recording:
        shop = Shop(recording)
        for number in range(300):
            shop.act("shop", type="click", selector=f"#n{number}")
        shop.close()
    folder = recording._store.folder(recording.id)
    page = opened(write(folder, folder / "page.html", frames=True))
    assert page.locator("#list .row").count() < 60
    press(page, "End", "j")
    assert page.locator("#list [aria-selected=true]").get_attribute("aria-posinset") == "300"


@pytest.mark.thorough
@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_sticks_out_of_the_window(opened, bad, width):
    page = opened(bad, "#step=7")
    page.set_viewport_size({"width": width, "height": 844})
    for key in "12345":
        press(page, key)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_pane_of_the_model_shows_the_pictures_of_its_prompt(home, tmp_path, opened):
    folder = see(home, base64.b64encode(picture("item")).decode())
    page = opened(write(folder, tmp_path / "see.html"))
    page.get_by_role("option", name="Brass lamp").click()
    page.get_by_role("tab", name="Model").click()
    image = page.locator(".message img")
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == SIZE[0]
    assert image.evaluate("image => image.previousSibling.textContent") == "What is it?\n[image]"


def test_a_picture_for_which_a_page_has_no_room_is_named(home, tmp_path, opened, monkeypatch):
    monkeypatch.setattr("reenact.browser.watch.content.PICTURES", 100)
    folder = see(home, base64.b64encode(picture("item")).decode())
    page = opened(write(folder, tmp_path / "see.html"))
    page.get_by_role("option", name="Brass lamp").click()
    page.get_by_role("tab", name="Model").click()
    page.locator(".message", has_text="A picture is left out: the page is full.").wait_for()
