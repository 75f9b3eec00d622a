"""Pictures of the console's pages, in both themes and three widths: `make console-pictures` makes those of the tree anew.

Each is taken of a page that is opened by its address. The tests click from page to page and compare. The recordings have
fixed ids and times, so the wall clock shows nowhere; what depends on the server's own day is answered by the test.
"""

from __future__ import annotations

import io
import json
import subprocess
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import orjson
from PIL import Image, ImageChops
from playwright.sync_api import sync_playwright

import reenact
from reenact.browser.executable import find
from reenact.core.store.chain import chained
from tests.browser.watch.shop import buy
from tests.console import runs
from tests.console.conftest import serving
from tests.console.looking import LOOKS, still
from tests.console.server_answers import ANSWERS

FOLDER = Path(__file__).parent / "pictures"
WIDTHS = (390, 1280, 2560)
THEMES = ("light", "dark")
RECORDINGS = "nav >> text=Recordings"
PAGES = {
    "list": ("/", "[role=row] >> nth=4", ()),
    "recording": ("/r/support0001", ".said >> nth=3", ("main a[href='/r/support0001']",)),
    "steps": ("/r/support0001?view=steps", "[role=row] >> nth=4", ("main button >> text=Steps",)),
    "debug": ("/debug/support0001", "text=Start >> nth=0", ("main a >> text=Debug",)),
    "step": (
        "/r/support0001/7",
        "text=since step 5",
        (RECORDINGS, "main a[href='/r/support0001']", "main button[aria-label='Open step 7']"),
    ),
    "session": (
        "/r/lamp000001/session/1?step=3",
        ".filmstrip img >> nth=3",
        (RECORDINGS, "main a[href='/r/lamp000001']", "main a >> text=Session", "#film-step-1"),
    ),
    "moment": ("/r/lamp000001/session/1?step=7", ".moment rect.match >> nth=1", ("#film-step-3",)),
    "choose": (
        "/compare?a=lamp000001",
        ".candidate >> nth=2",
        ("main a[href='/r/lamp000001']", "main a >> text=Compare"),
    ),
    "compare": (
        "/compare/lamp000001/lamp000002",
        "text=First difference >> nth=0",
        (".candidate >> text=lamp000002",),
    ),
    "trends": ("/trends", ".chart canvas >> nth=3", ("nav >> text=Trends",)),
    "jobs": ("/jobs", "text=Start a job", ("nav >> text=Jobs",)),
    "job": ("/jobs/repro00001", "text=It reproduces", ("main a[href^='/jobs/']",)),
    "heals": ("/heals", "pre.diff", ("nav >> text=Heals",)),
}
"""Each page's address, what is there when it is drawn, and what is clicked one after another on the page before."""
AGAIN = (("recording", PAGES["step"][2][:2]), ("step", PAGES["step"][2][2:]))
"""Pages that are looked at once more at the end: by then the style sheets of all pages are loaded."""


def tried(page) -> None:
    """Look at the page itself, try a selector on it and select what matches first."""
    page.get_by_role("tab", name="Page").click()
    page.locator(".moment[data-shown]").wait_for()
    page.get_by_label("Try a selector").fill("button")
    page.get_by_label("Try a selector").press("Enter")
    page.locator(".moment-facts h2").wait_for()
    page.locator(".moment-facts h2").evaluate("one => document.activeElement.blur()")


DONE = {"moment": tried}
"""What is done on a page before its picture is taken."""

FONTS = """
* { font-family: "DejaVu Sans" !important; }
code, pre, .mono, .mono *, textarea { font-family: "DejaVu Sans Mono" !important; }
"""
BLOCK = 8
"""Pixels of the squares that are compared by their mean colour: smoothing of letters does not count."""
DIFFERS = 20
"""Levels of 255 from which a square differs."""
MOST = 10
"""Squares that may differ: a few letters. A moved line has hundreds."""


def has_fonts() -> bool:
    """Whether the fonts of the pictures are installed."""
    try:
        listed = subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return False
    return "DejaVu Sans\n" in f"{listed}\n" and "DejaVu Sans Mono" in listed


def fixed(folder: Path, id: str, started: str) -> None:
    """Give a recording an id and times that are the same whenever it is made."""
    events = folder / "events.jsonl"
    lines = [orjson.loads(line) for line in events.read_bytes().splitlines()]
    lines[0] |= {"id": id, "started": started, "pid": 1, "program": {"argv": ["agent.py"], "python": "3.11"}}
    # Calls and answers alone: how often the clock and the like were read depends on the machine.
    number = 0
    for line in lines:
        line.pop("sum", None)
        line.pop("signed", None)
        number += line["event"] in ("called", "returned", "raised")
        if "t" in line and not (folder / "session.1.jsonl").exists():
            line["t"] = number / 10
        if line["event"] == "sealed":
            line["t"] = max(each.get("t", 0.0) for each in lines[:-1]) + 0.1
    events.write_bytes(chained(orjson.dumps(line) for line in settled(lines)))
    folder.rename(folder.with_name(id))


def settled(lines: list[dict]) -> list[dict]:
    """Order the answers between two questions by their calls, the inner ones first: it depended on the machine."""
    inner = {line["call"] for line in lines if line["event"] == "called" and line["in"] is not None}
    found, places = list(lines), []
    for place, line in enumerate(lines):
        if line["event"] in ("called", "sealed"):
            answers = sorted(
                (lines[one] for one in places), key=lambda one: (one["call"] not in inner, one["call"])
            )
            times = [lines[one]["t"] for one in places]
            for one, answer, t in zip(places, answers, times, strict=True):
                found[one] = answer | {"t": t}
            places = []
        elif line["event"] in ("returned", "raised"):
            places.append(place)
    return found


def made(home: Path) -> None:
    """Make the recordings of the pictures."""
    for number, price in ((1, 20.0), (2, 12.5)):
        with reenact.record("support", home=home, tags=["staging"]) as recording:
            runs.support(price)
        fixed(Path(recording.path), f"support000{number}", f"2026-11-20T12:0{number}:00.000+00:00")
    fixed(buy(home, consent=False, dom=True), "lamp000001", "2026-11-20T11:00:00.000+00:00")
    fixed(buy(home), "lamp000002", "2026-11-20T11:30:00.000+00:00")


@contextmanager
def served():
    """A server of these recordings, all of which it has examined."""
    with tempfile.TemporaryDirectory(prefix="reenact-") as folder:
        # In a thread of its own: Playwright's loop runs in this one, and a run has a loop, too.
        with ThreadPoolExecutor(1) as apart:
            apart.submit(made, Path(folder)).result()
        with serving(Path(folder), keyless=True) as site:
            while True:
                with urllib.request.urlopen(f"{site}/api/v1/recordings") as answer:
                    page = json.load(answer)
                looked = [line["id"] for line in page["items"] if line["anomalies"] is not None]
                if page["complete"] and len(looked) == 4:
                    break
                time.sleep(0.1)
            yield site


TO_THE_TOP = """
document.querySelectorAll('*').forEach((one) => { if (one.scrollTop) one.scrollTop = 0 });
document.querySelector('.moment')?.scrollIntoView({ block: 'end' });
"""


def answering(told: dict):
    """Return the handler that answers a request with this."""
    return lambda route: route.fulfill(json=told)


@contextmanager
def window(browser, site: str, width: int):
    """A page whose clock, fonts and answers do not depend on the machine."""
    context = browser.new_context(
        base_url=site,
        viewport={"width": width, "height": 800},
        timezone_id="UTC",
        locale="en-GB",
        reduced_motion="reduce",
        bypass_csp=True,
    )
    page = context.new_page()
    page.set_default_timeout(0)
    page.clock.set_fixed_time("2026-12-01T12:00:00Z")
    for address, told in ANSWERS.items():
        page.route(address, answering(told))
    # The pictures of the session, and not a video that is being made.
    page.route("**/sessions/*/video", lambda route: route.fulfill(status=404, json={"detail": "none"}))
    try:
        yield page
    finally:
        context.close()


def opened(page):
    """Open each page by its address; yield its name."""
    for name, (address, drawn, _) in PAGES.items():
        page.goto(address)
        page.add_style_tag(content=FONTS)
        DONE.get(name, lambda _: None)(page)
        page.locator(drawn).first.wait_for(state="attached")
        yield name


def clicked(page):
    """Reach each page by clicking, from the list; yield its name."""
    page.goto("/")
    page.add_style_tag(content=FONTS)
    for name, clicks in (*((name, clicks) for name, (_, _, clicks) in PAGES.items()), *AGAIN):
        for what in clicks:
            page.locator(what).first.click()
        page.mouse.move(0, 0)
        DONE.get(name, lambda _: None)(page)
        page.locator(PAGES[name][1]).first.wait_for(state="attached")
        yield name


def seen(page) -> Image.Image:
    """The picture of a page that stands still."""
    # Where a list begins that scrolls to its step depends on what was loaded first.
    return image(still(page, TO_THE_TOP))


def compared(page, path: Path) -> tuple[int, Image.Image]:
    """Wait until a page looks as in a picture, or stands still; return the squares that differ, and its look."""
    with Image.open(path) as known:
        looks: list[bytes] = []
        while True:
            page.evaluate(TO_THE_TOP)
            looks = [*looks[1 - LOOKS :], page.screenshot(animations="disabled")]
            look = image(looks[-1])
            count = differing(look, known)
            if count <= MOST:
                return count, look
            if len(looks) == LOOKS and len(set(looks)) == 1:
                # It may still wait for an answer of the server.
                look = seen(page)
                return differing(look, known), look


def image(png: bytes) -> Image.Image:
    """The picture of a file's bytes."""
    return Image.open(io.BytesIO(png)).convert("RGB")


def differing(one: Image.Image, other: Image.Image) -> int:
    """The number of squares in which two pictures differ."""
    if one.size != other.size:
        return one.width * one.height
    size = (-(-one.width // BLOCK), -(-one.height // BLOCK))
    small = [image.convert("RGB").resize(size, Image.Resampling.BOX) for image in (one, other)]
    red, green, blue = ImageChops.difference(*small).split()
    most = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    return sum(most.histogram()[DIFFERS:])


def keep(path: Path, picture: Image.Image) -> None:
    """Write a picture, if it differs from the one that is there."""
    small = picture.quantize(256, dither=Image.Dither.NONE)
    if not path.exists() or differing(small, Image.open(path)) > 0:
        small.save(path, "PNG", optimize=True)


def main() -> None:
    """Take all pictures and write those that differ."""
    FOLDER.mkdir(exist_ok=True)
    with served() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find())
        for width in WIDTHS:
            with window(browser, site, width) as page:
                for name in opened(page):
                    for theme in THEMES:
                        page.emulate_media(color_scheme=theme)
                        keep(FOLDER / f"{name}-{width}-{theme}.png", seen(page))
        browser.close()
    sizes = [path.stat().st_size for path in FOLDER.glob("*.png")]
    print(f"{len(sizes)} pictures in {FOLDER}, {sum(sizes):,} bytes")


if __name__ == "__main__":
    main()
