"""A recording goes out as a trace that others understand, always the same, and comes back as what it was."""

from __future__ import annotations

import json
import re
import tempfile
from datetime import UTC, datetime, timedelta

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

import reenact
from reenact.analysis.interchange.exporters import otel
from reenact.analysis.interchange.importers.otel import runs, wire
from reenact.analysis.interchange.importers.run import Happened, ImportedRun, Stretch
from reenact.analysis.interchange.importers.run_writer import keep
from reenact.core.query.facts import RecordingFacts
from reenact.core.store.local import LocalStore

# The parts of a message that the conventions' schemas name (gen-ai-input-messages.json, gen-ai-output-messages.json),
# with what each of them must have.
PART = {
    "oneOf": [
        {"properties": {"type": {"const": kind}, **kinds}, "required": ["type", *needed]}
        for kind, kinds, needed in (
            ("text", {"content": {"type": "string"}}, ["content"]),
            ("reasoning", {"content": {"type": "string"}}, ["content"]),
            ("tool_call", {"name": {"type": "string"}, "id": {"type": ["string", "null"]}}, ["name"]),
            ("tool_call_response", {"id": {"type": ["string", "null"]}}, ["response"]),
        )
    ]
}
INPUT = {
    "type": "array",
    "items": {
        "properties": {"role": {"enum": ["system", "user", "assistant", "tool"]}, "parts": {"type": "array", "items": PART}},
        "required": ["role", "parts"],
    },
}  # fmt: skip
OUTPUT = {**INPUT, "items": {**INPUT["items"], "required": ["role", "parts", "finish_reason"]}}
TOOLS = {
    "type": "array",
    "items": {"properties": {"type": {"const": "function"}}, "required": ["type", "name"]},
}

# What the conventions say of each span: the attributes that it must have, and its kind (1 internal, 3 client).
REQUIRED = {
    "chat": ({"gen_ai.provider.name", "gen_ai.request.model"}, 3),
    "execute_tool": ({"gen_ai.tool.name"}, 1),
    "invoke_agent": ({"gen_ai.agent.name", "gen_ai.provider.name"}, 1),
    "invoke_workflow": ({"gen_ai.workflow.name"}, 1),
}
TYPES = {
    "gen_ai.usage.input_tokens": int, "gen_ai.usage.output_tokens": int, "gen_ai.usage.cache_read.input_tokens": int,
    "gen_ai.usage.cache_creation.input_tokens": int, "gen_ai.request.temperature": float, "gen_ai.request.max_tokens": int,
    "gen_ai.request.stream": bool, "gen_ai.response.time_to_first_chunk": float, "gen_ai.response.finish_reasons": list,
    "gen_ai.request.frequency_penalty": float, "gen_ai.request.top_p": float, "gen_ai.request.seed": int,
}  # fmt: skip


def valid(spans):
    """Assert that spans are as the GenAI conventions want them."""
    for span in spans:
        operation = span.attributes.get("gen_ai.operation.name")
        if operation in REQUIRED:
            needed, kind = REQUIRED[operation]
            assert needed <= set(span.attributes), span
            assert span.kind == kind
            assert span.name.split(" ")[0] == operation
        for name, value in span.attributes.items():
            assert type(value) is TYPES.get(name, str) or not name.startswith("gen_ai."), (name, value)
        for name, schema in (
            ("gen_ai.input.messages", INPUT),
            ("gen_ai.output.messages", OUTPUT),
            ("gen_ai.tool.definitions", TOOLS),
        ):
            if name in span.attributes:
                jsonschema.validate(json.loads(span.attributes[name]), schema)
        assert ("error.type" in span.attributes) == (span.error is not None)
        assert span.ended >= span.began > 0


def back(recording, store):
    """A recording that went out as protobuf and came in again."""
    spans = wire.from_protobuf(otel.to_protobuf(otel.spans_of(recording)))
    assert spans == wire.from_json(json.loads(json.dumps(otel.to_json(otel.spans_of(recording)))))
    (trace,) = runs.traces(spans).values()
    return store.load(keep(store, runs.run(trace, source={"format": "otel"})))


def told(recording):
    """What a round trip must keep: model calls, tools, tokens, errors, scopes."""
    found = []
    for facts in RecordingFacts(recording).steps:
        call = facts.model_call
        error = facts.error.removeprefix("reenact.analysis.interchange.importers.run.ImportedError: ")
        if call is None:
            found.append((facts.call.label, facts.call.scope, facts.args, facts.output, error))
        else:
            tools = (call.tools, dict(call.schemas)) if call.answer is not None else ()
            found.append(
                (
                    facts.call.scope,
                    call.model,
                    call.messages,
                    call.answer,
                    call.usage,
                    call.finish,
                    tools,
                    error,
                )
            )
    return found


# -- a real run ------------------------------------------------------------------------------------------------


@pytest.fixture
def recording(tmp_path):
    pydantic_ai = pytest.importorskip("pydantic_ai")
    from pydantic_ai.models.test import TestModel

    agent = pydantic_ai.Agent(TestModel(), name="support", instructions="be brief")

    @agent.tool_plain
    def add(x: int) -> int:
        return x

    with reenact.record("order", tags=["conversation:c7"], home=tmp_path / "home") as made:
        made.output = agent.run_sync("hi").output
    return reenact.load(made.id, home=tmp_path / "home")


def test_a_run_is_a_workflow_with_its_agents_their_calls_and_tools(recording):
    spans = otel.spans_of(recording)
    valid(spans)
    root, agent, *steps = spans
    assert [span.name for span in spans] == [
        "invoke_workflow order", "invoke_agent support", "chat test", "execute_tool add", "chat test"
    ]  # fmt: skip
    assert (root.parent, agent.parent) == ("", root.id)
    assert {step.parent for step in steps} == {agent.id}
    assert root.attributes["gen_ai.conversation.id"] == "c7"
    assert steps[1].attributes["gen_ai.tool.call.id"] in steps[0].attributes["gen_ai.output.messages"]
    assert (agent.began, agent.ended) == (steps[0].began, steps[-1].ended)
    began = datetime.fromisoformat(recording.started)
    assert steps[0].began == round((began.timestamp() + recording.step(1).call.began) * 1e6) * 1000


def test_the_same_recording_is_the_same_trace_and_another_is_another(recording, tmp_path):
    ids = [(span.trace, span.id) for span in otel.spans_of(recording)]
    assert ids == [(span.trace, span.id) for span in otel.spans_of(reenact.load(recording.path))]
    assert len(set(ids)) == len(ids)
    with reenact.record("order", home=tmp_path / "home") as other:
        pass
    assert otel.spans_of(reenact.load(other.id, home=tmp_path / "home"))[0].trace != ids[0][0]


def test_a_real_run_comes_back_with_its_agents_and_spans(recording, tmp_path):
    again = back(recording, LocalStore(tmp_path / "other"))
    # A span of a tool call's own id is no agent's.
    assert [step.call.address for step in again] == [
        re.sub("/call:[^/]*", "", step.call.address) for step in recording
    ]
    assert [told(again)[place] for place in (0, 2)] == [told(recording)[place] for place in (0, 2)]
    assert (again.name, again.output) == (recording.name, recording.output)


def test_others_read_the_protobuf(recording):
    request = ExportTraceServiceRequest()
    request.ParseFromString(otel.to_protobuf(otel.spans_of(recording)))
    (sent,) = request.resource_spans
    assert {pair.key: pair.value.string_value for pair in sent.resource.attributes}["service.name"] == "order"
    assert all(len(span.trace_id) == 16 and len(span.span_id) == 8 for span in sent.scope_spans[0].spans)


def test_http_errors_and_calls_that_were_cut_off_are_said(tmp_path):
    store = LocalStore(tmp_path)
    with pytest.raises(ValueError, match="no such"), reenact.record("broken", home=tmp_path):
        reenact.effect("tool", "lookup", city="x").perform(lambda: {"a": 1})
        reenact.effect("http", "GET api.example.com/x", url="https://api.example.com/x").perform(
            lambda: {"status": 503}
        )
        reenact.effect("tool", "refund", order=5).perform(
            lambda: (_ for _ in ()).throw(ValueError("no such order"))
        )
    recording = store.load("last")
    spans = otel.spans_of(recording)
    valid(spans)
    root, looked, web, refund = spans
    assert (root.error, root.attributes["error.type"]) == ("no such order", "ValueError")
    assert looked.attributes["gen_ai.tool.call.result"] == '{"a":1}'
    assert (web.name, web.kind, web.attributes["server.address"], web.attributes["server.port"]) == (
        "GET", 3, "api.example.com", 443
    )  # fmt: skip
    assert web.attributes["http.response.status_code"] == 503
    assert (refund.error, refund.attributes["error.type"]) == ("no such order", "ValueError")
    assert refund.events[0].attributes == {
        "exception.type": "ValueError",
        "exception.message": "no such order",
    }
    assert told(back(recording, store))[-1][-1] == "ValueError: no such order"


# -- any run ---------------------------------------------------------------------------------------------------

words = st.text('ab{}[]"\\1 5né\n', max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | words, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2)
)  # fmt: skip
names = st.sampled_from(["weather", "refund", "a/b", "x.1"])
calls = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from(["c1", "c2", ""]), "type": st.just("function"), "function": st.fixed_dictionaries(
            {"name": names, "arguments": values.map(json.dumps) | words}
        )}
    ), max_size=2,
)  # fmt: skip
assistants = st.fixed_dictionaries(
    {"role": st.just("assistant"), "content": words | st.none()}, optional={"tool_calls": calls, "reasoning_content": words}
)  # fmt: skip
messages = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user"]), "content": words})
    | st.fixed_dictionaries(
        {"role": st.just("tool"), "tool_call_id": st.sampled_from(["c1", "c9"]), "content": words}
    )
    | assistants,
    max_size=4,
)
errors = st.none() | st.sampled_from(["ValueError: no", "quota exceeded", "http.Timeout: after 3 s: twice"])
tools = st.lists(
    names.map(lambda name: {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}),
    max_size=2, unique_by=lambda tool: tool["function"]["name"],
)  # fmt: skip


@st.composite
def asked(draw):
    error = draw(errors)
    value = None
    if error is None:
        finish = draw(st.sampled_from(["stop", "length", "tool_calls", "end_turn"]))
        value = {
            "object": "chat.completion",
            "model": "gpt-x-2026",
            "choices": [{"message": draw(assistants), "finish_reason": finish}],
        }
        if draw(st.booleans()):
            value["usage"] = {
                "prompt_tokens": draw(st.integers(1, 99)),
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": draw(st.integers(0, 1))},
            }
    args = {"model": "gpt-x", "messages": draw(messages), "tools": draw(tools), "temperature": 0.5}
    return "model", "gpt-x", args, value, error  # fmt: skip


@st.composite
def ran(draw):
    error = draw(errors)
    return (
        "tool",
        draw(names),
        draw(st.dictionaries(words, values, max_size=2)),
        draw(values) if error is None else None,
        error,
    )


agents = [Stretch("triage"), Stretch("billing agent")]
agents.append(Stretch("inner", agents[0]))


@st.composite
def run_of(draw):
    began = datetime(2026, 1, 1, tzinfo=UTC)
    effects = []
    for kind, name, args, value, error in draw(st.lists(asked() | ran(), min_size=1, max_size=4)):
        within = draw(st.sampled_from([None, *agents]))
        ended = began + timedelta(milliseconds=draw(st.integers(0, 5)))
        effects.append(Happened(kind, name, args, value, error, began=began, ended=ended, within=within))
        began = ended + timedelta(milliseconds=1)
    return ImportedRun("any run", effects, overlapping=True)


@settings(max_examples=25, deadline=None)
@given(run_of())
def test_what_goes_out_comes_back(run):
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(folder)
        recording = store.load(keep(store, run))
        valid(otel.spans_of(recording))
        again = back(recording, store)
        assert told(again) == told(recording)
        assert (again.name, again.started, again.duration) == (
            recording.name,
            recording.started,
            recording.duration,
        )
