"""How a browser session's steps are shown."""

from __future__ import annotations

import reenact
from reenact.analysis.views.browsed import told
from reenact.browser.heal.heal_record import HealRecord
from reenact.core.boundary import perform
from reenact.core.model.event import Effect
from reenact.core.query.facts import steps_where

DONE = {
    "success": True, "message": "clicked button 'Go'", "data": None, "error": None, "action": {"type": "click"},
    "actor": "script", "url": "http://x/", "title": "Shop",
}  # fmt: skip
FAILED = {
    **DONE,
    "success": False,
    "message": "No element matches #no",
    "error": {"type": "E", "text": "No element"},
}


def test_an_action_is_told_by_its_message_and_place():
    assert told(DONE) == [("did", "clicked button 'Go'"), ("at", "Shop  http://x/")]
    assert told({**DONE, "actor": "agent", "data": [1]})[:2] == [
        ("did", "clicked button 'Go' (agent)"),
        ("data", "[1]"),
    ]
    assert told({"title": "T", "url": "u", "tree": "- x", "elements": [{}]})[0] == (
        "saw",
        "T  u, 1 element to act on",
    )
    assert told({"value": [1], "url": "u", "tab": 0}) == [("gave", "[1]")]
    assert told({"value": None, "url": "u", "tab": 0}) == [("at", "u")]
    assert told({**DONE, "message": ""}) == [("at", "Shop  http://x/")]
    assert told({"anything": "else"}) == told(None) == []


def test_a_start_is_told_in_words_and_a_long_address_by_its_beginning():
    started = {"browser": "chromium 1", "viewport": [1280, 720], "headless": True, "url": "about:blank"}
    assert told(started) == [("did", "started chromium 1, 1280 × 720, without a window")]
    assert told({**started, "viewport": None, "headless": False}) == [("did", "started chromium 1")]
    assert told({"agent_id": "a", "at": 1.0}) == [("did", "the agent began")]
    page = "data:text/html," + "q" * 5000
    lines = told({**DONE, "message": f"opened {page}", "url": page})
    assert [text.count("q") for _, text in lines] == [105, 105]
    assert all(text.endswith("…") for _, text in lines)


def test_a_heal_is_told_by_its_step_its_helper_and_what_verified_it():
    heal = HealRecord(
        "k", "click", "alternative", file="/shop.py", line=3, old="#a", new={"css": "#b"}, error="No element matches #a.",
        verified_by="same element",
    )  # fmt: skip
    assert told(heal.to_tree()) == [
        ("step", "click #a  /shop.py:3"),
        ("failed", "No element matches #a."),
        ("mended by", "alternative: #b"),
        ("verified", "same element"),
    ]
    agent = HealRecord("k", "expect", "agent", healed=False)
    assert told(agent.to_tree()) == [("step", "expect"), ("tried", "agent"), ("verified", "no")]


def test_a_failed_one_is_an_error_to_find_and_to_read(shell):
    with reenact.record("shop", home=shell.home) as recording:
        for outcome in (DONE, FAILED):
            perform(
                Effect("browser", "click", {"selector": "#a"}, leaf=True), lambda outcome=outcome: outcome
            )
    assert steps_where(reenact.load(recording.path), "error") == (2,)
    shown = shell.run("show", recording.id).out
    assert "· failed" in shown
    assert "No element matches #no" in shown
    assert f"{recording.id}" in shell.run("list", "browser:click and error").out
