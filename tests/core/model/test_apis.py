"""Every model API that is read, from samples in its own wire format: what was asked, said, called, counted, refused."""

from __future__ import annotations

import base64
import json
import struct
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import pytest

from reenact import cli
from reenact.cli import application
from reenact.core import messages as reading
from reenact.core.query.conversation import Conversation
from tests.core.model.test_reading import http_log, log_of


def read(url, request, reply, *, status=200):
    body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
    log = http_log(url, json.dumps(request), body, status=status)
    return reading.read(log, log.calls[1])


def sse(*events):
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def frame(kind, payload):
    """One message of Amazon's event stream; nobody here checks its sums."""
    value = json.dumps(payload).encode()
    headers = b"".join(
        bytes([len(name)]) + name + b"\x07" + struct.pack(">H", len(text)) + text
        for name, text in ((b":event-type", kind), (b":message-type", b"event"))
    )
    return struct.pack(">III", 16 + len(headers) + len(value), len(headers), 0) + headers + value + bytes(4)


# -- OpenAI ----------------------------------------------------------------------------------------------------

RESPONSES = "https://api.openai.com/v1/responses"
LOOKUP = {"type": "function", "name": "look_up", "parameters": {"type": "object"}}


def test_the_responses_api_with_reasoning_and_tools():
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "It is an order."}]},
        {"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": '{"order": 7}'},
    ]
    asked = [
        {"role": "user", "content": [{"type": "input_text", "text": "Where is it?"}]},
        {"type": "reasoning", "id": "rs_0", "summary": []},
        {"type": "function_call", "call_id": "c0", "name": "look_up", "arguments": '{"order": 6}'},
        {"type": "function_call_output", "call_id": "c0", "output": "not found"},
    ]
    usage = {"input_tokens": 90, "output_tokens": 12, "input_tokens_details": {"cached_tokens": 64}}
    request = {"model": "gpt-5", "instructions": "Be short.", "input": asked, "tools": [LOOKUP]}
    call = read(
        RESPONSES, request, {"model": "gpt-5", "status": "completed", "output": items, "usage": usage}
    )
    assert [(m.role, m.text, m.name) for m in call.messages] == [
        ("system", "Be short.", ""),
        ("user", "Where is it?", ""),
        ("assistant", "", ""),
        ("tool", "not found", "look_up"),
    ]
    assert call.answer.thinking == "It is an order."
    assert call.answer.calls == (reading.ToolCall("look_up", {"order": 7}, "c1"),)
    assert (call.usage.input, call.usage.cached, call.tools) == (90, 64, ("look_up",))
    assert reading.cost(call) > 0


def test_a_responses_stream_that_breaks_off_keeps_each_item_as_far_as_it_came():
    events = [
        {"type": "response.created", "response": {"model": "gpt-5", "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "summary": []}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Let me see"},
        {"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "content": []}},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "I will "},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "look."},
        {"type": "response.output_item.added", "output_index": 2,
         "item": {"type": "function_call", "call_id": "c", "name": "look_up", "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"order": 7}'},
    ]  # fmt: skip
    call = read(RESPONSES, {"model": "gpt-5", "input": "hi", "stream": True}, sse(*events))
    assert (call.answer.text, call.answer.thinking) == ("I will look.", "Let me see")
    assert call.answer.calls == (reading.ToolCall("look_up", {"order": 7}, "c"),)
    assert call.streamed


def test_a_stream_that_ends_in_an_error_says_so():
    failed = {"model": "gpt-5", "status": "failed", "error": {"code": "server_error", "message": "try again"}}
    call = read(
        RESPONSES, {"model": "gpt-5", "input": "hi"}, sse({"type": "response.failed", "response": failed})
    )
    assert call.problem == "try again"


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        (
            "https://mine.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
            "azure",
        ),
        ("https://openrouter.ai/api/v1/chat/completions", "openrouter"),
        ("https://api.groq.com/openai/v1/chat/completions", "groq"),
        ("http://127.0.0.1:11434/v1/chat/completions", ""),
    ],
)
def test_whoever_speaks_openais_chat_is_known_by_the_host(url, provider):
    reply = {"model": "m", "choices": [{"message": {"role": "assistant", "content": "yes"}}]}
    call = read(url, {"model": "m", "messages": [{"role": "user", "content": "?"}]}, reply)
    assert (call.provider, call.answer.text) == (provider, "yes")


def test_what_the_api_says_that_it_cost_is_what_it_cost():
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "cost": 0.0123}
    reply = {"model": "a/model-of-its-own", "choices": [{"message": {"content": "yes"}}], "usage": usage}
    call = read("https://openrouter.ai/api/v1/chat/completions", {"prompt": "?"}, reply)
    assert reading.cost(call) == 0.0123


def test_ollamas_generate_whole_and_streamed():
    url = "http://localhost:11434/api/generate"
    request = {"model": "gemma3", "system": "Be short.", "prompt": "Why?"}
    counts = {"prompt_eval_count": 9, "eval_count": 3, "done": True, "done_reason": "stop"}
    whole = read(url, request, {"model": "gemma3", "response": "So it is.", **counts})
    lines = [{"model": "gemma3", "response": word, "done": False} for word in ("So ", "it ", "is.")]
    body = b"\n".join(json.dumps(line).encode() for line in [*lines, {"response": "", **counts}])
    for call in (whole, read(url, request, body)):
        assert [(m.role, m.text) for m in call.messages] == [("system", "Be short."), ("user", "Why?")]
        assert (call.answer.text, call.usage.input, call.usage.output) == ("So it is.", 9, 3)


# -- Anthropic -------------------------------------------------------------------------------------------------


def test_a_streamed_anthropic_answer_with_thinking_a_tool_and_the_cache():
    usage = {
        "input_tokens": 4,
        "cache_read_input_tokens": 1000,
        "cache_creation_input_tokens": 50,
        "output_tokens": 1,
    }
    events = [
        {"type": "message_start", "message": {"model": "claude-sonnet-4-5", "content": [], "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "x"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t", "name": "buy", "input": {}}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"n":'}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": " 2}"}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 30}},
    ]  # fmt: skip
    request = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "Buy two"}]}
    call = read("https://api.anthropic.com/v1/messages", request, sse(*events))
    assert call.answer.thinking == "Hm."
    assert call.answer.calls == (reading.ToolCall("buy", {"n": 2}, "t"),)
    assert call.usage == reading.Usage(input=1054, output=30, cached=1000, written=50)
    assert (call.finish, call.provider) == ("tool_use", "anthropic")
    assert reading.cost(call) > 0


def test_a_message_that_is_posted_elsewhere_is_no_model_call():
    assert read("https://api.openai.com/v1/threads/t/messages", {"role": "user", "content": "hi"}, {}) is None
    assert read("https://chat.test/rooms/1/messages", {"text": "hi"}, {"ok": True}) is None


# -- Gemini ----------------------------------------------------------------------------------------------------

GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash"


def test_gemini_with_parallel_functions_and_thoughts():
    declared = [
        {"functionDeclarations": [{"name": "weather", "parameters": {"type": "OBJECT"}}]},
        {"googleSearch": {}},
    ]
    results = [
        {"functionResponse": {"id": "1", "name": "weather", "response": {"result": "rain"}}},
        {"functionResponse": {"id": "2", "name": "weather", "response": {"result": "sun"}}},
    ]
    request = {
        "systemInstruction": {"parts": [{"text": "Be short."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Bern and Rome?"}]},
            {"role": "user", "parts": results},
        ],
        "tools": declared,
    }
    parts = [
        {"text": "One more.", "thought": True},
        {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}},
    ]
    usage = {
        "promptTokenCount": 20,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 7,
        "cachedContentTokenCount": 8,
    }
    reply = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}], "usageMetadata": usage}
    for call in (
        read(f"{GEMINI}:generateContent", request, reply),
        read(f"{GEMINI}:streamGenerateContent?alt=sse", request, sse(reply)),
    ):
        assert [(m.role, m.text, m.id) for m in call.messages] == [
            ("system", "Be short.", ""), ("user", "Bern and Rome?", ""), ("tool", "rain", "1"), ("tool", "sun", "2"),
        ]  # fmt: skip
        assert call.answer.calls == (reading.ToolCall("weather", {"city": "Oslo"}),)
        assert call.answer.thinking == "One more."
        assert call.usage == reading.Usage(20, 12, 8)
        assert (call.model, call.tools) == ("gemini-2.5-flash", ("weather", "googleSearch"))
        assert reading.cost(call) > 0


def test_a_prompt_that_gemini_blocks_is_a_problem():
    call = read(
        f"{GEMINI}:generateContent",
        {"contents": [{"parts": [{"text": "x"}]}]},
        {"promptFeedback": {"blockReason": "SAFETY"}},
    )
    assert (call.answer, call.problem) == (None, "blocked: SAFETY")


# -- Bedrock, Vertex, Cohere -----------------------------------------------------------------------------------

BEDROCK = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-lite-v1%3A0"
CONVERSE = {
    "system": [{"text": "Be short."}, {"cachePoint": {"type": "default"}}],
    "messages": [
        {"role": "user", "content": [{"text": "Weather?"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t0", "name": "weather", "input": {"city": "Bern"}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t0", "content": [{"json": {"sky": "grey"}}]}}]},
    ],
    "toolConfig": {"tools": [{"toolSpec": {"name": "weather", "inputSchema": {"json": {"type": "object"}}}}]},
}  # fmt: skip
COUNTS = {"inputTokens": 10, "outputTokens": 4, "cacheReadInputTokens": 100, "cacheWriteInputTokens": 0}


def test_bedrocks_converse_whole_and_streamed():
    content = [
        {"text": "Grey, I "},
        {"text": "look on."},
        {"toolUse": {"toolUseId": "t", "name": "weather", "input": {"city": "Rome"}}},
    ]
    whole = {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "tool_use",
        "usage": COUNTS,
    }
    frames = [
        frame(b"messageStart", {"role": "assistant"}),
        frame(b"contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Grey, I \nlook on."}}),
        frame(b"contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t", "name": "weather"}}}),
        frame(b"contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '{"city": "Rome"}'}}}),
        frame(b"messageStop", {"stopReason": "tool_use"}),
        frame(b"metadata", {"usage": COUNTS}),
    ]  # fmt: skip
    for call in (
        read(f"{BEDROCK}/converse", CONVERSE, whole),
        read(f"{BEDROCK}/converse-stream", CONVERSE, b"".join(frames)),
    ):
        assert [(m.role, m.text, m.name) for m in call.messages] == [
            ("system", "Be short.", ""), ("user", "Weather?", ""), ("assistant", "", ""), ("tool", '{"sky":"grey"}', "weather"),
        ]  # fmt: skip
        assert call.answer.text == "Grey, I \nlook on."
        assert call.answer.calls == (reading.ToolCall("weather", {"city": "Rome"}, "t"),)
        assert call.usage == reading.Usage(110, 4, 100)
        assert (call.model, call.tools, call.finish) == ("amazon.nova-lite-v1:0", ("weather",), "tool_use")
        assert reading.cost(call) > 0
    cut = read(f"{BEDROCK}/converse-stream", CONVERSE, b"".join(frames)[:150])
    assert cut.answer is None or cut.answer.text in "Grey, I \nlook on."


def test_what_bedrock_and_vertex_carry_in_anthropics_form():
    request = {"anthropic_version": "bedrock-2023-05-31", "messages": [{"role": "user", "content": "hi"}]}
    reply = {"content": [{"type": "text", "text": "yes"}], "usage": {"input_tokens": 3, "output_tokens": 1}}
    model = "anthropic.claude-3-5-haiku-20241022-v1%3A0"
    events = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "yes"}},
    ]
    wrapped = b"".join(
        frame(b"chunk", {"bytes": base64.b64encode(json.dumps(event).encode()).decode()}) for event in events
    )
    host = "https://bedrock-runtime.eu-west-1.amazonaws.com"
    vertex = "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/publishers/anthropic/models/claude-haiku-4-5"
    for call in (
        read(f"{host}/model/{model}/invoke", request, reply),
        read(f"{host}/model/{model}/invoke-with-response-stream", request, wrapped),
        read(f"{vertex}:rawPredict", request, reply),
        read(f"{vertex}:streamRawPredict", request, sse(*events)),
    ):
        assert (call.answer.text, [m.text for m in call.messages]) == ("yes", ["hi"])
        assert "claude" in call.model


def test_coheres_chat_whole_and_streamed():
    url, request = (
        "https://api.cohere.com/v2/chat",
        {"model": "command-a-03-2025", "messages": [{"role": "user", "content": "hi"}]},
    )
    usage = {
        "billed_units": {"input_tokens": 1, "output_tokens": 2},
        "tokens": {"input_tokens": 60, "output_tokens": 9},
    }
    content = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "yes"}]
    tool = {"id": "c", "type": "function", "function": {"name": "buy", "arguments": "{}"}}
    whole = {
        "message": {"role": "assistant", "content": content, "tool_calls": [tool]},
        "finish_reason": "COMPLETE",
        "usage": usage,
    }
    events = [
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"thinking": "Hm."}}}},
        {"type": "content-delta", "index": 1, "delta": {"message": {"content": {"text": "yes"}}}},
        {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": {**tool, "function": {"name": "buy", "arguments": ""}}}}},
        {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"function": {"arguments": "{}"}}}}},
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": usage}},
    ]  # fmt: skip
    for call in (read(url, request, whole), read(url, request, sse(*events))):
        assert (call.answer.text, call.answer.thinking) == ("yes", "Hm.")
        assert call.answer.calls == (reading.ToolCall("buy", {}, "c"),)
        assert (call.usage.input, call.usage.output) == (60, 9)


# -- embeddings ------------------------------------------------------------------------------------------------

FLOATS = base64.b64encode(struct.pack("<3f", 1, 2, 3)).decode()


@pytest.mark.parametrize(
    ("url", "request_", "reply", "expected"),
    [
        (
            "https://api.openai.com/v1/embeddings",
            {"model": "text-embedding-3-small", "input": ["one", "two"], "encoding_format": "base64"},
            {"model": "text-embedding-3-small", "data": [{"embedding": FLOATS}] * 2, "usage": {"prompt_tokens": 5, "total_tokens": 5}},
            (2, 2, 3, 5),
        ),
        ("http://localhost:11434/api/embed", {"model": "m", "input": "one"}, {"embeddings": [[1, 2]], "prompt_eval_count": 4}, (1, 1, 2, 4)),
        (
            "https://api.cohere.com/v2/embed",
            {"model": "embed-v4.0", "texts": ["one"]},
            {"embeddings": {"float": [[1, 2, 3, 4]]}, "meta": {"billed_units": {"input_tokens": 6}}},
            (1, 1, 4, 6),
        ),
        (
            f"{GEMINI}:batchEmbedContents",
            {"requests": [{"content": {"parts": [{"text": "one"}]}}, {"content": {"parts": [{"text": "two"}]}}]},
            {"embeddings": [{"values": [1, 2]}, {"values": [3, 4]}]},
            (2, 2, 2, None),
        ),
    ],
)  # fmt: skip
def test_embeddings_are_counted(url, request_, reply, expected):
    call = read(url, request_, reply)
    tokens = call.usage.input if call.usage else None
    assert (call.embedded.inputs, call.embedded.vectors, call.embedded.dimension, tokens) == expected
    assert call.messages[0].text == "one"


def test_embeddings_have_a_price_and_are_no_turn_of_a_chat():
    usage = {"prompt_tokens": 1_000_000, "total_tokens": 1_000_000}
    reply = {"data": [{"embedding": [0.5]}], "model": "text-embedding-3-small", "usage": usage}
    embeds = read(
        "https://api.openai.com/v1/embeddings", {"model": "text-embedding-3-small", "input": "hello"}, reply
    )
    assert reading.cost(embeds) == pytest.approx(0.02)
    chat = reading.ModelCall("m", (reading.Message("user", "hello"),), reading.Message("assistant", "hi"))
    turns = Conversation()
    turns.turn(embeds)
    assert turns.turn(chat).new == chat.messages


# -- refusals --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "body", "problem"),
    [
        ("https://api.openai.com/v1/chat/completions", b"<html>Bad gateway</html>", "HTTP 502 OK"),
        ("https://api.openai.com/v1/embeddings", b'{"error": {"message": "no quota"}}', "no quota"),
        ("https://api.anthropic.com/v1/messages", b'{"type": "error", "error": {"message": "Overloaded"}}', "Overloaded"),
        (f"{GEMINI}:streamGenerateContent", b'[{"error": {"code": 503, "message": "busy"}}]', "busy"),
        (f"{BEDROCK}/converse", b'{"message": "Too many requests"}', "Too many requests"),
    ],
)  # fmt: skip
def test_a_refusal_is_a_failed_model_call(url, body, problem):
    request = {
        "model": "m",
        "messages": [{"role": "user", "content": [{"text": "hi"}]}],
        "contents": [],
        "input": "hi",
    }
    call = read(url, request, body, status=502)
    assert (call.answer, call.problem) == (None, problem)


def test_a_call_that_nobody_answered_still_says_what_was_asked():
    request = '{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
    args = {
        "method": "POST",
        "url": "https://api.openai.com/v1/chat/completions",
        "headers": {},
        "body": request,
    }
    called = {"event": "called", "call": 1, "in": None, "at": "main", "kind": "http", "n": 0, "args": args}
    log = log_of({**called, "name": "POST api.openai.com/v1/chat/completions"})
    call = reading.read(log, log.calls[1])
    assert (call.answer, [message.text for message in call.messages]) == (None, ["hi"])


# -- a reader of one's own -------------------------------------------------------------------------------------


def test_the_reader_in_the_documentation_reads(monkeypatch):
    page = Path(__file__).parents[3].joinpath("docs", "sdks.md").read_text()
    example = next(
        block for block in page.split("```python\n") if block.startswith("# gateway_reader.py")
    ).split("```")[0]
    monkeypatch.setattr(reading, "_readers", list(reading._readers))
    module = {}
    exec(example, module)
    asked = {"model": "house-1", "question": "Where is order 7?"}
    url, reply = "https://models.corp.test/ask", {"reply": "In Basel.", "spent": {"in": 12, "out": 4}}
    assert read(url, asked, reply) is None
    module["register"]()
    call = read(url, asked, reply)
    assert (call.model, call.answer.text, call.usage) == ("house-1", "In Basel.", reading.Usage(12, 4))
    assert read("https://models.corp.test/other", asked, reply) is None
    assert read(url, "no object", reply) is None


def test_readers_of_installed_packages_are_added_and_a_broken_one_is_named(monkeypatch, capsys, home):
    called = []

    class Point(NamedTuple):
        name: str
        value: str

        def load(self):
            if self.name == "broken":
                raise ImportError("no module named gone")
            return lambda: called.append(self.name)

    points = [Point("broken", "gone:register"), Point("whole", "there:register")]
    monkeypatch.setattr(metadata, "entry_points", lambda group: points if group == "reenact.readers" else [])
    application._readers.cache_clear()
    assert cli.main(["list", "--json"]) == 0
    assert called == []
    assert reading.readable("model")
    assert cli.main(["list", "--json"]) == 0
    assert reading.readable("model")
    assert called == ["whole"]
    assert "the reader broken (gone:register) is left out: no module named gone" in capsys.readouterr().err
