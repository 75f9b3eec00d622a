"""Importers read hostile files in time in proportion to their size: counted in lines of Python, not in seconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reenact.analysis.interchange.importers import chat, run_writer
from reenact.analysis.interchange.importers.inspect import _events
from reenact.analysis.interchange.importers.langfuse import langfuse
from reenact.analysis.interchange.importers.openai_agents import openai_agents
from reenact.analysis.interchange.importers.otel import read_spans
from reenact.analysis.interchange.importers.otel.span import Span
from reenact.analysis.interchange.importers.run import Happened
from reenact.core.store.local import EVENTS, LocalStore, load
from tests.hostile.counting import lines_of

FEW, MANY = 60, 240
FILE = Path("hostile.json")
SECOND = 1_000_000_000


def is_linear(work):
    """Four times the input takes at most five times the lines."""
    work(8)  # what is only done once
    few, many = lines_of(lambda: work(FEW)), lines_of(lambda: work(MANY))
    assert many < 5 * few, (few, many)


def span(number, parent="", kind="LLM", began=None, ended=None):
    begun = number if began is None else began
    return Span(
        trace="t", id=f"s{number}", name="look", parent=parent, began=begun * SECOND,
        ended=(begun + 1 if ended is None else ended) * SECOND,
        attributes={"openinference.span.kind": kind, "input.value": "x", "output.value": "y"},
    )  # fmt: skip


SHAPES = {
    "model calls beside each other": lambda n: [span(i) for i in range(n)],
    "tools in one agent": lambda n: [span(0, kind="AGENT", ended=n + 1), *(span(i, "s0", "TOOL") for i in range(1, n))],
    "tools in one model call": lambda n: [span(0, ended=n + 1), *(span(i, "s0", "TOOL") for i in range(1, n))],
    "all under way at once": lambda n: [span(i, kind="TOOL", ended=10_000 - i) for i in range(n)],
    "all under way, ended in order": lambda n: [span(i, kind="TOOL", ended=10_000 + i) for i in range(n)],
    "missing parents": lambda n: [span(i, f"none{i}") for i in range(n)],
    "circles": lambda n: [span(i, f"s{i ^ 1}", "TOOL") for i in range(n)],
    "each with an agent": lambda n: [
        span(i, f"s{i - 1}" if i % 2 else "", "TOOL" if i % 2 else "AGENT") for i in range(n)
    ],
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_spans_are_read_and_ordered_in_time_in_proportion(shape):
    def work(count):
        for run in read_spans(SHAPES[shape](count), FILE, "otel"):
            list(run_writer._by_time(list(run.effects)))

    is_linear(work)


@pytest.mark.parametrize("circle", [False, True])
def test_spans_that_are_nested_very_deep_are_refused(circle):
    spans = [span(i, f"s{i - 1}", "CHAIN" if i % 2 else "AGENT") for i in range(1, 400)]
    spans.insert(0, span(0, "s399" if circle else ""))
    spans.append(span(399, "s398" if circle else "s0"))
    with pytest.raises(ValueError, match="spans are nested more than 256 deep"):
        list(read_spans(spans, FILE, "otel"))


def test_observations_of_langfuse_are_read_in_time_in_proportion():
    def work(count):
        items = [
            {
                "id": f"o{i}", "traceId": "t", "type": "GENERATION", "startTime": f"2026-01-01T00:{i // 60:02}:{i % 60:02}Z",
                "parentObservationId": "o0" if i else None, "input": "x", "output": "y",
            }
            for i in range(count)
        ]  # fmt: skip
        langfuse({"trace": {"id": "t"}, "observations": items}, FILE)

    is_linear(work)


def test_spans_of_the_agents_sdk_are_read_in_time_in_proportion():
    def work(count):
        openai_agents(
            [
                {
                    "object": "trace.span", "id": f"s{i}", "trace_id": "t", "parent_id": "s0" if i else None,
                    "started_at": f"2026-01-01T00:{i // 60:02}:{i % 60:02}Z", "span_data": {"type": "function", "name": "look"},
                }
                for i in range(count)
            ],
            FILE,
        )  # fmt: skip

    is_linear(work)


def test_a_circle_of_spans_in_a_log_of_inspect_is_refused():
    events = [
        {"event": "span_begin", "id": "a", "parent_id": "b", "type": "x"},
        {"event": "span_begin", "id": "b", "parent_id": "a", "type": "x"},
        {"event": "tool", "span_id": "a", "function": "look", "timestamp": "2026-01-01T00:00:00Z"},
    ]
    with pytest.raises(ValueError, match="spans are nested more than 256 deep"):
        list(_events(events))


def test_effects_end_by_their_times_and_the_inner_ones_first():
    start = datetime(2026, 1, 1, tzinfo=UTC)

    def effect(name, began, ended, within=None):
        return Happened(
            "tool", name, {}, began=start + timedelta(seconds=began), ended=start + timedelta(seconds=ended), within=within
        )  # fmt: skip

    outer = effect("outer", 0, 3)
    order = run_writer._by_time(
        [outer, effect("inner", 1, 9, outer), effect("short", 2, 3), effect("late", 3, 4)]
    )
    assert [(one.name, asked) for one, asked in order] == [
        ("outer", True), ("inner", True), ("short", True), ("short", False), ("late", True), ("late", False),
        ("inner", False), ("outer", False),
    ]  # fmt: skip


def chat_of(count):
    return [{"role": "assistant" if i % 2 else "user", "content": f"m{i}"} for i in range(count)]


def test_the_calls_of_a_chat_share_its_messages():
    run = chat.run_of(chat_of(4000), "chat", "file")
    calls = [one for one in run.effects if one.kind == "model"]
    assert len(calls) == 2000
    assert len({id(one.args["messages"].messages) for one in calls}) == 1
    assert calls[5].args["messages"] == chat_of(11)
    assert [len(one.args["messages"]) for one in calls[:3]] == [1, 3, 5]


def test_histories_beyond_a_number_of_messages_are_shortened_to_what_is_new_and_a_note_says_so(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(run_writer, "REPEATED", 30)
    store = LocalStore(tmp_path)
    recording = load(store.folder(run_writer.keep(store, chat.run_of(chat_of(20), "chat", "file"))))
    messages = [step.args["messages"] for step in recording.steps]
    # 1 + 3 + 5 + 7 + 9 are 25; the sixth call would repeat 11 more.
    assert messages[:5] == [chat_of(count) for count in (1, 3, 5, 7, 9)]
    assert messages[5:] == [chat_of(count)[-2:] for count in (11, 13, 15, 17, 19)]
    assert "5 model calls hold only the messages since" in (tmp_path / recording.path / EVENTS).read_text()
