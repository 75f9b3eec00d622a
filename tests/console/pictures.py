"""Pictures of the console's pages, in both themes and three widths: `make console-pictures` makes those of the tree anew.

The recordings have fixed ids and times, so the wall clock shows nowhere; what the server counts from its own day is
answered by the test.
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
from tests.console.looking import still

FOLDER = Path(__file__).parent / "pictures"
WIDTHS = (390, 1280, 1920)
THEMES = ("light", "dark")
PAGES = {
    "list": ("/", "[role=row] >> nth=4"),
    "recording": ("/r/support0001", ".said >> nth=3"),
    "step": ("/r/support0001/7", "text=since step 5"),
    "steps": ("/r/support0001?view=steps", "[role=row] >> nth=4"),
    "session": ("/r/lamp000001/session/1?step=3", ".filmstrip img >> nth=3"),
    "moment": ("/r/lamp000001/session/1?step=7", ".moment rect.match >> nth=1"),
    "choose": ("/compare?a=support0001", ".candidate >> nth=2"),
    "compare": ("/compare/lamp000001/lamp000002", "text=First difference >> nth=0"),
    "debug": ("/debug/support0001", "text=Start >> nth=0"),
    "trends": ("/trends", ".chart canvas >> nth=3"),
    "jobs": ("/jobs", "text=Start a job"),
    "heals": ("/heals", "main > :not([aria-busy]) h1"),
}
"""Each page's address, and what is there when it is drawn."""


def tried(page) -> None:
    """Look at the page itself, try a selector on it and select what matches first."""
    page.get_by_role("tab", name="Page").click()
    page.locator(".moment[data-shown]").wait_for()
    page.get_by_label("Try a selector").fill("button")
    page.get_by_label("Try a selector").press("Enter")
    page.locator(".moment-facts h2").wait_for()
    page.locator(".moment-facts h2").evaluate("one => document.activeElement.blur()")


CLICKS = {"moment": tried}
"""What is clicked on a page before its picture is taken."""

TRENDS = {
    "by": "day",
    "buckets": [
        {"at": f"2026-11-{day:02}T00:00:00+00:00", "recordings": day % 5 + 1, "failed": day % 3 // 2,
         "tokens": day * 100, "cost": day / 1000, "p50": day / 4, "p95": day / 2}
        for day in range(1, 21)
    ],
    "complete": True,
}  # fmt: skip
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


def taken(browser, site: str, width: int, theme: str):
    """Yield the name and the picture of each page."""
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=theme,
        timezone_id="UTC",
        locale="en-GB",
        reduced_motion="reduce",
        bypass_csp=True,
    )
    page = context.new_page()
    page.set_default_timeout(0)
    page.clock.set_fixed_time("2026-12-01T12:00:00Z")
    page.route("**/recordings/trends?*", lambda route: route.fulfill(json=TRENDS))
    # The pictures of the session, and not a video that is being made.
    page.route("**/sessions/*/video", lambda route: route.fulfill(status=404, json={"detail": "none"}))
    try:
        for name, (address, drawn) in PAGES.items():
            page.goto(site + address)
            page.add_style_tag(content=FONTS)
            CLICKS.get(name, lambda _: None)(page)
            page.locator(drawn).first.wait_for(state="attached")
            # Where a list begins that scrolls to its step depends on what was loaded first.
            seen = still(page, TO_THE_TOP)
            yield name, Image.open(io.BytesIO(seen)).convert("RGB")
    finally:
        context.close()


def differing(one: Image.Image, other: Image.Image) -> int:
    """The number of squares in which two pictures differ."""
    if one.size != other.size:
        return one.width * one.height
    size = (-(-one.width // BLOCK), -(-one.height // BLOCK))
    small = [image.convert("RGB").resize(size, Image.Resampling.BOX) for image in (one, other)]
    red, green, blue = ImageChops.difference(*small).split()
    most = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    return sum(most.histogram()[DIFFERS:])


def main() -> None:
    """Take all pictures and write those that differ."""
    FOLDER.mkdir(exist_ok=True)
    with served() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find())
        for width in WIDTHS:
            for theme in THEMES:
                for name, seen in taken(browser, site, width, theme):
                    path = FOLDER / f"{name}-{width}-{theme}.png"
                    small = seen.quantize(128, dither=Image.Dither.NONE)
                    if not path.exists() or differing(small, Image.open(path)) > 0:
                        small.save(path, "PNG", optimize=True)
        browser.close()
    sizes = [path.stat().st_size for path in FOLDER.glob("*.png")]
    print(f"{len(sizes)} pictures in {FOLDER}, {sum(sizes):,} bytes")


if __name__ == "__main__":
    main()
