"""The heal record: whole through a recording, the same in a replay, and without what was filled in."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

import reenact
from reenact.browser.actions import types as do
from reenact.browser.actions.results import ExecutionResult
from reenact.browser.heal.heal_record import HealRecord, digest, mended, taken_over, written
from reenact.browser.heal.mend import FailedStep, Mend, ScriptPlace
from reenact.browser.session.session import Session

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def result(url, *, success, message=""):
    return ExecutionResult(
        action=do.Fill(selector="#card", value=do.MASK), success=success, message=message, started_at=NOW,
        ended_at=NOW, url=url, title="Pay",
    )  # fmt: skip


@pytest.fixture
def failed(tmp_path):
    script = tmp_path / "shop.py"
    script.write_text("one = 1\n")
    asked = do.Fill(selector="#card", value="4111 1111")
    told = {"type": "fill", "selector": "#card", "value": "[[secret:card]]"}
    place = ScriptPlace(str(script), 1, "pay")
    why = result(
        "https://ada:pw@shop.example/pay?token=abc#top", success=False, message="No element\nmatches."
    )
    return FailedStep(asked, told, why, place, "fill #card @/pay #0", delivered=False)


@pytest.fixture
def mend():
    print_ = {"tag": "input", "name": "Card", "value": "4111 1111"}
    return Mend(
        result("https://shop.example/pay/2?token=abc", success=True), "alternative", "#card",
        new={"css": "css=#card2"}, score=0.9, margin=0.3, verified_by="consequence: as in 2 of 2 recordings",
        evidence={"after": {"fingerprint": print_}, "tree": "4111 1111", "frames": ["s.1/12"]},
        cost=Decimal("0.0021"),
    )  # fmt: skip


def test_a_mend_is_told_with_its_place_its_selectors_and_what_verified_it(failed, mend, tmp_path):
    heal = mended(failed, mend, seconds=0.20456)
    assert (heal.place, heal.function) == (f"{tmp_path / 'shop.py'}:1", "pay")
    assert (heal.action, heal.old, heal.new) == ("fill", "#card", {"css": "css=#card2"})
    assert (heal.verified, heal.score, heal.margin) == (True, 0.9, 0.3)
    assert (heal.cost, heal.seconds) == (Decimal("0.0021"), 0.205)
    assert heal.error == "No element matches."
    assert heal.after == {
        "url": "https://shop.example/pay/2", "title": "Pay", "fingerprint": {"tag": "input", "name": "Card"},
        "frames": ["s.1/12"], "identity": {"name": "Card"},
    }  # fmt: skip


def test_nothing_that_was_filled_in_and_no_token_of_an_address_is_in_it(failed, mend):
    for heal in (
        mended(failed, mend, seconds=1),
        taken_over(failed, healed=True, url="https://x/?token=abc"),
    ):
        text = str(heal.to_tree())
        assert not [word for word in ("4111", "secret:card", "abc", "pw@", "top") if word in text]
    assert heal.before["url"] == "https://shop.example/pay"


def test_an_agent_is_verified_by_what_was_expected_and_not_by_its_word(failed):
    heal = taken_over(failed, healed=True, cost=None, tokens=900, seconds=4)
    assert (heal.rung, heal.healed, heal.verified, heal.new) == ("agent", True, False, None)
    assert replace(heal, verified_by="expect: /thanks").verified
    assert not replace(heal, healed=False, verified_by="expect: /thanks").verified


def test_a_mend_that_failed_is_not_verified_and_has_no_selector_where_none_was_found(failed, mend):
    heal = mended(failed, replace(mend, new={}, verified_by=""), seconds=1)
    assert (heal.verified, heal.new) == (False, None)


def test_it_goes_through_a_tree_whole_and_a_later_field_is_left_out(failed, mend):
    heal = mended(failed, mend, seconds=1)
    assert HealRecord.from_tree(heal.to_tree()) == heal
    assert HealRecord.from_tree({**heal.to_tree(), "cost": None, "later": 1}) == replace(heal, cost=None)
    for broken in ({}, {**heal.to_tree(), "cost": "much"}):
        with pytest.raises(ValueError, match="no heal record"):
            HealRecord.from_tree(broken)


def test_a_replay_gives_what_was_recorded_though_the_script_was_edited_and_moved(
    home, failed, mend, tmp_path
):
    script = tmp_path / "shop.py"
    with reenact.record("shop") as recording:
        first = written(Session(), mended(failed, mend, seconds=1))
    assert first.source == digest(str(script)) != ""
    (step,) = reenact.load(recording.id).steps
    assert (step.label, step.args) == ("heal:record", {"step": "fill #card @/pay #0", "rung": "alternative"})
    assert HealRecord.from_tree(step.output) == first
    script.write_text("\n\none = 1\n")
    moved = replace(failed, place=ScriptPlace(str(Path("/elsewhere/shop.py")), 3, "pay"))
    with reenact.replay(recording.id):
        assert written(Session(), mended(moved, mend, seconds=9)) == first


def test_where_nothing_is_recorded_the_block_has_it_all_the_same(failed, mend):
    assert written(Session(), mended(failed, mend, seconds=1)).source
