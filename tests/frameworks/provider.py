"""A scripted provider on loopback, in the true wire formats, and the services that its tools ask.

It speaks OpenAI's chat completions and responses, Anthropic's messages and Gemini's generateContent, each streamed and
whole. What it says is one small story, whatever the format (`turn`): a traveller asks; the model wants the weather of
two cities at once, then an exchange rate, which fails the first time; it asks again, and answers. Whatever is answered
here holds something random, so that a replay which reads anything but its recording shows.
"""

from __future__ import annotations

import json
import re
import threading
from http.server import ThreadingHTTPServer
from random import randint
from secrets import token_hex
from time import sleep
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

from tests.adapters.pydantic_agents.fake_provider import _Anthropic, _Handler, _OpenAI

QUESTION_TWO = "one word"
"""What is in the question that is answered at once, without tools."""


class Provider:
    """Runs in a thread from its making until `stop`.

    Attributes:
        said: The texts that the model has answered, in their order.
        asked: The path of each request.
        met: Whether the two cities' weather was asked for at the same time.
        shapes: Which format a path speaks, by a piece of it; where there are none, the usual ones.
    """

    shapes: ClassVar[dict[str, type]] = {}

    def __init__(self, *, patience=3.0):
        provider = self

        class Handler(_Requests):
            owner = provider

        self.said, self.asked, self.met = [], [], False
        self.patience, self._failed, self._tokyo = patience, False, threading.Event()
        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.key = f"sk-test-{token_hex(16)}"

    @property
    def environ(self):
        """Where a program finds its provider, as each SDK reads it."""
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": self.key,
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": self.key,
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GEMINI_API_KEY": self.key,
            "TRAVEL_URL": self.url,
            # Of programs that are no Python.
            "REENACT_PROXY": "TRAVEL_URL",
            # It would fetch its price list at its import.
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            # It would report each run to its maker.
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        }

    def stop(self):
        """Answer nobody any more."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def service(self, path, query):
        """What the weather and the exchange say: a status, and a body."""
        if path == "/weather":
            return 200, {"city": query["city"], "degrees": self._degrees(query["city"])}
        if self._failed:
            return 200, {"currency": query["currency"], "per_euro": randint(150_00, 170_00) / 100}
        self._failed = True
        return 503, {"error": f"busy {token_hex(4)}"}

    def _degrees(self, city):
        # Paris is answered after Tokyo, which is asked for after it: only who asks for both at once gets both soon.
        if city == "Paris":
            self.met = self._tokyo.wait(self.patience)
            sleep(0.03)
        elif city == "Tokyo":
            self._tokyo.set()
        return randint(-9, 39)


class _Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Stay silent: a program that ends lets its connections fall."""


class _Requests(_Handler):
    def do_GET(self):  # noqa: N802 - the library's name
        parts = urlsplit(self.path)
        self.owner.asked.append(self.path)
        status, body = self.owner.service(
            parts.path, {name: given[0] for name, given in parse_qs(parts.query).items()}
        )
        self._whole(body, status)

    def do_POST(self):  # noqa: N802 - the library's name
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.owner.asked.append(self.path)
        shape = next(shape for ending, shape in (self.owner.shapes or SHAPES).items() if ending in self.path)
        text, calls = turn(*shape.heard(asked))
        if text:
            self.owner.said.append(text)
        calls = [(f"call_{token_hex(6)}", name, arguments) for name, arguments in calls]
        model = asked.get("model", "gemini")
        if asked.get("stream") or "streamGenerateContent" in self.path:
            self._events(_paced(shape.events(model, text, calls)), cut=False)
        else:
            self._whole(shape.whole(model, text, calls))


def _paced(events):
    """The same, a little apart, so that they arrive apart."""
    for event in events:
        yield event
        sleep(0.008)


# ------------------------------------------------------------------------------------------------------- the story


def turn(question, results):
    """What the model says next, and which tools it calls: (text, [(name, arguments)]).

    Args:
        question: The user's last message.
        results: What the tools have given since: (name, text).
    """
    if QUESTION_TWO in question:
        return f"Warmer, {token_hex(4)}.", []
    rates = [text for name, text in results if name == "rate"]
    if not results:
        return "", [("weather", {"city": "Paris"}), ("weather", {"city": "Tokyo"})]
    if not rates or ("per_euro" not in rates[-1] and len(rates) < 3):
        return "", [("rate", {"currency": "JPY"})]
    found = "; ".join(
        f"{city} {degrees} degrees" for name, text in results for city, degrees in _weather(text)
    )
    rate = re.search(r"per_euro\W+([\d.]+)", rates[-1])
    return f"Trip {token_hex(4)}: {found}; one euro is {rate[1] if rate else 'some'} yen.", []


def _weather(text):
    return re.findall(r"city\W+(\w+)\W+degrees\W+?(-?\d+)", text)


def _text(content):
    """The text of a message's content, which is text or parts with text."""
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content or () if isinstance(part, dict))


class _Heard:
    """Follows a conversation: the user's last question, and what the tools have said since."""

    def __init__(self):
        self.question, self.results, self._names = "", [], {}

    def user(self, text):
        if text.strip():
            self.question, self.results = text, []

    def called(self, key, name):
        self._names[key] = name

    def result(self, key, text):
        self.results.append((self._names.get(key, key), text))

    def both(self):
        return self.question, self.results


# ----------------------------------------------------------------------------------------------------- the formats


class _Chat(_OpenAI):
    """POST /v1/chat/completions."""

    @staticmethod
    def heard(asked):
        heard = _Heard()
        for message in asked["messages"]:
            for call in message.get("tool_calls") or ():
                heard.called(call["id"], call["function"]["name"])
            if message["role"] == "user":
                heard.user(_text(message["content"]))
            elif message["role"] == "tool":
                heard.result(message["tool_call_id"], _text(message["content"]))
        return heard.both()


class _Messages(_Anthropic):
    """POST /v1/messages."""

    @staticmethod
    def heard(asked):
        heard = _Heard()
        for message in asked["messages"]:
            content = message["content"]
            for part in content if isinstance(content, list) else ():
                if part["type"] == "tool_use":
                    heard.called(part["id"], part["name"])
                elif part["type"] == "tool_result":
                    heard.result(part["tool_use_id"], _text(part.get("content")))
            if message["role"] == "user":
                heard.user(_text(content))
        return heard.both()


class _Responses:
    """POST /v1/responses."""

    @staticmethod
    def heard(asked):
        heard, given = _Heard(), asked["input"]
        for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
            if item.get("type") == "function_call":
                heard.called(item["call_id"], item["name"])
            elif item.get("type") == "function_call_output":
                heard.result(item["call_id"], _text(item["output"]))
            elif item.get("role") == "user":
                heard.user(_text(item["content"]))
        return heard.both()

    @staticmethod
    def whole(model, text, calls):
        output = [_Responses._message(text)] if text else []
        output += [_Responses._call(*call) for call in calls]
        return _Responses._base(model) | {
            "status": "completed",
            "output": output,
            "usage": {
                "input_tokens": 11,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 5,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 16,
            },
        }

    @staticmethod
    def _base(model):
        return {
            "id": f"resp_{token_hex(8)}",
            "object": "response",
            "created_at": 1_790_000_000,
            "model": model,
            "status": "in_progress",
            "output": [],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }

    @staticmethod
    def _message(text):
        content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
        return {
            "id": f"msg_{token_hex(8)}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }

    @staticmethod
    def _call(key, name, arguments):
        return {
            "id": f"fc_{token_hex(8)}",
            "type": "function_call",
            "status": "completed",
            "call_id": key,
            "name": name,
            "arguments": json.dumps(arguments),
        }

    @staticmethod
    def events(model, text, calls):
        whole = _Responses.whole(model, text, calls)
        begun = whole | {"status": "in_progress", "output": [], "usage": None}
        steps = [("response.created", {"response": begun}), ("response.in_progress", {"response": begun})]
        for index, item in enumerate(whole["output"]):
            steps += _Responses._item(index, item)
        steps.append(("response.completed", {"response": whole}))
        for number, (kind, more) in enumerate(steps):
            yield kind, json.dumps({"type": kind, "sequence_number": number} | more)

    @staticmethod
    def _item(index, item):
        at = {"output_index": index, "item_id": item["id"]}
        done = ("response.output_item.done", {"output_index": index, "item": item})
        if item["type"] == "function_call":
            empty, data = item | {"arguments": "", "status": "in_progress"}, item["arguments"]
            yield "response.output_item.added", {"output_index": index, "item": empty}
            for piece in (data[:5], data[5:]):
                yield "response.function_call_arguments.delta", at | {"delta": piece}
            yield (
                "response.function_call_arguments.done",
                at | {"arguments": data, "name": item["name"]},
            )
            yield done
            return
        at |= {"content_index": 0}
        part = item["content"][0]
        empty = item | {"content": [], "status": "in_progress"}
        yield "response.output_item.added", {"output_index": index, "item": empty}
        yield "response.content_part.added", at | {"part": part | {"text": ""}}
        for piece in _words(part["text"]):
            yield "response.output_text.delta", at | {"delta": piece, "logprobs": []}
        yield "response.output_text.done", at | {"text": part["text"], "logprobs": []}
        yield "response.content_part.done", at | {"part": part}
        yield done


class _Gemini:
    """POST /v1beta/models/MODEL:generateContent and :streamGenerateContent."""

    @staticmethod
    def heard(asked):
        heard = _Heard()
        for content in asked["contents"]:
            for part in content["parts"]:
                if "functionResponse" in part:
                    answer = part["functionResponse"]
                    heard.result(answer["name"], json.dumps(answer["response"]))
            if content["role"] == "user":
                heard.user(_text(content["parts"]))
        return heard.both()

    @staticmethod
    def whole(_model, text, calls):
        parts = [{"text": text}] if text else []
        parts += [{"functionCall": {"id": key, "name": name, "args": given}} for key, name, given in calls]
        return _Gemini._chunk(f"resp_{token_hex(8)}", parts, "STOP")

    @staticmethod
    def _chunk(key, parts, reason=None):
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
        usage = {"promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 16}
        return {
            "candidates": [candidate | ({"finishReason": reason} if reason else {})],
            "usageMetadata": usage,
            "modelVersion": "gemini-test",
            "responseId": key,
        }

    @staticmethod
    def events(model, text, calls):
        parts = _Gemini.whole(model, text, calls)["candidates"][0]["content"]["parts"]
        if text:
            parts = [{"text": piece} for piece in _words(text)]
        key = f"resp_{token_hex(8)}"
        for part in parts:
            yield None, json.dumps(_Gemini._chunk(key, [part]))
        yield None, json.dumps(_Gemini._chunk(key, [{"text": ""}], "STOP"))


def _words(text):
    return [word + " " for word in text.split()]


SHAPES = {
    "/chat/completions": _Chat,
    "/responses": _Responses,
    "/messages": _Messages,
    "enerateContent": _Gemini,
}
"""Which format a path speaks, by a piece of it."""
