"""Recordings over time, and the files of a run, reached by clicking."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import reenact
from tests.console.stage.conftest import sound


@reenact.tool(kind="model", name="gpt-4o")
def ask(messages, model="gpt-4o"):
    return {
        "choices": [{"message": {"role": "assistant", "content": "hi"}}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3},
        "model": model,
    }


def test_runs_failures_cost_tokens_and_time_stand_on_one_page(opened, home):
    for tag in ("one", "two"):
        with reenact.record("support", home=home, tags=[tag, "trending"]):
            ask([{"role": "user", "content": "hello"}])
    page = opened("/")
    page.get_by_role("link", name="Trends").click()
    page.get_by_label("Only recordings that match").fill("tag:trending")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**/trends?q=**")
    page.locator(".sums dd", has_text="2").first.wait_for()
    for name in ("Runs", "Failures", "Cost", "Tokens", "Time"):
        page.get_by_role("img", name=f"{name},").wait_for()
    page.get_by_text("As a table").click()
    cells = page.get_by_role("row").nth(1).get_by_role("cell").all_inner_texts()
    assert cells[1] == "2"
    assert int(cells[4].replace(",", "")) > 0
    sound(page)
    page.get_by_role("link", name="Show them in the list").click()
    page.get_by_text("2 recordings").wait_for()


@reenact.tool(kind="model", name="own-model")
def ask_own(messages, model="own-model"):
    return ask(messages, model)


def test_a_cost_that_is_not_known_is_said_to_be_unknown_and_not_nothing(opened, home):
    for act, tags in ((ask_own, ["unpriced"]), (ask, ["unpriced", "priced"])):
        with reenact.record("support", home=home, tags=tags):
            act([{"role": "user", "content": "hello"}])
    page = opened("/")
    page.get_by_role("link", name="Trends").click()
    for words, told in (
        ("tag:unpriced and not tag:priced", re.compile("^unknown$")),
        ("tag:unpriced", re.compile("and unknown of 1 run$")),
    ):
        page.get_by_label("Only recordings that match").fill(words)
        page.get_by_role("button", name="Show").click()
        page.locator(".sums dd", has_text=told).wait_for()
        page.get_by_text("As a table").click()
        page.get_by_role("cell", name=told).wait_for()
        page.get_by_text("As a table").click()
    sound(page)


WRITTEN = """
window.written = [];
const fill = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
  window.written.push(text);
  return fill.call(this, text, ...rest);
};
"""


def test_the_axis_of_very_small_costs_has_different_prices(opened, home):
    with reenact.record("support", home=home, tags=["cheap"]):
        ask([{"role": "user", "content": "hello"}])
    page = opened("/")
    page.evaluate(f"() => {{{WRITTEN}}}")
    page.get_by_role("link", name="Trends").click()
    page.get_by_label("Only recordings that match").fill("tag:cheap")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**/trends?q=**")
    page.get_by_role("img", name="Cost,").wait_for()
    prices: set[str] = set()
    while not prices - {"$0", "$0.50", "$1.00"}:
        page.wait_for_timeout(20)
        prices = {text for text in page.evaluate("window.written") if "$" in text}
    assert prices >= {"$0", "$0.0001", "$0.0002"}
    assert "<$0.0001" not in prices


@pytest.mark.thorough
def test_trends_without_a_recording_say_so(opened):
    page = opened("/trends?q=tag:none-such")
    page.get_by_role("heading", name="No recordings match").wait_for()
    sound(page)


@pytest.mark.thorough
def test_the_files_of_a_run_and_of_a_step_are_shown_line_by_line(opened, home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("read.txt").write_text("seen\n", encoding="utf-8")
    Path("notes.md").write_text("first\n", encoding="utf-8")

    @reenact.tool
    def note(text):
        Path("notes.md").write_text(
            f"first\n{Path('read.txt').read_text(encoding='utf-8')}{text}\n", encoding="utf-8"
        )
        return "noted"

    @reenact.tool
    def rest():
        return "rested"

    with reenact.record("files", home=home):
        note("<b>second</b>")
        rest()
    page = opened("/")
    page.get_by_role("link", name="files", exact=True).first.click()
    page.get_by_text("Files: 1 changed, 1 only read").wait_for()
    lines = page.get_by_label("Changed lines of").first
    assert "+<b>second</b>" in lines.inner_text()
    sound(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("button", name="Open step 1").click()
    page.get_by_role("tab", name="Files").click()
    page.get_by_text("notes.md").wait_for()
    page.get_by_role("button", name="Next step").click()
    page.get_by_text("Step 2 changed no files.").wait_for()
    sound(page)
