"""Which rules are asked, how their findings are put in order, and how own rules are added."""

from __future__ import annotations

from importlib import metadata

import pytest

import reenact
from reenact.analysis.anomalies import RULES, Anomaly, Baseline, Choice, RuleFinding, examine, ordered
from reenact.analysis.anomalies.examine import rank
from reenact.analysis.anomalies.registry import is_pill, rule
from reenact.errors import RecordingError, UsageError
from tests.analysis.conftest import does, says


@pytest.fixture
def own_rules(monkeypatch):
    """Rules that a test adds are gone after it."""
    before = dict(RULES)
    yield
    RULES.clear()
    RULES.update(before)


def one(rule, step, weight, severity="warning"):
    return Anomaly(rule, severity, step, "…", weight=weight)


# -- order ---------------------------------------------------------------------------------------------------


def test_what_two_rules_say_of_a_step_counts_together():
    found = ordered([one("a", 1, 0.3), one("b", 2, 0.2), one("c", 2, 0.2)])
    assert [anomaly.step for anomaly in found] == [2, 1, 2]


def test_three_findings_are_of_three_steps():
    found = ordered([one("a", 5, 0.9), one("b", 5, 0.8), one("c", 6, 0.2), one("d", 7, 0.1)])
    assert [anomaly.step for anomaly in found[:3]] == [5, 6, 7]


def test_between_equals_the_earlier_goes_first():
    assert [anomaly.step for anomaly in ordered([one("a", 9, 0.2), one("b", 3, 0.2)])] == [3, 9]


def test_what_a_rule_says_again_later_counts_less():
    found = ordered([one("a", 2, 0.2), one("a", 8, 0.2), one("b", 9, 0.15)])
    assert [anomaly.step for anomaly in found] == [2, 9, 8]


def test_the_order_does_not_depend_on_the_order_of_the_rules():
    found = [one(name, step, 0.1 * ((step or 2) % 3)) for name in "abc" for step in (1, 4, 6, None)]
    assert ordered(found) == ordered(found[::-1])


def test_a_run_is_the_more_suspect_the_more_rules_find_something():
    few, more = [one("loop", 1, 0.3)], [one("loop", 1, 0.3), one("loop", 4, 0.3), one("tool-error", 2, 0.1)]
    assert 0 == rank([]) < rank(few) < rank(more) < 1


# -- recordings ----------------------------------------------------------------------------------------------


def test_a_recording_tells_its_anomalies(kept, home):
    recording = kept(*[does("step") for _ in range(3)], says("done"))
    found = recording.anomalies(settings={})
    assert [(anomaly.rule, anomaly.step) for anomaly in found if anomaly.severity == "error"] == [("loop", 2)]
    assert found == reenact.anomalies(recording, settings={})


def test_diagnosing_changes_no_byte_of_a_recording(kept):
    recording = kept(says("x", ("look", {})), does("look", error="boom"), says(""))
    file = next(path for path in __import__("pathlib").Path(recording.path).glob("events.jsonl"))
    before = file.read_bytes()
    assert recording.anomalies(rules=["all"], settings={})
    assert file.read_bytes() == before


def test_a_recording_in_which_nothing_has_an_answer_cannot_be_diagnosed(kept):
    recording = kept(says("x"))
    for log in recording.logs:
        log.calls.clear()
    with pytest.raises(RecordingError, match="cannot be diagnosed: it has no steps"):
        reenact.anomalies(recording, settings={})


def test_a_baseline_may_be_a_filter_or_recordings(kept, tmp_path):
    usual = [kept(does("look"), tags=("good",)) for _ in range(6)]
    long = kept(*[does("look", {"n": n}) for n in range(9)])
    for baseline in ("tag:good", usual, Baseline(usual)):
        found = reenact.anomalies(
            long, rules=["many-steps"], baseline=baseline, home=tmp_path / "home", settings={}
        )
        assert [anomaly.step for anomaly in found] == [2]


def test_a_recording_is_no_part_of_its_own_baseline(kept, tmp_path):
    runs = [kept(does("look")) for _ in range(5)]
    found = reenact.anomalies(runs[0], rules=["many-steps"], baseline=runs, settings={})
    assert found == []
    assert Baseline(run for run in runs if run.id != runs[0].id).usual("steps") is None


def test_tools_that_only_the_chat_tells_of_are_read_there(finds):
    asked = {
        "role": "assistant",
        "tool_calls": [{"id": "1", "function": {"name": "look", "arguments": "{}"}}],
    }
    results = [asked, {"role": "tool", "tool_call_id": "1", "content": "Error: no such order"}]
    found = finds(
        "tool-error", says(None, ("look", {}), heard=["hi"]), says("Sorry.", heard=["hi", *results])
    )
    assert [anomaly.step for anomaly in found] == [1]


# -- rules of one's own --------------------------------------------------------------------------------------


def test_a_rule_of_ones_own_is_asked_like_the_others(finds, own_rules):
    @reenact.rule("swears", severity="info")
    def swears(case, *, words=("damn",)):
        """An answer that swears.

        And what else there is to say.
        """
        for said in case.answers:
            for word in words:
                if word in said.text:
                    yield RuleFinding(said.step, f"the answer says '{word}'")

    assert RULES["swears"].about == "An answer that swears."
    assert [anomaly.sentence for anomaly in finds("swears", says("damn"))] == ["the answer says 'damn'"]
    assert (
        finds("swears", says("heck"), options={"words": ["heck"], "severity": "error"})[0].severity == "error"
    )


def test_a_rule_that_breaks_costs_its_own_findings_only(kept, own_rules):
    @reenact.rule("breaks")
    def breaks(case):
        """Breaks."""
        yield RuleFinding(1, "fine so far")
        raise KeyError("x")

    found = examine(kept(says("")), Choice())
    assert {anomaly.rule for anomaly in found} >= {"breaks", "empty-answer"}
    assert any("failed on this recording (KeyError: 'x')" in anomaly.sentence for anomaly in found)


def test_a_rule_of_a_severity_that_there_is_not_is_refused():
    with pytest.raises(UsageError, match="'fatal' is none; there are error, warning, info"):
        reenact.rule("x", severity="fatal")


def test_the_rules_of_an_installed_package_are_loaded(kept, own_rules, monkeypatch, tmp_path):
    (tmp_path / "their_rules.py").write_text(
        "import reenact\n"
        "from reenact.analysis.anomalies import RuleFinding\n"
        "@reenact.rule('theirs')\n"
        "def theirs(case):\n"
        "    '''Theirs.'''\n"
        "    yield RuleFinding(1, 'found by theirs')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    point = metadata.EntryPoint("theirs", "their_rules", "reenact.rules")
    monkeypatch.setattr(metadata, "entry_points", lambda **_: [point])
    found = reenact.anomalies(kept(says("x")), rules=["theirs"], settings={})
    assert [anomaly.sentence for anomaly in found] == ["found by theirs"]


def test_an_installed_package_whose_rules_break_is_named(kept, monkeypatch):
    point = metadata.EntryPoint("theirs", "no_such_module_of_rules", "reenact.rules")
    monkeypatch.setattr(metadata, "entry_points", lambda **_: [point])
    with pytest.raises(
        UsageError, match=r"the rules of 'theirs' \(no_such_module_of_rules\) cannot be loaded"
    ):
        reenact.anomalies(kept(says("x")), settings={})


# -- settings ------------------------------------------------------------------------------------------------


def names(choice):
    return {asked.rule.name for asked in choice.rules}


def test_by_default_the_rules_that_are_on_are_asked():
    assert names(Choice()) == {rule.name for rule in RULES.values() if rule.on}
    assert "context-growth" not in names(Choice())


def test_settings_turn_rules_on_and_off():
    table = {"loop": False, "context-growth": True, "claimed-check": {"severity": "error"}}
    assert names(Choice(table)) - names(Choice()) == {"context-growth"}
    assert names(Choice()) - names(Choice(table)) == {"loop"}
    assert names(Choice({"all": False, "loop": {"times": 5}})) == {"loop"}


def test_rules_by_name_come_before_all_settings():
    assert names(Choice({"loop": False}, rules=["loop", "slow"], without=["slow"])) == {"loop"}
    assert names(Choice(rules=["all"])) == set(RULES)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"lop": True}, "there is no rule 'lop'; did you mean 'loop'?"),
        ({"loop": 3}, "'loop' is 3; it is true, false or a table of options"),
        ({"loop": {"most": 3}}, "rule 'loop' has no option 'most'; it has on, severity, times"),
        ({"loop": {"times": "3"}}, "loop.times is '3'; it must be a whole number"),
        ({"loop": {"times": True}}, "loop.times is True; it must be a whole number"),
        ({"slow": {"spread": "x"}}, "slow.spread is 'x'; it must be a number"),
        ({"error-words": {"words": "x"}}, "error-words.words is 'x'; it must be a list of texts"),
        ({"loop": {"severity": "bad"}}, "loop.severity is 'bad'; there are error, warning, info"),
        ({"loop": {"on": 1}}, "loop.on is 1; it is true or false"),
    ],
)
def test_settings_that_make_no_sense_cost_one_line(table, words):
    with pytest.raises(UsageError) as raised:
        Choice(table, where="pyproject.toml")
    assert str(raised.value) == f"pyproject.toml: {words}"


@pytest.mark.parametrize(
    ("modules", "words"),
    [
        ("house", "modules is 'house'; it must be a list"),
        (["no_such_house"], "'no_such_house' cannot be imported"),
    ],
)
def test_modules_that_cannot_be_imported_cost_one_line(kept, modules, words):
    with pytest.raises(UsageError, match=words):
        reenact.anomalies(kept(says("x")), settings={"modules": modules})


@pytest.mark.parametrize(
    ("name", "stands_out"),
    [("unconfirmed-action", True), ("tool-error", False), ("judge", False), ("no-such-rule", False)],
)
def test_only_a_rule_that_is_mostly_right_on_labelled_runs_stands_out(name, stands_out):
    assert is_pill(name) is stands_out


def test_a_rule_of_a_user_stands_out(monkeypatch):
    monkeypatch.setattr("reenact.analysis.anomalies.registry.RULES", dict(RULES))

    @rule("swears")
    def swears(case):
        """An answer that swears."""
        yield from ()

    assert is_pill("swears")
