"""What a chat model is asked and answers: as it is recorded, compared, read back and forked."""

from __future__ import annotations

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool

import reenact
from reenact.adapters.langchain import chat_question, object_wire
from reenact.core.messages import read
from reenact.core.model import codec
from tests.adapters.langchain.chains import chat, record, replay

CALL = {"name": "look", "args": {"city": "Bern"}, "id": "call_1", "type": "tool_call"}
PIECE = {"name": "look", "args": '{"ci', "id": "call_1", "index": 0, "type": "tool_call_chunk"}


@pytest.mark.parametrize(
    "answer",
    [
        AIMessage("Hello", id="run-1", response_metadata={"finish_reason": "stop"}),
        AIMessage(
            "", tool_calls=[CALL], usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
        ),
        AIMessage([{"type": "text", "text": "Hello"}, {"type": "reasoning", "reasoning": "hm"}], name="bob"),
        AIMessage("Hello", unknown="field"),
    ],
)
def test_an_answer_comes_back_equal_in_every_field(answer):
    result = ChatResult(
        generations=[ChatGeneration(message=answer, generation_info={"logprobs": None})], llm_output={"id": 1}
    )
    again = object_wire.unpack(codec.rebuild(codec.Encoder().encode(object_wire.pack(result))))
    assert again == result
    assert again.generations[0].text == result.generations[0].text
    assert again.generations[0].message.__pydantic_fields_set__ == answer.__pydantic_fields_set__


def test_chunks_come_back_so_that_they_add_up_alike():
    chunks = [
        ChatGenerationChunk(message=AIMessageChunk("Hel")),
        ChatGenerationChunk(message=AIMessageChunk("lo", tool_call_chunks=[PIECE]), generation_info={"a": 1}),
        ChatGenerationChunk(message=AIMessageChunk("", chunk_position="last")),
    ]
    again = [object_wire.unpack(object_wire.pack(chunk)) for chunk in chunks]
    assert again == chunks
    assert again[0] + again[1] + again[2] == chunks[0] + chunks[1] + chunks[2]


def test_an_answer_of_another_version_keeps_what_is_known_here():
    tree = {"type": "AIMessage", "content": "Hello", "brand_new": 1}
    assert object_wire.unpack(tree) == AIMessage("Hello")


def test_a_class_that_is_not_known_here_is_named():
    with pytest.raises(reenact.RecordingError, match="BrandNewMessage"):
        object_wire.unpack({"type": "BrandNewMessage"})


def _asked(*messages):
    (items,) = [chat_question._messages(messages)]
    return [codec.loads(item) for item in items.data]


def test_ids_that_every_run_makes_anew_are_not_compared():
    one = [HumanMessage("Hi", id="a"), AIMessage("Yes", id="run-1", response_metadata={"id": "x"})]
    other = [HumanMessage("Hi", id="b"), AIMessage("Yes", id="run-2", response_metadata={"id": "y"})]
    assert _asked(*one) == _asked(*other)
    block = {"type": "image", "url": "https://x", "id": "lc_1"}
    assert _asked(HumanMessage([block])) == _asked(HumanMessage([{**block, "id": "lc_2"}]))


def test_all_else_is_compared():
    asked = _asked(
        SystemMessage("Be short."),
        AIMessage("", tool_calls=[CALL], additional_kwargs={"reasoning_content": "hm", "refusal": None}),
        ToolMessage("no", tool_call_id="call_1", name="look", status="error", artifact=object()),
    )
    assert asked == [
        {"role": "system", "content": "Be short."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"name": "look", "args": {"city": "Bern"}, "id": "call_1"}],
            "additional_kwargs": {"reasoning_content": "hm"},
        },
        {"role": "tool", "content": "no", "name": "look", "tool_call_id": "call_1", "status": "error"},
    ]


def test_settings_and_stop_words_are_part_of_the_question(provider):
    _, recording = record(lambda: chat(provider, "teller", temperature=0.5).invoke("Hi", stop=["end"]))
    asked = recording.step(1).args
    assert asked["settings"]["temperature"] == 0.5
    assert asked["settings"]["stop"] == ["end"]
    assert (asked["class"], asked["api"], asked["stream"]) == ("ChatOpenAI", "openai", False)
    assert "sk-test" not in str(asked)


def test_a_providers_error_is_recorded_and_raised_again(provider):
    def program():
        told = []
        for ask in (
            lambda: chat(provider, "broken").invoke("Hi"),
            lambda: list(chat(provider, "broken").stream("Hi")),
        ):
            try:
                ask()
            except Exception as error:
                told.append((type(error), str(error)))
        return told

    first, recording = record(program)
    provider.stop()
    second, verdict = replay(program, recording)
    assert verdict.faithful, verdict
    assert len(first) == 2
    assert second == first
    assert [step.call.status for step in recording] == ["error", "error"]


def test_a_stream_that_breaks_off_breaks_off_again(provider):
    def program():
        got = []
        try:
            for chunk in chat(provider, "cut").stream("Hi"):
                got.append(chunk.content)
        except Exception as error:
            return got, type(error)
        return got, None

    first, recording = record(program)
    provider.stop()
    second, verdict = replay(program, recording)
    assert verdict.faithful, verdict
    assert second == first
    assert first[1] is not None


@tool
def look(city: str) -> str:
    """Look."""
    return city


@pytest.mark.parametrize("streams", [False, True])
def test_a_fork_says_something_else(provider, streams):
    def program():
        model = chat(provider, "caller").bind_tools([look])
        if not streams:
            return model.invoke("Hi")
        whole, *rest = model.stream("Hi")
        for chunk in rest:
            whole += chunk
        return whole

    first, recording = record(program)
    assert first.tool_calls
    told = []
    child = recording.fork(at=1, edit={"text": "No."}, program=lambda: told.append(program()))
    assert (told[0].content, told[0].tool_calls) == ("No.", [])
    assert told[0].usage_metadata["input_tokens"] == 11
    assert read(child.step(1).log, child.step(1).call).answer.text == "No."


def test_a_fork_asks_another_model(provider):
    _, recording = record(lambda: chat(provider, "caller").bind_tools([look]).invoke("Hi"))
    told = []
    recording.fork(
        at=1,
        model="teller",
        program=lambda: told.append(chat(provider, "caller").bind_tools([look]).invoke("Hi")),
    )
    assert told[0].content.startswith("answer ")
    assert told[0].response_metadata["model_name"] == "teller"


def test_a_fork_without_a_model_stops_there(provider):
    def program():
        return list(chat(provider, "teller").stream("Hi"))

    _, recording = record(program)
    provider.stop()
    with pytest.raises(reenact.ForkStopped, match="no model is at hand"), reenact.fork(recording, at=1):
        program()
