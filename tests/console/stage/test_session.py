"""A browser session in the console: live while a real browser works, and as a film afterwards."""

from __future__ import annotations

import base64
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from reenact import Client
from tests.browser.watch.shop import SIZE, buy, picture, see
from tests.console.stage.conftest import sound

PAGES = Path(__file__).parents[3] / "examples" / "lamp_shop" / "pages"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def shop():
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(PAGES)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class Visit(threading.Thread):
    """A session in a thread, one action whenever it is let."""

    def __init__(self, *actions):
        super().__init__(daemon=True)
        self.actions = actions
        self.id, self.begun = "", threading.Event()
        self.turns, self.done = threading.Semaphore(0), threading.Semaphore(0)
        self.error = None

    def run(self):
        try:
            self._visit()
        except Exception as error:
            self.error = error
        finally:
            # Who waits goes on, and sees the error.
            self.begun.set()
            self.done.release()

    def _visit(self):
        with Client().Session(headless=True, idle_timeout_minutes=60) as session:
            self.id = session.id
            self.begun.set()
            for action in self.actions:
                self.turns.acquire()
                session.execute(**action)
                self.done.release()
            self.turns.acquire()

    def act(self):
        self.turns.release()
        self.done.acquire()
        if self.error is not None:
            raise self.error


def test_a_session_is_seen_while_it_goes_on_and_played_when_it_is_over(opened, home, shop):
    visit = Visit(
        {"type": "goto", "url": f"{shop}/shop.html"},
        {"type": "fill", "selector": "#q", "value": "lamp"},
        {"type": "goto", "url": f"{shop}/item.html"},
    )
    visit.start()
    visit.begun.wait()
    visit.act()
    page = opened(f"/r/{visit.id.partition('.')[0]}/session/1")
    page.get_by_text("live", exact=True).first.wait_for()
    page.locator(".stage-url", has_text="/shop.html").wait_for()
    picture = page.locator(".screen > img[src^='data:image/jpeg;base64,']")
    picture.wait_for()
    first = picture.get_attribute("src")
    visit.act()
    visit.act()
    page.locator(".stage-url", has_text="/item.html").wait_for()
    page.get_by_role("option", name="item.html").wait_for()
    assert picture.get_attribute("src") != first
    # Back to what was seen before, while it goes on; and to now again.
    page.get_by_role("option", name="Fill").click()
    page.locator(".stage-url", has_text="/shop.html").wait_for()
    assert page.get_by_role("button", name="Live").get_attribute("aria-pressed") == "false"
    page.get_by_role("button", name="Live").click()
    page.locator(".stage-url", has_text="/item.html").wait_for()
    sound(page)
    visit.turns.release()
    visit.join()

    video = page.locator("video")
    video.wait_for()
    page.keyboard.press("Home")
    steps = page.get_by_role("listbox", name="Steps").get_by_role("option")
    assert steps.first.get_attribute("aria-selected") == "true"
    page.wait_for_function("document.querySelector('video').readyState >= 3")
    before = video.evaluate("video => video.currentTime")
    page.keyboard.press("Space")
    last = page.locator("[role=option][aria-selected=true]", has_text="item.html")
    last.wait_for()
    assert video.evaluate("video => video.currentTime") > before
    page.keyboard.press("Space")
    sound(page)


def test_the_pictures_of_a_prompt_stand_in_the_conversation_and_beside_the_film(opened, home):
    see(home, base64.b64encode(picture("item")).decode())
    page = opened("/")
    page.get_by_role("link", name="look at a lamp").first.click()
    said = page.locator(".said", has_text="What is it?")
    width = "image => image.decode().then(() => image.naturalWidth)"
    assert said.locator("img").evaluate(width) == SIZE[0]
    sound(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("link", name="Session").click()
    page.get_by_role("option", name="Brass lamp").click()
    page.get_by_role("tab", name="Model").click()
    assert page.locator(".film-said img").evaluate(width) == SIZE[0]
    sound(page)


@pytest.fixture(scope="module")
def bought(home):
    return buy(home, consent=False).name, buy(home).name


def test_a_session_s_address_in_the_api_leads_a_person_to_its_page(opened, bought):
    page = opened(f"/sessions/{bought[0]}.1")
    page.wait_for_url(f"**/r/{bought[0]}/session/1")
    page.locator(".film-step").first.wait_for()


@pytest.mark.thorough
def test_a_film_is_gone_through_by_keys_alone(opened, bought):
    page = opened(f"/r/{bought[0]}/session/1")
    chosen = page.locator(".film-step[aria-selected=true]")
    chosen.get_by_text("Go to https://shop.test/shop").wait_for()
    page.keyboard.press("j")
    chosen.get_by_text("Click button “Brass lamp”").wait_for()
    page.keyboard.press("n")
    chosen.get_by_text("Click button “Pay”").wait_for()
    page.get_by_role("tabpanel").get_by_text("covered by div#consent").first.wait_for()
    page.keyboard.press("2")
    page.get_by_role("tabpanel").get_by_text("Now I pay.").wait_for()
    page.keyboard.press("3")
    page.get_by_role("tabpanel").get_by_text("402").wait_for()
    page.keyboard.press("5")
    page.get_by_role("tabpanel").get_by_text("- heading").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("password")
    page.get_by_text("1 of 4 steps").wait_for()
    page.keyboard.press("Enter")
    chosen.get_by_text("Fill #password with •••••").wait_for()
    assert page.url.endswith("?step=5")
    sound(page)


@pytest.mark.thorough
def test_the_list_of_keys_names_each_key(opened, bought):
    page = opened(f"/r/{bought[0]}/session/1")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts").locator("dt").all_inner_texts()
    assert {"Space", "←", "→", "↑", "↓", "Home"} <= set(keys)
    assert all(key.strip() for key in keys)


def test_two_sessions_play_in_step(opened, bought):
    page = opened(f"/compare/{bought[1]}/{bought[0]}")
    pair = page.get_by_label("Both sessions, in step")
    pair.locator("video").nth(1).wait_for()
    pair.get_by_label("Time").fill("3.2")
    page.wait_for_function("[...document.querySelectorAll('video')].every(video => video.currentTime > 2)")
    assert "Click" in pair.locator(".doing").first.inner_text()


@pytest.mark.thorough
def test_two_runs_are_chosen_by_clicks_and_play_up_to_their_first_difference(opened, bought):
    page = opened("/compare")
    candidates = page.get_by_role("list", name="Recordings")
    sound(page)
    candidates.get_by_role("button", name="buy a lamp").filter(has_not_text="again").first.click()
    rest = page.get_by_role("list", name="Recordings to compare with")
    sound(page)
    page.get_by_label("Search recordings").fill("again")
    rest.get_by_role("button", name="buy a lamp, again").first.click()
    page.wait_for_url("**/compare/*/*")
    pair = page.get_by_label("Both sessions, in step")
    parted = pair.get_by_text("from here the two runs differ")
    time = pair.get_by_label("Time")
    time.wait_for()
    begin = float(time.input_value())
    pair.get_by_role("button", name="Play").click()
    parted.wait_for()
    first = float(time.input_value())
    assert first > begin
    pair.get_by_role("button", name="Play").wait_for()  # it does not go on by itself
    pair.get_by_role("button", name="Play").click()
    parted.wait_for(state="hidden")
    pair.get_by_role("button", name="Pause").click()
    page.keyboard.press("d")
    parted.wait_for()
    assert float(time.input_value()) == first
    sound(page)


def test_two_sessions_open_where_both_show_their_first_page(opened, bought):
    page = opened(f"/compare/{bought[0]}/{bought[1]}")
    page.locator(".both-stages .stage-url", has_text="https://shop.test/shop").nth(1).wait_for()


def test_on_a_phone_a_pane_that_is_chosen_comes_into_sight(opened, bought):
    page = opened(f"/r/{bought[0]}/session/1")
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("tab", name="Network").click()
    pane = page.get_by_role("tabpanel", name="Network")
    pane.locator("visible=true").wait_for()
    assert page.evaluate(
        "() => { const at = document.querySelector('[role=tabpanel][data-state=active]').getBoundingClientRect();"
        " return at.top > 0 && at.top + 100 < innerHeight }"
    )


def test_a_pane_has_room_below_the_picture(opened, bought):
    page = opened(f"/r/{bought[0]}/session/1")
    for height in (720, 900, 1400):
        page.set_viewport_size({"width": 1280, "height": height})
        assert page.locator("[role=tabpanel][data-state=active]").bounding_box()["height"] >= 150


@pytest.mark.thorough
def test_a_strip_of_small_pictures_shows_the_page_after_each_step(opened, bought):
    page = opened(f"/r/{bought[1]}/session/1")
    pictures = page.locator(".filmstrip img")
    pictures.first.wait_for()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.filmstrip img')].every((one) => one.naturalWidth > 0)"
    )
    assert page.evaluate("document.querySelector('.filmstrip img').naturalWidth") == 224
    page.locator(".thumbnail", has_text="Pay").first.click()
    chosen = page.locator(".film-step[aria-selected=true]")
    chosen.get_by_text("Pay").wait_for()
    page.locator(".thumbnail.here", has_text="Pay").wait_for()
    sound(page)
