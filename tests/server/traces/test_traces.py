"""Spans that arrive are kept at once, and make one recording a trace, however they come."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace

import pytest

from reenact.analysis.interchange.importers.otel.span import Span, SpanEvent
from reenact.core.query.facts import RecordingFacts
from reenact.core.store.local import LocalStore
from reenact.server.traces import Traces

TRACE = "0af7651916cd43dd8448eb211c80319c"
MESSAGES = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}])


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path / "home")


def span(id, parent="", trace=TRACE, *, operation="chat", **attributes):
    named = {
        "gen_ai.operation.name": operation,
        "gen_ai.request.model": "gpt-x",
        "gen_ai.input.messages": MESSAGES,
    }
    number = int(id, 16)
    return Span(
        trace,
        id.zfill(16),
        id,
        parent and parent.zfill(16),
        10**18 + number,
        10**18 + number + 1,
        {**named, **attributes},
    )


ROOT = span("1", operation="invoke_agent", **{"gen_ai.agent.name": "support"})


def steps(store):
    return [len(store.load(id).steps) for id in store.ids()]


def test_batches_of_one_trace_are_one_recording_when_it_has_been_quiet(store):
    traces = Traces(store, quiet=2)
    traces.take([span("2", "1")], 0)
    traces.take([span("3", "1")], 50)
    assert traces.settle(55) == []
    traces.take([ROOT], 56)
    traces.take([span("4", "1")], 57)
    assert traces.settle(58) == []
    (kept,) = traces.settle(59)
    assert (kept.name, kept.steps, kept.again) == ("support", 3, False)
    assert steps(store) == [3]
    assert traces.settle(100) == []


def test_a_trace_without_its_outermost_span_waits_longer(store):
    traces = Traces(store, quiet=2, patience=60)
    traces.take([span("2", "1")], 0)
    assert traces.settle(59) == []
    (kept,) = traces.settle(60)
    assert "spans are missing" in " ".join(store.load(kept.id).notes)


def test_late_spans_make_the_recording_anew_and_no_second_one(store):
    traces = Traces(store, quiet=2)
    traces.take([ROOT, span("2", "1")], 0)
    (first,) = traces.settle(2)
    traces.take([span("3", "1")], 5)
    (again,) = traces.settle(7)
    assert (again.id, again.again) == (first.id, True)
    assert steps(store) == [2]
    assert traces.counts.recordings == 1


def test_what_is_sent_twice_counts_once(store):
    traces = Traces(store, quiet=2)
    traces.take([ROOT, span("2", "1")], 0)
    traces.take([ROOT, span("2", "1")], 1)
    assert len(traces.settle(2)) == 1
    traces.take([ROOT, span("2", "1")], 3)
    assert traces.settle(9) == []
    assert steps(store) == [1]


def test_messages_that_come_as_log_records_join_their_span_before_or_after_it(store):
    traces = Traces(store, quiet=2)
    asked = span("2")
    bare = Span(TRACE, asked.id, "chat", "", asked.began, asked.ended, {"gen_ai.operation.name": "chat"})
    said = [
        Span(TRACE, asked.id, "", events=(SpanEvent(f"gen_ai.{kind}", body, at),))
        for at, (kind, body) in enumerate(
            [("user.message", {"content": "hi"}), ("choice", {"message": {"content": "hello"}})], 1
        )
    ]
    traces.take([said[0]], 0)
    traces.take([bare], 0)
    traces.take([said[1], said[0]], 1)
    (kept,) = traces.settle(3)
    (facts,) = RecordingFacts(store.load(kept.id)).steps
    assert (facts.model_call.messages[0].text, facts.model_call.answer.text) == ("hi", "hello")
    assert traces.counts.spans == 1


def test_the_end_makes_recordings_of_all_and_leaves_no_file(store):
    traces = Traces(store)
    traces.take([span("2", "1")], 0)
    traces.take([span("5", trace="f" * 32)], 0)
    assert len(traces.settle(0, all=True)) == 2
    assert not (store.root / "traces").exists()


def test_spans_for_a_trace_that_an_earlier_collector_recorded_are_counted_and_left_out(store):
    before = Traces(store)
    before.take([ROOT, span("2", "1")], 0)
    before.settle(0, all=True)
    traces = Traces(store)
    traces.take([span("3", "1")], 0)
    assert traces.settle(0, all=True) == []
    assert (steps(store), traces.counts.late) == ([1], 1)


def test_a_collector_that_was_killed_loses_nothing(store):
    Traces(store).take([ROOT, span("2", "1")], 0)
    file = store.root / "traces" / f"{TRACE}.jsonl"
    assert oct(file.stat().st_mode & 0o777) == "0o600"
    with file.open("ab") as torn:
        torn.write(b'{"trace": "0af')
    traces = Traces(store)
    assert traces.waiting == 1
    assert [kept.steps for kept in traces.settle(0, all=True)] == [1]


def test_a_trace_with_nothing_of_an_agent_is_left_out(store):
    traces = Traces(store)
    traces.take([Span("e" * 32, "1" * 16, "GET /", began=1, ended=2)], 0)
    assert traces.settle(0, all=True) == []
    assert (store.ids(), traces.counts.strange) == ([], 1)


def test_secrets_are_gone_before_anything_is_written(store):
    key = "sk-proj-" + "a1B2c3D4" * 6
    traces = Traces(store)
    traces.take(
        [
            span(
                "2",
                **{
                    "gen_ai.output.messages": json.dumps(
                        [{"role": "assistant", "parts": [{"type": "text", "content": key}]}]
                    )
                },
            )
        ],
        0,
    )
    written = b"".join(path.read_bytes() for path in store.root.rglob("*") if path.is_file())
    assert key.encode() not in written
    assert b"secret:" in written


def test_a_trace_that_cannot_be_recorded_keeps_its_spans(store):
    traces = Traces(store)
    traces.take([ROOT, span("2", "1")], 0)
    store.recordings.write_text("in the way")
    failures = []
    assert traces.settle(0, all=True, failed=failures.append) == []
    assert TRACE in failures[0]
    store.recordings.unlink()
    assert len(Traces(store).settle(0, all=True)) == 1


def test_a_trace_that_cannot_be_recorded_keeps_its_spans_when_it_is_late_too(store):
    traces = Traces(store, quiet=2)
    deep = [span(f"{number:x}", f"{number - 1:x}") for number in range(2, 400)]
    traces.take([ROOT, *deep], 0)
    said = []
    for now in (3, 1000, 2000):
        assert traces.settle(now, failed=said.append) == []
    assert "nested more than 256 deep" in said[0]
    assert len(said) == 1
    assert len((traces.folder / f"{TRACE}.jsonl").read_bytes().splitlines()) == 399


def test_of_traces_that_cannot_be_recorded_the_newest_are_kept_up_to_a_limit(store, monkeypatch):
    said = []
    traces = Traces(store, quiet=2)
    for number in range(5):
        deep = [span(f"{at:x}", f"{at - 1:x}", trace=f"ab{number}") for at in range(1, 300)]
        traces.take(deep, 0)
        file = traces.folder / f"ab{number}.jsonl"
        os.utime(file, (number, number))
    traces.take([ROOT], 99)
    size = file.stat().st_size
    monkeypatch.setattr("reenact.server.traces.traces._UNRECORDED", 2 * size)
    assert traces.settle(100, failed=said.append) == []
    assert sorted(path.stem for path in traces.folder.iterdir()) == [TRACE, "ab3", "ab4"]
    assert sum("nested more than 256 deep" in text for text in said) == 5
    assert [text for text in said if "deleted" in text] == [said[-1]]
    assert said[-1].startswith("trace ab0 and 2 others could not be recorded")
    traces.settle(2000, failed=said.append)
    # The next collector tries again.
    assert sorted(path.stem for path in traces.folder.iterdir()) == ["ab3", "ab4"]
    assert Traces(store).waiting == 2


def test_a_trace_that_waits_for_its_disk_is_told_of_once_and_kept(store, monkeypatch):
    monkeypatch.setattr("reenact.server.traces.traces._UNRECORDED", 0)
    traces = Traces(store, quiet=2)
    traces.take([ROOT, span("2", "1")], 0)
    store.recordings.write_text("in the way")
    said = []
    for now in (3, 4, 5):
        assert traces.settle(now, failed=said.append) == []
    assert len(said) == 1
    store.recordings.unlink()
    assert len(traces.settle(6, failed=said.append)) == 1


def test_another_complete_span_of_the_same_id_is_noted(store):
    first = span("2", "1", **{"gen_ai.output.messages": MESSAGES.replace("user", "assistant")})
    second = replace(first, began=first.began + 5, name="other")
    traces = Traces(store)
    for one in (first, second, first, second):
        traces.take([one], 0)
    (kept,) = traces.settle(0, all=True)
    recording = store.load(kept.id)
    assert (
        "ids of spans are repeated: 1 complete spans were replaced by later ones of their ids"
        in recording.notes
    )
    assert len(recording.steps) == 1


def test_a_span_that_was_sent_at_its_beginning_and_arrives_late_replaces_nothing(store):
    whole = span("2", **{"gen_ai.output.messages": MESSAGES.replace("user", "assistant")})
    begun = replace(whole, ended=0, attributes={"gen_ai.operation.name": "chat"})
    for order in ([whole, begun], [begun, whole]):
        traces = Traces(LocalStore(store.root / str(order.index(whole))), quiet=2)
        for one in order:
            traces.take([one], 0)
        (kept,) = traces.settle(100, all=True)
        (step,) = traces._store.load(kept.id).steps
        assert step.output["choices"][0]["message"]["content"] == "hi"


def test_what_cannot_be_kept_is_an_error(store):
    store.root.write_text("in the way")
    with pytest.raises(OSError, match="directory"):
        Traces(store).take([ROOT], 0)


def test_a_trace_s_id_names_no_file_elsewhere(store):
    traces = Traces(store)
    traces.take([span("2", trace="../../x")], 0)
    assert len(traces.settle(0, all=True)) == 1


def test_a_late_span_does_not_bring_back_a_recording_that_was_deleted(store):
    traces = Traces(store, quiet=2)
    traces.take([span("2", "1"), ROOT], 0)
    (kept,) = traces.settle(10)
    store.remove(kept.id, why="asked for")
    traces.take([span("3", "1")], 11)
    assert traces.settle(100) == []
    assert store.ids() == []


def test_spans_beyond_the_largest_trace_are_left_out_and_the_recording_says_so(store, monkeypatch):
    monkeypatch.setattr("reenact.server.traces.traces.LARGEST", 5000)
    traces = Traces(store, quiet=2)
    assert traces.take([ROOT, *(span(f"{number:x}", "1") for number in range(2, 40))], 0) > 20
    assert traces.take([span("aa", "1")], 1) == 1
    # Another trace is not concerned, and neither is the next collector.
    assert traces.take([span("1", trace="ef")], 1) == 0
    file = traces.folder / f"{TRACE}.jsonl"
    size = file.stat().st_size
    assert size < 5100
    traces = Traces(store, quiet=2)
    assert traces.take([span("ab", "1")], 1) == 1
    assert file.stat().st_size == size
    assert len(traces.settle(9)) == 2
    (notes,) = (store.load(id).notes for id in store.ids() if store.load(id).name == "support")
    assert any("spans are missing: the trace has more than" in note for note in notes)


def test_a_trace_that_takes_long_to_record_is_recorded_again_after_a_longer_pause(store, monkeypatch):
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr("reenact.server.traces.traces.monotonic", lambda: next(clock))
    traces = Traces(store, quiet=2)
    traces.take([ROOT, span("2", "1")], 0)
    assert len(traces.settle(3)) == 1
    traces.take([span("3", "1")], 4)
    assert traces.settle(53) == []
    assert len(traces.settle(54)) == 1


def test_more_spans_under_way_than_fit_into_memory_are_refused_until_traces_have_ended(store, monkeypatch):
    monkeypatch.setattr("reenact.server.traces.traces._MOST_SPANS", 10)
    traces = Traces(store, quiet=2)
    traces.take([span("1", trace=f"{number:x}") for number in range(10)], 0)
    with pytest.raises(OSError, match="too many spans wait"):
        traces.take([ROOT], 1)
    assert len(traces.settle(3)) == 10
    traces.take([ROOT], 4)
    assert traces.waiting == 1


@pytest.mark.parametrize(
    "line",
    [
        "5",
        "[]",
        "{}",
        '{"events":5}',
        '{"events":[],"trace":"a","id":[],"name":"x"}',
        '{"events":[],"trace":"a","id":"1","name":"x","more":1}',
        '{"events":[{"name":"x","attributes":%s}],"trace":"a","id":"1","name":""}' % ("[" * 900 + "]" * 900),
    ],
)
def test_a_home_with_strange_files_is_collected_into(store, line):
    folder = Traces(store).folder
    folder.mkdir(parents=True)
    (folder / "aa.jsonl").write_text(line + "\n")
    (folder / "bb.jsonl").mkdir()
    if sys.platform != "win32":
        (folder / "cc.jsonl").symlink_to("/dev/zero")
        os.mkfifo(folder / "dd.jsonl")
    traces = Traces(store, quiet=2)
    traces.take([ROOT, span("2", "1")], 0)
    assert [kept.name for kept in traces.settle(3)] == ["support"]
