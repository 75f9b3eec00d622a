"""Model calls are read from what real providers sent and what the adapters record."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from reenact.core import messages as reading
from reenact.core.messages import anthropic, google, openai, pydantic_ai
from reenact.core.model import codec
from reenact.core.model.event import Event
from reenact.core.model.log import Log

EXCHANGES = json.loads((Path(__file__).parent / "exchanges.json").read_text())


def log_of(*events, blob=lambda _: b""):
    lines = [{"event": "opened", "t": 0}, *({"t": 0, **event} for event in events)]
    return Log([Event(line["event"], line, number) for number, line in enumerate(lines, 1)], blob)


def called(kind, name, args, number=1):
    return {
        "event": "called",
        "call": number,
        "in": None,
        "at": "main",
        "kind": kind,
        "name": name,
        "n": 0,
        "args": args,
    }


def http_log(url, request, body, *, status=200, cut=(0,)):
    """An exchange whose answer arrives in pieces that are cut at the given bytes."""
    where = url.partition("//")[2].partition("?")[0].partition("#")[0]
    places = [*cut, len(body)]
    pieces = [body[start:end] for start, end in pairwise(places)]
    chunks = [{"event": "chunk", "call": 1, "value": codec.Encoder().encode(piece)} for piece in pieces]
    head = {"status": status, "reason": "OK", "version": "HTTP/1.1", "headers": []}
    return log_of(
        called("http", f"POST {where}", {"method": "POST", "url": url, "headers": {}, "body": request}),
        {"event": "returned", "call": 1, "value": head, "stream": True},
        *chunks,
        {"event": "ended", "call": 1},
    )


@pytest.mark.parametrize(
    "exchange", EXCHANGES, ids=[f"{row['url'].split('/')[-1][:30]}-{n}" for n, row in enumerate(EXCHANGES)]
)
def test_a_real_exchange_reads_the_same_however_its_body_was_cut(exchange):
    expected = exchange["read"]
    body = exchange["body"].encode()
    for cut in ((0,), (0, len(body) // 3, len(body) // 2), tuple(range(0, len(body), 7))):
        log = http_log(exchange["url"], exchange["request"], body, cut=cut)
        call = reading.read(log, log.calls[1])
        assert call.model == expected["model"]
        assert [message.role for message in call.messages] == expected["roles"]
        assert call.answer.text == expected["answer"]
        assert [[asked.name, asked.args] for asked in call.answer.calls] == expected["calls"]
        assert bool(call.answer.thinking) == expected["thinking"]
        assert ([call.usage.input, call.usage.output] if call.usage else None) == expected["tokens"]


@pytest.mark.parametrize("exchange", EXCHANGES[:12])
def test_a_stream_or_body_that_breaks_off_anywhere_is_read_as_far_as_it_goes(exchange):
    body = exchange["body"].encode()
    for end in range(0, len(body), max(len(body) // 40, 1)):
        log = http_log(exchange["url"], exchange["request"], body[:end])
        call = reading.read(log, log.calls[1])
        assert [message.role for message in call.messages] == exchange["read"]["roles"]


def test_what_the_api_refuses_is_told_in_its_own_words():
    log = http_log(
        "https://api.openai.com/v1/chat/completions",
        '{"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}',
        b'{"error": {"message": "You exceeded your current quota", "code": 429}}',
        status=429,
    )
    call = reading.read(log, log.calls[1])
    assert (call.answer, call.problem, call.model) == (None, "You exceeded your current quota", "gpt-4o")


@pytest.mark.parametrize(
    "body", ["", "[1, 2]", "no json", '{"messages": 3}', '{"messages": [3, null]}', "null"]
)
def test_an_odd_request_to_a_known_path_is_never_an_error(body):
    log = http_log("https://x.test/v1/chat/completions", body, b'{"choices": [{}]}')
    reading.read(log, log.calls[1])


def test_other_requests_are_no_model_calls():
    log = http_log("https://shop.test/orders", "{}", b"{}")
    assert reading.read(log, log.calls[1]) is None


def test_prices_are_known_for_known_models_and_none_for_others():
    pytest.importorskip("genai_prices")
    known = reading.ModelCall("gpt-4o", usage=reading.Usage(1000, 100), provider="openai")
    assert reading.cost(known) == pytest.approx(0.0035)
    assert reading.cost(reading.ModelCall("my-own-model", usage=reading.Usage(1000, 100))) is None
    assert reading.cost(reading.ModelCall("gpt-4o")) is None


def test_a_plain_function_marked_as_a_model_is_read_by_what_it_passes():
    log = log_of(called("model", "ask", {"prompt": "2+2?"}), {"event": "returned", "call": 1, "value": "4"})
    call = reading.read(log, log.calls[1])
    assert (call.model, call.messages[0].text, call.answer.text) == ("ask", "2+2?", "4")


PYDANTIC = {
    "provider": "openai",
    "stream": True,
    "messages": [
        {
            "kind": "request",
            "instructions": "short",
            "parts": [{"content": "hello", "part_kind": "user-prompt"}],
        }
    ],
    "tools": [{"name": "add"}],
}
EVENTS = [
    {"event": {"type": "PartStartEvent", "index": 0, "part": {"type": "TextPart", "content": "Hel"}}},
    {
        "event": {
            "type": "PartDeltaEvent",
            "index": 0,
            "delta": {"type": "TextPartDelta", "content_delta": "lo"},
        }
    },
]


@pytest.mark.parametrize("whole", [True, False])
def test_pydantic_ai_streams_are_read_to_their_end_or_to_where_the_program_stopped(whole):
    response = {
        "type": "ModelResponse",
        "parts": [{"type": "TextPart", "content": "Hello"}],
        "usage": {"input_tokens": 3},
    }
    chunks = [*EVENTS, {"response": response}] if whole else EVENTS
    log = log_of(
        called("model", "gpt-4o", PYDANTIC),
        {
            "event": "returned",
            "call": 1,
            "value": {"model_name": "gpt-4o", "usage": {"input_tokens": 3}},
            "stream": True,
        },
        *({"event": "chunk", "call": 1, "value": chunk} for chunk in chunks),
    )
    call = reading.read(log, log.calls[1])
    assert call.answer.text == "Hello"
    assert call.usage.input == 3
    assert [(message.role, message.text) for message in call.messages] == [
        ("system", "short"),
        ("user", "hello"),
    ]
    assert (call.tools, call.provider) == (("add",), "openai")


def test_a_reader_of_ones_own_is_asked_first(monkeypatch):
    monkeypatch.setattr(reading, "_readers", list(reading._readers))
    monkeypatch.setattr(reading, "_KINDS", set(reading._KINDS))
    reading.add_reader(lambda asked: reading.ModelCall("mine") if asked.name == "llama" else None, "local")
    log = log_of(called("local", "llama", {}))
    assert reading.read(log, log.calls[1]).model == "mine"


# -- why an answer ended, and what its tools wanted ----------------------------------------------------------

SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}}}


def test_every_api_says_in_its_own_word_that_an_answer_was_cut_off():
    said = {"role": "assistant", "content": "and so"}
    found = [
        openai.read_chat({}, {"choices": [{"message": said, "finish_reason": "length"}]}, []),
        openai.read_chat({}, None, [{"choices": [{"delta": said, "finish_reason": None}]}, CUT]),
        openai.read_chat({}, {"message": said, "done_reason": "length"}, []),
        openai.read_responses(
            {}, {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, []
        ),
        anthropic.read({}, {"content": [{"type": "text", "text": "and"}], "stop_reason": "max_tokens"}, []),
        anthropic.read({}, None, [{"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}]),
        google.read("gemini", {}, [{"candidates": [{"content": {}, "finishReason": "MAX_TOKENS"}]}]),
        pydantic_ai.read("gpt", {"messages": []}, {"parts": [], "finish_reason": "length"}),
        pydantic_ai.read(
            "gpt", {"messages": []}, {"parts": [], "provider_details": {"finish_reason": "length"}}
        ),
    ]
    assert [call.cut for call in found] == [True] * len(found)


CUT = {"choices": [{"delta": {}, "finish_reason": "length"}]}


def test_an_answer_that_ended_by_itself_is_not_cut():
    reply = {"choices": [{"message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}]}
    call = openai.read_chat({}, reply, [])
    assert (call.finish, call.cut) == ("stop", False)
    assert not openai.read_responses({}, {"status": "completed", "incomplete_details": None}, []).cut


def test_the_schemas_of_tools_are_read_whatever_each_api_calls_them():
    tools = {
        "openai": openai.read_chat(
            {"tools": [{"function": {"name": "look", "parameters": SCHEMA}}]}, None, []
        ),
        "responses": openai.read_responses({"tools": [{"name": "look", "parameters": SCHEMA}]}, None, []),
        "anthropic": anthropic.read({"tools": [{"name": "look", "input_schema": SCHEMA}]}, None, []),
        "google": google.read(
            "gemini", {"tools": [{"functionDeclarations": [{"name": "look", "parameters": SCHEMA}]}]}, []
        ),
        "pydantic-ai": pydantic_ai.read(
            "gpt", {"messages": [], "tools": [{"name": "look", "schema": SCHEMA}]}, {}
        ),
    }
    assert [name for name, call in tools.items() if call.schemas != {"look": SCHEMA}] == []


def test_tools_that_are_none_have_no_schemas():
    odd = [None, "search", {"type": "web_search"}, {"name": "x", "parameters": "text"}]
    assert openai.read_responses({"tools": odd}, None, []).schemas == {}


def test_a_request_of_browser_uses_is_read_with_its_actions_as_calls():
    schema = {
        "$defs": {"ClickActionModel": {"properties": {"click": {}}}, "Click": {"properties": {"index": {}}}}
    }
    picture = {"type": "image", "data": b"\x89PNG"}
    args = {
        "provider": "openai",
        "settings": {},
        "output": {"name": "AgentOutput", "schema": schema},
        "messages": [{"role": "user", "content": [{"type": "text", "text": "the page"}, picture]}],
    }
    completion = {
        "thinking": "hm",
        "memory": "seen",
        "action": [{"click": {"index": 7}}, {"done": {"text": "ok"}}],
    }
    answer = {"completion": completion, "stop_reason": "stop"}
    answer["usage"] = {"prompt_tokens": 9, "prompt_cached_tokens": 4, "completion_tokens": 2}
    log = log_of(
        called("model", "gpt-5-mini", codec.Encoder().encode(args)),
        {"event": "returned", "call": 1, "value": answer},
    )
    call = reading.read(log, log.calls[1])
    assert call.messages[0].text == "the page\n[image]"
    assert (call.answer.text, call.answer.thinking) == ("Memory: seen", "hm")
    assert [(asked.name, asked.args) for asked in call.answer.calls] == [
        ("click", {"index": 7}),
        ("done", {"text": "ok"}),
    ]
    assert (call.usage.input, call.usage.cached, call.usage.output) == (9, 4, 2)
    assert (call.tools, call.provider, call.finish) == (("click",), "openai", "stop")
