"""A session of OpenAI's realtime API, read: its answers are model calls, with all that went over the connection."""

from __future__ import annotations

import json
from types import SimpleNamespace

import reenact
from reenact.core.boundary import perform
from reenact.core.messages import Message, ToolCall, Usage, cost
from reenact.core.messages import read as reading
from reenact.core.messages.realtime import read
from reenact.core.model.event import Effect

CALL = {"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": '{"order": 7}'}
SPOKEN = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_audio", "transcript": "In Basel."}],
}
TOOL = {"type": "function", "name": "look_up", "parameters": {"type": "object"}}
USAGE = {
    "input_tokens": 100,
    "output_tokens": 40,
    "input_token_details": {
        "cached_tokens": 10,
        "audio_tokens": 60,
        "cached_tokens_details": {"audio_tokens": 4},
    },
    "output_token_details": {"audio_tokens": 30},
}


def done(*output, **more):
    return {"type": "response.done", "response": {"status": "completed", "output": [*output], **more}}


def item(**more):
    return {"type": "conversation.item.create", "item": more}


def call(*messages, name="receive api.openai.com/v1/realtime"):
    *before, value = (json.dumps(message) for message in messages)
    return read(SimpleNamespace(kind="websocket", name=name, value=value, before=before))


def test_an_answer_is_read_with_what_was_said_before_it():
    found = call(
        {"type": "session.created", "session": {"model": "gpt-realtime", "instructions": "Short."}},
        {"type": "session.update", "session": {"tools": [TOOL], "model": None}},
        {"type": "conversation.item.input_audio_transcription.completed", "transcript": "Where is order 7?"},
        done(CALL),
        item(type="function_call_output", call_id="c1", output="Basel"),
        done(SPOKEN, usage=USAGE),
    )
    assert found.model == "gpt-realtime"
    assert found.messages == (
        Message("system", "Short."),
        Message("user", "Where is order 7?"),
        Message("assistant", calls=(ToolCall("look_up", {"order": 7}, "c1"),)),
        Message("tool", "Basel", name="look_up", id="c1"),
    )
    assert found.answer == Message("assistant", "In Basel.")
    assert found.usage == Usage(100, 40, cached=10, heard=60, spoken=30, heard_cached=4)
    assert (found.tools, found.finish, found.provider) == (("look_up",), "completed", "openai")


def test_what_was_said_before_is_found_in_the_recording(home):
    def over(verb, message):
        text = json.dumps(message)
        asked = {"message": text} if verb == "send" else {}
        effect = Effect("websocket", f"{verb} api.openai.com/v1/realtime", asked, leaf=True)
        perform(effect, lambda: text if verb == "receive" else None)

    with reenact.record() as recording:
        over("receive", {"type": "session.created", "session": {"model": "gpt-realtime"}})
        over("send", item(role="user", content=[{"type": "input_text", "text": "One?"}]))
        over("receive", done({"role": "assistant", "content": [{"type": "output_text", "text": "1"}]}))
        over("send", item(role="user", content=[{"type": "input_text", "text": "Two?"}]))
        over("receive", done({"role": "assistant", "content": [{"type": "output_text", "text": "2"}]}))
    *_, first, _, second = recording.load()
    said = [Message("user", "One?"), Message("assistant", "1"), Message("user", "Two?")]
    for step, count, text in ((first, 1, "1"), (second, 3, "2")):
        found = reading(step.log, step.call)
        assert (found.model, found.messages) == ("gpt-realtime", tuple(said[:count]))
        assert found.answer == Message("assistant", text)


def test_audio_costs_what_audio_does():
    session = {"type": "session.created", "session": {"model": "gpt-realtime"}}
    spoken = call(session, done(SPOKEN, usage=USAGE))
    written = call(session, done(SPOKEN, usage={"input_tokens": 100, "output_tokens": 40}))
    assert cost(spoken) > cost(written) > 0


def test_what_the_api_refused_is_said():
    error = {"message": "The server had an error."}
    found = call(done(status="failed", status_details={"type": "failed", "error": error}))
    assert (found.problem, found.answer, found.usage) == ("The server had an error.", None, None)


def test_all_other_messages_are_no_model_calls():
    assert call({"type": "response.output_text.delta", "delta": '"response.done"'}) is None
    assert call({"type": "response.done"}) is None
    assert call(done(SPOKEN), name="send api.openai.com/v1/realtime") is None
    assert read(SimpleNamespace(kind="websocket", name="receive x", value=b"\x00", before=[])) is None
