"""Answers of any make go through a recording unchanged, also to another version of Pydantic AI."""

from __future__ import annotations

import datetime as dt
from dataclasses import fields

import pytest
from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from reenact.adapters.pydantic_ai import model_question, object_wire
from reenact.adapters.pydantic_ai.history import Histories
from reenact.core.model import codec
from reenact.errors import RecordingError

NOW = dt.datetime(2026, 2, 3, 4, 5, 6, 789012, tzinfo=dt.UTC)


def through(value):
    """A value after a recording and a replay."""
    return object_wire.unpack(
        codec.rebuild(codec.loads(codec.dumps(codec.Encoder().encode(object_wire.pack(value)))))
    )


RICH = ModelResponse(
    parts=[
        ThinkingPart("hm", signature="sig", provider_name="anthropic", id="t1"),
        TextPart("a\0b \ud800 \N{SNOWMAN}", provider_details={"at": NOW, "pair": (1, 2)}),
        ToolCallPart("look", {"a": 1.0, "z": 2**70, "$set": [1]}, tool_call_id="x"),
        ToolCallPart("look", '{"a":  1}', tool_call_id="y"),
        NativeToolCallPart("web_search", {"q": "x"}, tool_call_id="z", provider_name="openai"),
        NativeToolReturnPart("web_search", {"hits": [{"n": 1}]}, tool_call_id="z", timestamp=NOW),
        FilePart(BinaryContent(b"\x89PNG\xff", media_type="image/png")),
    ],
    usage=RequestUsage(input_tokens=3, details={"reasoning": 1}, searches=2),
    model_name="m",
    timestamp=NOW,
    provider_name="openai",
    provider_details={"logprobs": [0.1 + 0.2], "created": NOW, "nan": float("inf")},
    provider_response_id="r1",
    finish_reason="stop",
)


def test_a_rich_response_comes_back_equal_with_all_its_types():
    again = through(RICH)
    assert again == RICH
    assert [type(part) for part in again.parts] == [type(part) for part in RICH.parts]
    assert type(again.provider_details["created"]) is dt.datetime
    assert type(again.parts[1].provider_details["pair"]) is tuple
    assert again.usage.searches == 2
    assert [getattr(again, field.name) for field in fields(RICH)] == [
        getattr(RICH, f.name) for f in fields(RICH)
    ]


@pytest.mark.parametrize(
    "event",
    [
        PartStartEvent(index=0, part=TextPart("hi"), previous_part_kind="thinking"),
        PartDeltaEvent(index=1, delta=TextPartDelta("lo", provider_details={"at": NOW})),
        PartEndEvent(index=1, part=ThinkingPart("hm", signature="s"), next_part_kind="tool-call"),
    ],
)
def test_stream_events_come_back_equal(event):
    assert through(event) == event


def test_a_field_that_the_recording_version_did_not_know_gets_its_default():
    tree = object_wire.pack(RICH)
    del tree["usage"], tree["finish_reason"]
    del tree["parts"][0]["signature"]
    again = object_wire.unpack(tree)
    assert again.usage == RequestUsage()
    assert again.finish_reason is None
    assert again.parts[0].signature is None


def test_a_field_that_the_replaying_version_does_not_know_is_left_out():
    tree = object_wire.pack(RICH) | {"mood": "good"}
    assert object_wire.unpack(tree) == RICH


def test_a_class_that_the_replaying_version_does_not_have_is_said():
    with pytest.raises(RecordingError, match="holds a HologramPart"):
        object_wire.unpack(
            {"type": "ModelResponse", "parts": [{"type": "HologramPart"}], "usage": {"type": "RequestUsage"}}
        )


def test_messages_are_told_apart_by_what_reaches_the_model_only():
    def message(**options):
        part = UserPromptPart("hi", timestamp=options.pop("timestamp", NOW))
        return ModelRequest(parts=[part], **options)

    asked = [
        message(timestamp=NOW),
        message(timestamp=NOW + dt.timedelta(1), run_id="a", conversation_id="b", metadata={"trace": 1}),
    ]
    assert codec.packed(Histories().encoded(asked[:1])) == codec.packed(Histories().encoded(asked[1:]))
    assert codec.loads(codec.packed(Histories().encoded(asked[:1]))) == [
        {"kind": "request", "parts": [{"content": "hi", "part_kind": "user-prompt"}]}
    ]


def test_made_up_ids_are_numbered_and_real_ones_kept():
    def history():
        call = ToolCallPart("look", {})
        back = ToolReturnPart("look", "sky", tool_call_id=call.tool_call_id)
        return [ModelResponse(parts=[call]), ModelRequest(parts=[back, ToolReturnPart("look", "again")])]

    one, other = (codec.loads(codec.packed(Histories().encoded(history()))) for _ in range(2))
    assert one == other
    assert one[0]["parts"][0]["tool_call_id"] == one[1]["parts"][0]["tool_call_id"]
    assert one[1]["parts"][1]["tool_call_id"] != one[1]["parts"][0]["tool_call_id"]
    real = Histories().encoded([ModelResponse(parts=[ToolCallPart("look", {}, tool_call_id="call_1")])])
    assert codec.loads(codec.packed(real))[0]["parts"][0]["tool_call_id"] == "call_1"


@pytest.mark.parametrize(
    "content",
    [
        [BinaryContent(b"\x89PNG", media_type="image/png")],
        ["a", BinaryContent(b"\xff" * 50_000, media_type="x/y")],
    ],
)
def test_binary_prompts_are_the_recorders_to_keep(content):
    kept = []
    encoder = codec.Encoder(blob=lambda data: kept.append(data) or "sha256:x")
    tree = encoder.encode(Histories().encoded([ModelRequest(parts=[UserPromptPart(content)])]))
    assert not encoder.unkept
    assert b'"$bytes"' in codec.dumps(tree) or kept


@pytest.mark.parametrize(
    "content", [{3: "int key"}, {"$set": [1]}, "\ud800", {"deep": {"$tuple": []}}, {1, 2}]
)
def test_odd_tool_results_are_told_apart_too(content):
    encoder = codec.Encoder()
    part = ToolReturnPart("look", content, tool_call_id="x")
    tree = encoder.encode(Histories().encoded([ModelRequest(parts=[part])]))
    assert not encoder.unkept
    assert codec.rebuild(codec.loads(codec.dumps(tree)))[0]["parts"][0]["content"] == content


def test_settings_that_cannot_be_kept_leave_no_hole():
    class Timeout:
        """A client's own object."""

    args = model_question._plain(Timeout()), model_question._plain({"a": (1, 2)}), model_question._plain(0.5)
    assert args[0].endswith("Timeout>")
    assert args[1:] == ({"a": (1, 2)}, 0.5)
