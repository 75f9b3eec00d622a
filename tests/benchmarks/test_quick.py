"""The benchmarks run, in small: whether they work, not what they measure."""

import json
import time

import pytest
from benchmarks.measure import Spread, Stopwatch, quantile
from benchmarks.plan import Plan
from benchmarks.workers import Broken, working

from benchmarks import elsewhere, frameworks, idle, report, server, state, subjects
from tests.sampling import sampled

QUIET = Plan(quick=True, tell=len)


@pytest.fixture
def ours():
    found = [subject for subject in subjects.chosen() if subject.name == "reenact"]
    with working(found) as workers:
        yield workers[0]


@pytest.mark.parametrize("workload", sampled(["agent", "tool", "model"], 3))
def test_a_workload_is_measured_recorded_and_replayed(ours, workload):
    path = ours.fresh()
    assert len(ours.do(workload, "bare", 3, warm=1, size=500).cpu) == 3
    assert ours.do(workload, "record", 3, path=path, warm=1, size=500).size > 1000
    assert ours.do(workload, "replay", 3, path=path, warm=1, size=500).correct


@pytest.mark.thorough
@pytest.mark.parametrize("workload", sampled(["chat", "stream"], 2))
def test_the_sdk_talks_to_the_server_and_its_replay_does_not(ours, workload):
    path = ours.fresh()
    with server.running() as url:
        ours.do(workload, "record", 2, path=path, warm=1, size=500, url=url)
    replayed = ours.do(workload, "replay", 2, path=path, warm=1, size=500, url=url)
    assert replayed.correct
    assert len(replayed.wall) == 2


@pytest.mark.thorough
def test_the_network_goes_to_memory(ours):
    ours.do("chat", "bare", 2, warm=1, size=500)
    recorded = ours.do("long_chat", "record", 5, warm=0, size=500)
    assert len(recorded.cpu) == 5
    assert recorded.size > 5000


@pytest.mark.thorough
def test_the_frameworks_work_is_recorded_and_replayed(ours):
    for workload in frameworks.BODIES:
        for mode in ("auto", "legacy") if workload == "mcp" else ("",):
            path = ours.fresh()
            given = {"path": path, "warm": 1, "size": 500, "options": {"mode": mode}}
            assert ours.do(workload, "record", 2, **given).size > 1000
            assert ours.do(workload, "replay", 2, **given).correct


def test_a_subject_that_fails_says_why(ours):
    with pytest.raises(Broken, match="no-such-recording"):
        ours.do("tool", "replay", 2, path=ours.fresh().with_name("no-such-recording"))


def test_hooks_are_measured_idle():
    # In a worker's process, not in this one: what it patches is there to stay.
    assert callable(idle.measure)


@pytest.mark.parametrize("agent", [state.Plain, state.Objects])
def test_an_agent_with_a_memory_is_recorded_with_and_without_its_state(agent):
    _, bare = state._run(agent(), 6, 10, tracked=False)
    _, tracked = state._run(agent(), 6, 10, tracked=True)
    assert tracked > bare + 800_000


def test_results_of_other_suites_are_read_in(tmp_path, monkeypatch):
    monkeypatch.setattr(elsewhere, "FOLDER", tmp_path)
    assert "No figures yet" in elsewhere.measure(QUIET).notes[0]
    kills = {"kills": 500, "lost": 0, "seconds": 1.25}
    tmp_path.joinpath("kill.json").write_text(json.dumps({"kills": kills, "whole": True}), encoding="utf-8")
    tmp_path.joinpath("torn.json").write_text("{", encoding="utf-8")
    section = elsewhere.measure(QUIET)
    assert section.tables[0].rows == [["", "500", "0", "1.2"]]
    assert section.notes[0] == "kill: whole True"
    assert "torn.json" in section.notes[1]


def test_results_name_what_was_missed(tmp_path):
    section = report.Section("1. Speed", "By a watch.")
    section.figure("walking", "< 1 s", "0.5 s", met=True)
    section.figure("running", "< 1 s", "2 s", met=False)
    section.figure("standing", "none", "0 s")
    report.write([section], tmp_path / "RESULTS.md", command="make bench", took=61, quick=False)
    text = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "**1 of 2 targets met.** Missed:\n\n- running: 2 s, target < 1 s" in text
    assert "| walking | < 1 s | 0.5 s | met |" in text
    assert "| standing | none | 0 s |  |" in text


def test_what_was_measured_by_hand_stays_when_the_results_are_written_anew(tmp_path):
    path = tmp_path / "RESULTS.md"
    path.write_text("old\n\n## Besides\n\nby hand\n")
    for _ in range(2):
        report.write([report.Section("1. A", "how")], path, command="x", took=1, quick=False)
    assert "old" not in path.read_text()
    assert path.read_text().count("\n## Besides\n\nby hand\n") == 1


def test_what_comes_before_the_warm_calls_and_after_the_last_is_told_apart():
    watch = Stopwatch(warm=1)
    watch.time(lambda: time.sleep(0.05))
    watch.time(lambda: None)
    time.sleep(0.01)
    sample = watch.finish()
    assert len(sample.wall) == 1
    assert sample.wall[0] < 0.01
    assert 0.01 < sample.total_wall < 0.05


def test_a_spread_is_the_median_and_the_least():
    assert Spread.of([3.0, 1.0, 9.0]).text(1000) == "3000 (1000)"
    assert quantile([float(number) for number in range(100)], 0.99) == 99.0
