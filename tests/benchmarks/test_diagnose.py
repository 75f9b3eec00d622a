"""The figures that DIAGNOSE.md publishes are counted right, on data small enough to count by hand."""

from __future__ import annotations

import json
import math

import pytest
import typer
from benchmarks.diagnose import Run

from benchmarks import diagnose
from reenact.analysis.anomalies import RULES, Anomaly


def run(failed=False, decisive=None, steps=10, found=(), group="a"):
    """A labelled run with findings, as (rule, step)."""
    anomalies = [Anomaly(rule, "warning", step, "…") for rule, step in found]
    return Run(group, "set", failed, decisive, steps, 0, anomalies, anomalies)


TAU = [
    run(failed=True, found=[("loop", 3), ("loop", 5)]),
    run(failed=True, found=[("loop", 1), ("slow", 2)]),
    run(failed=True),
    run(failed=False, found=[("loop", 1)]),
    run(failed=False),
    run(failed=False),
]


def test_precision_recall_and_lift_count_runs_not_findings():
    count = diagnose.told("loop", TAU)
    assert (count.bad, count.good) == (2, 1)
    assert count.precision == pytest.approx(2 / 3)
    assert count.recall == pytest.approx(2 / 3)
    assert count.lift == pytest.approx(4 / 3)


def test_a_rule_that_finds_nothing_has_no_precision():
    assert math.isnan(diagnose.told("truncated", TAU).precision)


def test_the_first_step_that_a_rule_names_is_held_against_the_lot():
    who = [
        run(decisive=3, found=[("loop", 5), ("loop", 3)]),
        run(decisive=9, steps=5, found=[("loop", 1)]),
        run(),
    ]
    count = diagnose.placed("loop", who)
    assert (count.runs, count.first, count.share) == (2, 1, 0.5)
    assert count.chance == pytest.approx((1 / 10 + 1 / 5) / 2)


def test_a_rule_that_is_seldom_seen_is_not_judged():
    assert diagnose.helps("loop", TAU, []) is None
    assert diagnose.helps("loop", TAU * 2, []) is True
    assert (
        diagnose.helps("loop", [run(failed=not one.failed, found=[("loop", 1)]) for one in TAU] * 2, [])
        is False
    )


def test_the_area_under_the_curve_is_that_of_pairs():
    # Failed runs have 2, 2 and 0 findings, good ones 1, 0 and 0.
    assert diagnose.auc(lambda one: len(one.found), TAU) == pytest.approx((3 + 3 + 0 + 0.5 + 0.5) / 9)
    assert diagnose.auc(lambda one: float(one.failed), TAU) == 1.0
    assert diagnose.auc(lambda _: 0.0, TAU) == 0.5


def test_the_threshold_is_the_best_of_the_chosen_half():
    mark = diagnose.threshold(lambda one: len(one.found), TAU)
    assert mark == 2
    assert diagnose.balanced(lambda one: len(one.found) >= mark, TAU) == pytest.approx((2 / 3 + 1) / 2)


def test_hits_count_steps_each_once():
    who = [run(decisive=7, found=[("loop", 1), ("slow", 1), ("loop", 2), ("loop", 7), ("loop", 8)])]
    assert who[0].named == [1, 2, 7, 8]
    assert [diagnose.hits(who, first, lambda one: one.named) for first in (1, 2, 3)] == [0, 0, 1]


def test_by_lot_a_decisive_message_0_is_never_hit():
    assert diagnose.guess([run(decisive=0), run(decisive=4, steps=2), run(decisive=4)], 3) == pytest.approx(
        1.3
    )


def test_halves_are_cut_by_task():
    groups = [Run(str(n), "", False, None, 1, 0).chosen for n in range(200)]
    assert 60 < sum(groups) < 140
    assert groups == [Run(str(n), "", False, None, 1, 0).chosen for n in range(200)]


def chat(task, reward):
    calls = [{"id": "1", "function": {"name": "book_flight", "arguments": json.dumps({"n": task})}}]
    talk = [
        {"role": "user", "content": "A flight, please."},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "1", "content": "done" if reward else "Error: no seats"},
        {"role": "assistant", "content": "All is done."},
    ]
    return {"task_id": task, "trial": 0, "reward": reward, "traj": talk}


def blamed(number):
    talk = [{"role": "human", "content": "How many?"}]
    talk += [
        {"role": "assistant", "name": f"agent{n % 2}", "content": f"I think {n}{n}{n}."} for n in range(1, 5)
    ]
    return {
        "history": talk,
        "mistake_agent": "agent1",
        "mistake_step": "1",
        "mistake_reason": "made up",
        "question_ID": str(number),
    }


def test_the_page_is_made_of_a_folder_of_labelled_runs(tmp_path):
    (tmp_path / "tau-bench-airline").mkdir()
    lines = [json.dumps(chat(task, float(reward))) for task in range(8) for reward in (0, 1)]
    (tmp_path / "tau-bench-airline" / "runs.jsonl").write_text("\n".join(lines))
    for number in range(8):
        file = tmp_path / "who-and-when" / "By-Hand" / f"{number}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(blamed(number)))
    page = tmp_path / "page.md"
    diagnose.main(tmp_path, page)
    text = page.read_text()
    assert all(f"| `{name}` |" in text for name in RULES)
    rest = sum(not Run(str(task), "", False, None, 1, 0).chosen for task in range(8))
    row = next(line for line in text.splitlines() if line.startswith("| `hidden-error` |"))
    assert row.split("|")[2].strip() == f"{rest}, 0"
    assert "| reported half, By-Hand |" in text


def test_a_folder_without_labelled_runs_costs_one_line(tmp_path, capsys):
    with pytest.raises(typer.Exit) as raised:
        diagnose.main(tmp_path, tmp_path / "page.md")
    assert raised.value.exit_code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "page.md").exists()
