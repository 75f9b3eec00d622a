"""The marks of a recording in the list: whole at each width, whatever stands beside them."""

from __future__ import annotations

import pytest

import reenact
from reenact.core.store import bundle
from reenact.core.store.local import LocalStore
from tests.console.conftest import serving

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
