"""From a session that went wrong to the same failure here; where two sessions differ; state at a step."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

import reenact
from reenact.analysis.diff import Kind
from reenact.errors import NotARecording, RecordingNotFound, UsageError
from reenact.lesson import (
    AgentStateSnapshot,
    BugReproducer,
    SessionRecord,
    StatefulAgent,
    compare_sessions,
    create_replay_model,
    record_session,
)
from reenact.lesson.compare import imported
from tests.lesson.conftest import ASKED, SAID


@pytest.fixture
def file(shop, tmp_path):
    file = record_session(shop.agent(), ASKED)[1].save(tmp_path / "s.json")
    shop.asked.clear()
    return file


def test_a_trace_is_analysed(file):
    found = BugReproducer(file).analyze_trace()
    assert (found["input"], found["output"], found["total_messages"]) == (ASKED, SAID, 6)
    assert [call["tool"] for call in found["tool_calls"]] == ["lookup_order", "cancel_order"]
    assert (found["model"], found["anomalies"]) == ("function:gpt-4o", [])


def test_anomalies_are_the_findings_of_diagnose_with_their_steps(shop, file):
    session = SessionRecord.load(file)
    session.messages[1:1] = session.messages[1:3] * 2
    trace = BugReproducer(session.save(file)).analyze_trace()
    found = [each for each in reenact.anomalies(imported(session)) if each.severity != "info"]
    assert trace["anomalies"] == [f"step {each.step}: {each.sentence}" for each in found]
    assert any("lookup_order" in sentence for sentence in trace["anomalies"])


def test_a_session_without_a_model_cannot_be_analysed(tmp_path):
    file = SessionRecord("x").save(tmp_path / "x.json")
    with pytest.raises(NotARecording, match="session x cannot be read as lesson"):
        BugReproducer(file).analyze_trace()


def test_a_session_is_reproduced_and_the_attempt_is_a_recording(shop, file):
    bug = BugReproducer(file)
    attempt = bug.attempt_reproduction(shop.agent(), create_replay_model(bug.trace))
    assert (attempt["success"], attempt["matches_original"], attempt["tool_calls"]) == (True, True, 2)
    assert reenact.load(attempt["recording"]).output == SAID
    assert bug.reproduction_attempts == [attempt]
    report = bug.report()
    assert report.startswith("Bug Reproduction Report\n=")
    assert "Anomalies: None detected" in report
    assert f"Attempt 1: ✅ Reproduced (recording {attempt['recording']})" in report


def test_an_agent_that_leaves_the_session_is_told_where(shop, file):
    bug = BugReproducer(file)
    shop.status = "delivered"
    attempt = bug.attempt_reproduction(shop.agent(), create_replay_model(bug.trace))
    assert (attempt["success"], attempt["matches_original"]) == (False, False)
    assert attempt["divergence"].startswith("CHANGED at step 2")
    assert "Attempt 1: ❌ Different" in bug.report()
    assert "Divergence: CHANGED at step 2" in bug.report()


def test_a_run_that_ends_early_is_no_reproduction_though_its_output_is_the_same(shop, file):
    bug = BugReproducer(file)
    bug.trace["messages"] += bug.trace["messages"][1:2]
    attempt = bug.attempt_reproduction(shop.agent(), create_replay_model(bug.trace))
    assert (attempt["success"], attempt["output"], attempt["matches_original"]) == (True, SAID, False)
    assert attempt["divergence"].startswith("MISSING at step 4")


def test_without_a_replay_model_the_agents_own_answers(shop, file):
    assert BugReproducer(file).attempt_reproduction(shop.agent())["matches_original"]


def test_a_recording_that_failed_is_reproduced_by_the_same_failure(shop):
    def failing():
        agent = shop.agent()

        @agent.output_validator
        def refuse(output):
            raise RuntimeError("no such order")

        return agent

    with pytest.raises(RuntimeError):
        record_session(failing(), ASKED)
    bug = BugReproducer("last")
    assert bug.analyze_trace()["anomalies"] == ["The run failed: RuntimeError: no such order"]
    attempt = bug.attempt_reproduction(failing(), create_replay_model(bug.trace))
    assert (attempt["error"], attempt["matches_original"]) == ("RuntimeError: no such order", True)
    assert not bug.attempt_reproduction(shop.agent(), create_replay_model(bug.trace))["matches_original"]


def test_a_trace_that_is_not_there_is_said(tmp_path):
    with pytest.raises(RecordingNotFound):
        BugReproducer(tmp_path / "none.json")
    with pytest.raises(RecordingNotFound):
        BugReproducer("nothing-of-that-id")


def test_two_sessions_are_compared_step_by_step(shop, file):
    assert compare_sessions(file, file).same
    shop.status = "delivered"
    other = record_session(shop.agent(), ASKED)[1]
    found = compare_sessions(file, other)
    paths = [(pair.a.number, part.path) for pair in found.pairs for part in pair.differences]
    assert paths == [(2, "output"), (3, "new_messages[0].text")]
    assert found.parting.why == "the same question got a different answer"


def test_an_additional_step_shifts_no_other(shop, file):
    longer = SessionRecord.load(file)
    longer.messages[1:1] = longer.messages[1:3]
    found = compare_sessions(file, longer)
    assert (found.counts[Kind.INSERTED], found.counts[Kind.DELETED]) == (2, 0)


def test_sessions_and_their_recordings_are_compared_alike(shop, file):
    assert compare_sessions(file, reenact.load("last")).same


def test_the_temporary_recording_of_a_session_is_removed(file):
    recording = imported(file)
    folder = Path(recording.path)
    assert folder.exists()
    del recording
    gc.collect()
    assert not folder.exists()


def test_a_snapshot_is_saved_and_loaded(tmp_path):
    snapshot = AgentStateSnapshot(2, [{"a": 1}], {"b": 2}, [{"step": 1}], 2)
    assert AgentStateSnapshot.load(snapshot.save(tmp_path / "deep" / "s.json")) == snapshot
    for name, content in (("bad", "{"), ("other", '{"x": 1}'), ("list", "[]")):
        (tmp_path / name).write_text(content)
        with pytest.raises(NotARecording, match="is no snapshot"):
            AgentStateSnapshot.load(tmp_path / name)
    with pytest.raises(RecordingNotFound):
        AgentStateSnapshot.load(tmp_path / "none")


def test_a_restored_agent_is_as_it_was_and_the_snapshot_keeps_its_own(shop):
    agent = StatefulAgent(shop.agent(), "OrderBot")
    agent.memory.append({"said": "hello"})
    agent.add_tool_result("lookup_order", {"id": 1}, "shipped")
    before = agent.take_snapshot()
    agent.memory[0]["said"] = "changed"
    agent.add_tool_result("cancel_order", {"id": 1}, "ERROR")
    agent.restore_snapshot(before)
    assert (agent.step, agent.memory, len(agent.tool_results)) == (1, [{"said": "hello"}], 1)
    agent.memory.clear()
    assert before.memory == [{"said": "hello"}]


def test_every_fifth_tool_result_takes_a_snapshot(shop):
    agent = StatefulAgent(shop.agent())
    for number in range(11):
        agent.add_tool_result("t", {}, number)
    assert [snapshot.step_number for snapshot in agent.snapshots] == [5, 10]


def test_its_state_is_in_the_recording_along_with_the_steps(shop):
    agent = StatefulAgent(shop.agent(), "OrderBot")
    with reenact.record("run"):
        agent.agent.run_sync(ASKED)
        agent.add_tool_result("lookup_order", {"id": 1}, "shipped")
        agent.take_snapshot()
    recording = reenact.load("last")
    found = AgentStateSnapshot.of(recording, name="OrderBot")
    assert (found.step_number, found.tool_results[0]["tool"]) == (1, "lookup_order")
    agent.restore_snapshot(AgentStateSnapshot(0))
    recording.restore(None, "OrderBot")
    assert (agent.step, len(agent.tool_results)) == (1, 1)
    with pytest.raises(UsageError, match="has no state 'other': there is"):
        AgentStateSnapshot.of(recording, name="other")


def test_parts_that_are_tracked_by_their_own_names_make_a_snapshot(shop):
    memory = reenact.track("memory", [{"a": 1}])
    with reenact.record("run"):
        shop.agent().run_sync(ASKED)
        memory.append({"b": 2})
    reenact.untrack("memory")
    found = AgentStateSnapshot.of(reenact.load("last"))
    assert (found.step_number, found.memory) == (5, [{"a": 1}, {"b": 2}])
