"""Traces become recordings: what each instrumentation wrote stands where a recording has it, and what is missing is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reenact.analysis.interchange import importers
from reenact.analysis.interchange.importers.otel import runs, wire
from reenact.analysis.interchange.importers.otel.span import Span, SpanEvent, problem, said
from reenact.analysis.interchange.importers.run_writer import keep
from reenact.core.query.facts import RecordingFacts
from reenact.errors import DivergenceError, NotARecording
from reenact.lesson import SessionRecord, create_replay_model

TRACES = Path(__file__).parent / "traces"


def recorded(store, *spans):
    """The spans of one trace, as a recording."""
    (trace,) = runs.traces(spans).values()
    return store.load(keep(store, runs.run(trace, source={"format": "otel"})))


def labels(recording):
    return [step.call.label for step in recording]


SECOND = 1_000_000_000
START = 1_760_000_000 * SECOND


def span(id, parent="", at=0.0, took=1.0, *, name="", noted=(), error=None, **attributes):
    began = START + round(at * SECOND)
    plain = {key.replace("__", "."): value for key, value in attributes.items()}
    return Span("t", id, name or id, parent, began, began + round(took * SECOND), plain, tuple(noted), error)


def chat(id, parent="", at=0.0, took=1.0, **more):
    return span(id, parent, at, took, gen_ai__operation__name="chat", gen_ai__request__model="gpt-x", **more)


def tool(id, parent="", at=0.0, took=1.0, *, named="weather", **more):
    return span(
        id, parent, at, took, gen_ai__operation__name="execute_tool", gen_ai__tool__name=named, **more
    )


SAID = {
    "gen_ai__input__messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]),
    "gen_ai__output__messages": json.dumps(
        [{"role": "assistant", "parts": [{"type": "text", "content": "hello"}], "finish_reason": "stop"}]
    ),
}


# -- what real instrumentations wrote --------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["openinference.jsonl", "traceloop.jsonl"])
def test_a_program_traced_by_either_instrumentation_is_the_same_recording(bring, file):
    found, (recording,) = bring(TRACES / file)
    assert found == "otel"
    assert labels(recording) == [
        "model:gpt-x", "tool:weather", "model:gpt-x", "model:gpt-x", "model:gpt-x", "model:fail"
    ]  # fmt: skip
    calls = [facts.model_call for facts in RecordingFacts(recording).steps]
    first, then, streamed, responses, failed = (call for call in calls if call is not None)
    assert [(message.role, message.text) for message in first.messages] == [
        ("system", "be brief"), ("user", "weather in Berlin?"),
    ]  # fmt: skip
    assert [(call.name, call.args) for call in first.answer.calls] == [("weather", {"city": "Berlin"})]
    assert (first.finish, first.tools, first.usage.input, first.usage.output) == (
        "tool_calls",
        ("weather",),
        11,
        5,
    )
    assert first.schemas["weather"]["properties"] == {"city": {"type": "string"}}
    assert [(message.role, message.name, message.text) for message in then.messages[-1:]] == [
        ("tool", "weather", "7 degrees")
    ]
    assert (then.answer.text, streamed.answer.text, responses.answer.text) == (
        "It is 7 degrees.",
        "It is 7.",
        "pong",
    )
    assert failed.answer is None
    assert "no such model" in RecordingFacts(recording).steps[-1].error
    assert recording.step(1).args["temperature"] == 0.3


def test_a_protobuf_file_is_recognised_and_agents_are_scopes(bring):
    found, (recording,) = bring(TRACES / "pydantic_ai.pb")
    assert found == "otel"
    assert [step.call.address for step in recording] == [
        "main/weather_agent/model:gpt-x#0", "main/weather_agent/tool:weather#0", "main/weather_agent/model:gpt-x#1"
    ]  # fmt: skip
    assert recording.step(2).output == {"city": "Berlin", "degrees": 7}
    assert (recording.name, recording.output) == ("weather_agent", "It is 7 degrees.")
    assert any(tag.startswith("conversation:") for tag in recording.tags)
    assert "service:pydantic-ai-v6" in recording.tags


def test_a_protobuf_file_of_several_messages_is_one_too(bring, tmp_path):
    data = (TRACES / "pydantic_ai.pb").read_bytes()
    file = tmp_path / "collector.binpb"
    file.write_bytes(2 * (len(data).to_bytes(4, "big") + data))
    assert len(bring(file)[1][0].steps) == 3


def test_the_model_side_replays_from_a_trace_and_a_changed_question_departs(bring):
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent

    _, (recording,) = bring(TRACES / "pydantic_ai.pb")
    assert "create_replay_model" in " ".join(recording.notes)
    session = SessionRecord.of(recording)
    agent = Agent(instructions="be brief")

    @agent.tool_plain
    def weather(city: str) -> dict:
        return {"city": city, "degrees": 7}

    assert (
        agent.run_sync("weather in Berlin?", model=create_replay_model(session)).output == "It is 7 degrees."
    )
    with pytest.raises(DivergenceError, match="Paris"):
        agent.run_sync("weather in Paris?", model=create_replay_model(session))


@pytest.mark.parametrize(
    "wrapped",
    [lambda span: span, lambda span: {"spans": [span]}, lambda span: {"traces": {"a": {"spans": [span]}}}],
    ids=["bare", "spans", "traces"],
)
def test_an_sdk_s_console_lines_are_a_trace(bring, tmp_path, wrapped):
    printed = {
        "name": "chat gpt-x", "context": {"trace_id": "0x" + "a" * 32, "span_id": "0x" + "b" * 16, "trace_state": "[]"},
        "kind": "SpanKind.CLIENT", "parent_id": None, "start_time": "2026-01-01T10:00:00.000000Z",
        "end_time": "2026-01-01T10:00:02.500000Z", "status": {"status_code": "UNSET"}, "events": [], "links": [],
        "attributes": {key.replace("__", "."): value for key, value in {**SAID, "gen_ai__operation__name": "chat"}.items()},
        "resource": {"attributes": {"service.name": "shop"}, "schema_url": ""},
    }  # fmt: skip
    file = tmp_path / "console.json"
    file.write_text(json.dumps(wrapped(printed), indent=4))
    _, (recording,) = bring(file)
    assert (recording.started[:19], recording.step(1).call.duration) == ("2026-01-01T10:00:00", 2.5)
    assert recording.tags == ("service:shop",)


# -- what a span says ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attributes",
    [
        SAID,
        {
            "events": json.dumps(
                [
                    {"event.name": "gen_ai.user.message", "role": "user", "content": "hi"},
                    {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": "hello"}},
                ]
            )
        },
        {"gen_ai__prompt__0__role": "user", "gen_ai__prompt__0__content": "hi", "gen_ai__completion__0__content": "hello"},
        {
            "llm__input_messages__0__message__role": "user",
            "llm__input_messages__0__message__content": "hi",
            "llm__output_messages__0__message__role": "assistant",
            "llm__output_messages__0__message__contents__0__message_content__type": "text",
            "llm__output_messages__0__message__contents__0__message_content__text": "hello",
        },
        {
            "input__value": json.dumps({"model": "claude-x", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}),
            "output__value": json.dumps({"role": "assistant", "content": [{"type": "text", "text": "hello"}], "stop_reason": "end_turn"}),
        },
        {
            "input__value": json.dumps({"messages": [[{"lc": 1, "type": "constructor", "id": ["x", "HumanMessage"], "kwargs": {"content": "hi"}}]]}),
            "output__value": json.dumps({"generations": [[{"text": "hello", "message": {"lc": 1, "id": ["x", "AIMessage"], "kwargs": {"content": "hello"}}}]]}),
        },
        {"ai__prompt__messages": json.dumps([{"role": "user", "content": [{"type": "text", "text": "hi"}]}]), "ai__response__text": "hello"},
        {"gcp__vertex__agent__llm_request": json.dumps({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}),
         "gcp__vertex__agent__llm_response": json.dumps({"content": {"role": "model", "parts": [{"text": "hello"}]}, "finish_reason": "STOP"})},
    ],
    ids=["genai", "events", "traceloop", "openinference", "anthropic", "langchain", "vercel", "google"],
)  # fmt: skip
def test_messages_are_read_from_wherever_an_instrumentation_puts_them(store, attributes):
    call = RecordingFacts(recorded(store, chat("a", **attributes))).steps[0].model_call
    assert [(message.role, message.text) for message in call.messages] == [("user", "hi")]
    assert call.answer.text == "hello"


@pytest.mark.parametrize(
    "events",
    [
        [
            SpanEvent("gen_ai.user.message", {"content": "hi"}),
            SpanEvent("gen_ai.choice", {"finish_reason": "stop", "message": json.dumps({"content": "hello"})}),
        ],
        [
            SpanEvent("gen_ai.user.message", {"content": json.dumps([{"text": "hi"}])}),
            SpanEvent("gen_ai.choice", {"finish_reason": "end_turn", "message": json.dumps([{"text": "hello"}])}),
        ],
        [
            SpanEvent("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps([{"role": "user", "content": "hi"}])}),
            SpanEvent("gen_ai.content.completion", {"gen_ai.completion": json.dumps([{"role": "assistant", "content": "hello"}])}),
        ],
    ],
    ids=["messages", "strands", "content"],
)  # fmt: skip
def test_messages_are_read_from_a_span_s_events(store, events):
    call = RecordingFacts(recorded(store, chat("a", noted=events))).steps[0].model_call
    assert (call.messages[0].text, call.answer.text) == ("hi", "hello")


def test_calls_and_results_keep_their_ids_and_thoughts_are_thoughts(store):
    messages = [
        {"role": "assistant", "parts": [
            {"type": "reasoning", "content": "which city?"},
            {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Berlin"}},
        ]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": {"degrees": 7}}]},
    ]  # fmt: skip
    call = (
        RecordingFacts(recorded(store, chat("a", gen_ai__input__messages=json.dumps(messages))))
        .steps[0]
        .model_call
    )
    asked, given = call.messages
    assert (asked.thinking, asked.calls[0].id, asked.calls[0].args) == (
        "which city?",
        "c1",
        {"city": "Berlin"},
    )
    assert (given.role, given.name, given.id, given.text) == ("tool", "weather", "c1", '{"degrees":7}')


def test_a_call_that_two_instrumentations_saw_is_one_call(store):
    outer = span("outer", at=0, took=3, openinference__span__kind="LLM", input__value="strings, not messages")
    inner = chat("inner", "outer", at=0.1, took=2, **SAID)
    recording = recorded(store, outer, inner)
    assert len(recording.steps) == 1
    assert RecordingFacts(recording).steps[0].model_call.messages[0].text == "hi"


def test_a_tool_within_the_span_of_its_call_is_beside_it(store):
    recording = recorded(store, chat("model", took=3, **SAID), tool("t", "model", at=2, took=0.5))
    assert [(step.call.label, step.call.within) for step in recording] == [
        ("model:gpt-x", None),
        ("tool:weather", None),
    ]
    assert recording.step(1).call.duration == 2


def test_an_agent_that_a_tool_asks_is_inside_of_the_tool(store):
    recording = recorded(
        store,
        span("root", took=9, gen_ai__operation__name="invoke_agent", gen_ai__agent__name="boss"),
        tool("ask", "root", at=1, took=5, named="ask_expert"),
        span(
            "sub", "ask", at=2, took=3, gen_ai__operation__name="invoke_agent", gen_ai__agent__name="expert"
        ),
        chat("c", "sub", at=3, **SAID),
    )
    assert [step.call.address for step in recording] == [
        "main/boss/tool:ask_expert#0", "main/boss/tool:ask_expert#0/expert/model:gpt-x#0"
    ]  # fmt: skip
    assert recording.step(2).call.within == recording.step(1).call.number


def test_parallel_tools_overlap_and_answers_stand_in_the_order_in_which_they_came(store):
    recording = recorded(store, chat("m", **SAID), tool("slow", at=1, took=4), tool("fast", at=1.5, took=1))
    slow, fast = recording.steps[1:]
    assert (slow.call.duration, fast.call.duration) == (4, 1)
    assert fast.call.order < slow.call.order


def test_errors_are_those_of_the_exception_else_of_the_status(store):

    raised = SpanEvent(
        "exception", {"exception.type": "builtins.ValueError", "exception.message": "no such city"}
    )
    assert problem([raised], True, "ignored", "") == "ValueError: no such city"
    assert problem([], True, "quota exceeded", "429") == "429: quota exceeded"
    assert problem([], False, "", "timeout") == "timeout"
    assert problem([raised], False, "", "") is None
    recording = recorded(store, tool("t", error="ValueError: no such city"))
    assert recording.status == "error"
    assert "no such city" in RecordingFacts(recording).steps[0].error


# -- what is missing is said -----------------------------------------------------------------------------------


def test_a_trace_without_captured_content_says_that_it_cannot_be_replayed(store):
    recording = recorded(store, chat("a", gen_ai__usage__input_tokens=3), tool("t", at=2))
    notes = " ".join(recording.notes)
    assert "step 1: the trace does not say what the model was asked" in notes
    assert "step 1: the trace does not say what the model answered" in notes
    assert "step 2: the trace does not say what the tool gave" in notes
    assert "can be read, but not replayed" in notes
    assert RecordingFacts(recording).steps[0].get("tokens") == 3


@pytest.mark.parametrize("size", [1, 2, 100])
def test_agents_in_a_circle_of_parents_are_kept_and_named(store, size):
    agents = [
        span(str(number), str((number + 1) % size), gen_ai__operation__name="invoke_agent", name=f"a{number}")
        for number in range(size)
    ]
    recording = recorded(store, *agents, chat("c", "0", **SAID))
    assert labels(recording) == ["model:gpt-x"]
    assert "spans name each other as parents: 1 of them became outermost" in recording.notes


ODD = [
    {"openinference.span.kind": "LLM", "llm.input_messages.\u00b2.message.role": "user"},
    {"openinference.span.kind": "LLM", f"llm.input_messages.{'9' * 5000}.message.role": "user"},
    {"openinference.span.kind": "LLM", f"llm.input_messages{'.0' * 100_000}": "user"},
    {"gen_ai.operation.name": "chat", "reenact.recording.tags": 5},
    {"gen_ai.operation.name": "chat", "output.value": '{"id": [], "kwargs": {"content": "x"}}'},
    {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": '{"args": 5, "kwargs": {}}'},
]


@pytest.mark.parametrize("attributes", ODD)
def test_an_odd_attribute_costs_no_more_than_itself(store, attributes):
    recording = recorded(store, replace(span("1"), attributes=attributes), chat("2", **SAID))
    assert len(recording.steps) == 2


def test_a_text_is_read_as_a_python_literal_only_if_it_is_short_and_of_values_that_json_has():
    assert said("{'a': (1, None), 2: 'x'}") == {"a": [1, None], "2": "x"}
    for text in ("{1, 2}", "[b'x']", "{(1,): 2}", "[1+2j]", f"[{'1,' * (1 << 20)}'x']"):
        assert said(text) == text


def test_a_lost_span_is_named(store):
    assert "1 name a parent outside of the trace" in " ".join(
        recorded(store, chat("a", "gone", **SAID)).notes
    )


def test_spans_that_say_nothing_of_an_agent_are_shown_as_they_are(bring, tmp_path):
    document = {
        "resourceSpans": [
            {"scopeSpans": [{"spans": [{"traceId": "a" * 32, "spanId": "b" * 16, "name": "GET /"}]}]}
        ]
    }
    file = tmp_path / "web.json"
    file.write_text(json.dumps(document))
    _, (recording,) = bring(file)
    assert labels(recording) == ["span:GET /"]
    assert "no span of the trace says that it is a model call" in recording.notes[0]


def test_of_several_traces_those_without_an_agent_are_left_out_with_a_word(bring, tmp_path):
    lines = (TRACES / "traceloop.jsonl").read_text()
    other = {
        "resourceSpans": [
            {"scopeSpans": [{"spans": [{"traceId": "a" * 32, "spanId": "b" * 16, "name": "GET /"}]}]}
        ]
    }
    file = tmp_path / "both.jsonl"
    file.write_text(lines + json.dumps(other) + "\n" + json.dumps({"resourceMetrics": []}) + "\n")
    _, (recording,) = bring(file)
    assert "1 other traces of the file hold no model call" in recording.notes[-1]


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"resourceSpans": {}}, "resourceSpans is no list"),
        ({"resourceSpans": [{"scopeSpans": [1]}]}, r"scopeSpans\[0\] is no object"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId": "b" * 16}]}]}]}, "no id of a trace"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "xyz", "spanId": "b" * 16}]}]}]}, "'xyz' is not an id"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a" * 32, "spanId": "b" * 16, "startTimeUnixNano": "x"}]}]}]}, "invalid literal"),
    ],
)  # fmt: skip
def test_a_damaged_trace_is_refused_with_the_place(store, tmp_path, document, says):
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(document))
    with pytest.raises(NotARecording, match=says) as caught:
        importers.bring(store, file)
    assert "bad.json" in str(caught.value)
    assert not store.root.exists()


def test_ids_in_base64_and_names_in_either_spelling_are_read():
    import base64

    data = {
        "resource_spans": [
            {"scope_spans": [{"spans": [{
                "trace_id": base64.b64encode(b"\1" * 16).decode(), "span_id": base64.b64encode(b"\2" * 8).decode(),
                "name": "x", "start_time_unix_nano": 5, "end_time_unix_nano": "7", "kind": "SPAN_KIND_CLIENT",
                "status": {"code": "STATUS_CODE_ERROR", "message": "no"},
                "attributes": [
                    {"key": "n", "value": {"intValue": "3"}},
                    {"key": "l", "value": {"array_value": {"values": [{"boolValue": True}, {"double_value": 1.5}]}}},
                    {"key": "k", "value": {"kvlistValue": {"values": [{"key": "a", "value": {"stringValue": "b"}}]}}},
                ],
            }]}]}
        ]
    }  # fmt: skip
    (found,) = wire.from_json(data)
    assert (found.trace, found.id, found.began, found.ended, found.kind, found.error) == (
        "01" * 16, "02" * 8, 5, 7, 3, "no"
    )  # fmt: skip
    assert found.attributes == {"n": 3, "l": [True, 1.5], "k": {"a": "b"}}
