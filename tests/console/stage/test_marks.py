"""The marks of recordings in the list, and of a timeline: whole, and told apart."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

import reenact
from reenact.core.store import bundle
from reenact.core.store.chain import chained
from reenact.core.store.local import LocalStore
from tests.console.conftest import serving
from tests.console.looking import still

CUT = """() => [...document.querySelectorAll(".list .row .marks .badge")]
    .map((el) => { const row = el.closest(".agent").getBoundingClientRect(), tags = el.closest(".tags")?.getBoundingClientRect();
        const at = el.getBoundingClientRect();
        if (tags && at.top >= tags.bottom) return null;  // a tag without room is out of sight
        const whole = at.width > 0 && at.right <= row.right + 0.5 && at.bottom <= row.bottom + 0.5 && el.scrollWidth <= el.clientWidth;
        return [el.textContent, whole] }).filter((one) => one?.[1] === false)"""


@reenact.tool
def look(order):
    return f"order {order} is paid"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A server of four runs: one, a fork of it, and both as foreign ones."""
    here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there")
    with reenact.record("customer-support-in-english", home=there, tags=["staging", "nightly"]) as first:
        look("A-1")
    with reenact.fork(first.id, at=1, home=there, edit={"output": "lost"}) as fork:
        look("A-1")
    for id in (first.id, fork.id):
        bundle.bring(LocalStore(here), bundle.export(LocalStore(there), id, there / f"{id}.reenact"))
    with serving(here, keyless=True) as address:
        yield address


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("width", [390, 720, 1010, 1280, 1440])
def test_a_fork_and_a_foreign_recording_are_marked_in_whole_words(chromium, site, width):
    page = chromium.new_page(viewport={"width": width, "height": 800})
    try:
        page.goto(site)
        rows = page.locator(".list .row")
        rows.nth(1).get_by_text("foreign").wait_for()
        fork = rows.filter(has_text="fork")
        assert fork.count() == 1
        assert fork.get_by_text("foreign", exact=True).is_visible()
        assert page.evaluate(CUT) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    finally:
        page.close()


WRITTEN = """window.written = [];
const drawn = CanvasRenderingContext2D.prototype, write = drawn.fillText, clear = drawn.clearRect;
drawn.fillText = function (text, ...rest) { window.written.push(text); return write.call(this, text, ...rest) };
drawn.clearRect = function (...box) { window.written = []; return clear.apply(this, box) };"""
"""Keeps the texts of a drawing, until it is drawn anew."""


def test_marks_of_a_timeline_that_begins_late_are_told_apart(chromium, tmp_path):
    with reenact.record("late", home=tmp_path) as recording:
        look("A-1")
        look("A-2")
    events = Path(recording.path, "events.jsonl")
    lines = [orjson.loads(line) for line in events.read_bytes().splitlines()]
    for number, line in enumerate(line for line in lines if "t" in line):
        line["t"] = 5.42 + number / 30
    for line in lines:
        line.pop("sum", None)
        line.pop("signed", None)
    events.write_bytes(chained(orjson.dumps(line) for line in lines))
    with serving(tmp_path, keyless=True) as address:
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        try:
            page.add_init_script(WRITTEN)
            page.goto(f"{address}/r/{recording.id}")
            page.get_by_role("img", name="Timeline").wait_for()
            still(page)
            marks = page.evaluate("window.written")
        finally:
            page.close()
    assert len(marks) > 2
    assert len(set(marks)) == len(marks)


def test_recordings_to_compare_with_are_told_apart(chromium, site):
    page = chromium.new_page(viewport={"width": 390, "height": 800})
    try:
        page.goto(f"{site}/compare")
        candidates = page.get_by_role("list", name="Recordings").get_by_role("button")
        candidates.nth(1).wait_for()
        assert candidates.filter(has_text="fork").count() == 1
        assert len(set(candidates.all_inner_texts())) == 2
        for name in candidates.locator(".mono").all():
            assert name.is_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    finally:
        page.close()
