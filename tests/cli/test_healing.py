"""`reenact heals`: every step that needed help, over all recordings, and its patch."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

import reenact
from reenact.browser.heal.heal_record import HealRecord, digest
from reenact.browser.heal.patch_trial import untried
from reenact.core import boundary
from reenact.core.model.event import Effect
from tests.hints import followed

OLD = 'with s:\n    s.execute(type="click", selector="#buy")\n'


def acted(selector, *, success=True, actor="script"):
    outcome = {"success": success, "message": "clicked", "actor": actor, "url": "http://x/", "tab": 0}
    boundary.perform(Effect("browser", "click", {"selector": selector}, leaf=True), lambda: outcome)


@pytest.fixture
def ran(home, tmp_path, monkeypatch):
    """Records a run of `shop.py`: a click on `#buy`, and its heal if it needed one."""
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "shop.py"
    script.write_text(OLD)

    def run(selector="#buy", *, name="shop", tags=(), **healed):
        with reenact.record(name, tags=list(tags)) as recording:
            acted(selector, success=not healed)
            if healed:
                acted("#buy2", actor="heal")
                heal = HealRecord(**{
                    "key": "click #buy @/ #0", "action": "click", "rung": "alternative", "file": str(script),
                    "line": 2, "function": "<module>", "source": digest(str(script)), "old": "#buy",
                    "new": {"css": "css=#buy2", "xpath": "xpath=//b"}, "error": "No element matches #buy.",
                    "verified_by": "consequence: as before", "cost": Decimal("0.01"), "seconds": 0.2, **healed,
                })  # fmt: skip
                boundary.perform(
                    Effect("heal", "record", {"step": heal.key, "rung": heal.rung}, leaf=True), heal.to_tree
                )
        return recording.id

    return run


def test_each_step_is_told_with_how_often_it_ran_and_needed_help_and_by_whom(run, ran):
    ran()
    ran(rung="dismiss", new=None)
    last = ran(rung="alternative")
    ran(name="another")
    status, out, _ = run("heals")
    assert status == 0
    title, line = out.splitlines()
    assert " ".join(title.split()) == "step action ran helped by last recording state"
    assert line.split()[:5] == ["shop.py:2", "click", "#buy", "3", "2"]
    assert "dismiss, alternative" in line
    assert line.endswith(f"{last[:12]} 3  verified")
    _, out, _ = run("heals", "--json")
    (told,) = json.loads(out)
    assert (told["ran"], told["helped"], told["rungs"]) == (3, 2, {"dismiss": 1, "alternative": 1})
    assert (told["state"], told["last"]["recording"], told["last"]["step"]) == ("verified", last, 3)


def test_a_step_that_runs_with_what_was_learned_is_mended(run, ran):
    ran(rung="alternative")
    ran("#buy2")
    ran("#buy2")
    ran("#buy2", name="another")
    assert run("heals")[1].splitlines()[1].endswith("mended, 2 runs since")


def test_each_run_by_itself_is_told_with_what_verified_it_or_that_nothing_did(run, ran):
    ran(rung="alternative")
    ran(rung="ask", verified_by="")
    ran(rung="agent", new=None, healed=False)
    _, out, _ = run("heals", "--runs")
    ends = ["failed", "unverified", "consequence: as before"]
    assert [line.endswith(end) for line, end in zip(out.splitlines()[1:], ends, strict=True)] == [True] * 3
    _, out, _ = run("heals", "--runs", "--json")
    newest = json.loads(out)[-1]
    assert (newest["verified"], newest["cost"], newest["new"]["css"]) == (True, "0.01", "css=#buy2")
    assert run("heals")[1].splitlines()[1].endswith("failed")


def test_a_filter_and_a_script_choose_among_them(run, ran, tmp_path, monkeypatch):
    ran(rung="alternative", tags=["staging"])
    ran(rung="ask", file="/elsewhere/cart.py")
    assert len(run("heals")[1].splitlines()) == 3
    assert "shop.py" in run("heals", "tag:staging")[1]
    assert len(run("heals", "tag:staging")[1].splitlines()) == 2
    # Recorded on another machine: its file is not there, and the end of its path will do.
    assert len(run("heals", "--script", "cart.py")[1].splitlines()) == 2
    other = tmp_path / "other"
    other.mkdir()
    (other / "shop.py").write_text(OLD)
    monkeypatch.chdir(other)
    assert run("heals", "--script", "shop.py")[1] == ""
    assert len(run("heals", "--script", "../shop.py")[1].splitlines()) == 2
    status, out, err = run("heals", "--script", "none.py")
    assert (status, out) == (0, "")
    assert "no step of none.py needed help" in err


def test_the_patch_is_printed_and_written_only_when_asked(run, ran, tmp_path):
    ran(rung="alternative")
    ran(rung="ask", verified_by="", new={"css": "css=#worse"})
    status, out, err = run("heals", "--patch", "shop.py")
    assert (status, err) == (0, "")
    assert out.startswith(
        "# shop.py:2: click #buy: not verified; the new selector would be #worse\n"
        "# shop.py:2: click #buy: not tried on recorded pages: none of this step is kept\n"
        "--- shop.py\n+++ shop.py\n"
    )
    assert '+    s.execute(type="click", selector="#buy2")' in out
    assert (tmp_path / "shop.py").read_text() == OLD
    status, _, err = run("heals", "--patch", "shop.py", "--write")
    assert status == 0
    assert "1 selector changed in shop.py; the old text is in shop.py.orig" in err
    assert (tmp_path / "shop.py").read_text() == OLD.replace("#buy", "#buy2")
    status, out, err = run("heals", "--patch", "shop.py")
    assert (status, "--- shop.py" in out) == (0, False)
    assert "nothing to change in shop.py" in err


def test_a_patch_that_is_still_to_be_tried_names_the_command_that_does_it(run, ran, tmp_path):
    ran(rung="alternative")
    heal = HealRecord(
        key="click #buy @/ #0", action="click", rung="alternative", file=str(tmp_path / "shop.py"), line=2,
        old="#buy", new={"css": "css=#buy2"}, verified_by="consequence: as before",
    )  # fmt: skip
    (trial,) = untried([heal])
    words = followed(trial.told, "browser/heal/patch_trial.py", "heals --patch")
    status, out, err = run(*words)
    assert (status, err) == (0, "")
    assert '+    s.execute(type="click", selector="#buy2")' in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--write"], "--write goes with --patch"),
        (["--patch", "shop.py", "--json"], "--patch prints a diff"),
        (["--patch", "nope.py"], "nope.py: No such file"),
        (["tokens", ">"], "expected a value"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(run, ran, words, said):
    status, _, err = run("heals", *words)
    assert status == 2
    assert said in err


def test_a_damaged_record_and_a_damaged_recording_are_passed_over(run, ran, home, tmp_path):
    good = ran(rung="alternative")
    with reenact.record("shop"):
        boundary.perform(Effect("heal", "record", {}, leaf=True), lambda: {"key": 1})
    broken = ran(rung="ask")
    file = tmp_path / "home" / "recordings" / broken / "events.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"event":"returned"', b'"event":"retur', 1))
    _, out, _ = run("heals", "--runs")
    assert [line.split()[1] for line in out.splitlines()[1:]] == [good[:12]]
