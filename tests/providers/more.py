"""OpenAI's responses and embeddings, and Gemini's generateContent, as a handler of HTTP requests."""

from __future__ import annotations

import base64
import json
import struct
from secrets import token_hex

from tests.adapters.pydantic_agents.fake_provider import _Handler, _sample


class Handler(_Handler):
    """What `fake_provider` answers, and more. The model `broken` always fails."""

    def do_GET(self):  # noqa: N802 - as http.server names it
        self.owner.hits += 1
        self.owner.paths.append(self.path)
        # litellm asks for its price list.
        price = {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06, "litellm_provider": "openai"}
        self._whole({f"made-up-{number}": price for number in range(50)} if "prices" in self.path else {})

    def do_POST(self):  # noqa: N802 - as http.server names it
        path = self.path.partition("?")[0]
        answer = next((answer for end, answer in _ANSWERS.items() if end in path), None)
        if answer is None:
            return super().do_POST()
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.owner.hits += 1
        self.owner.paths.append(self.path)
        return answer(self, asked)

    def _responses(self, asked):
        if asked["model"] == "broken":
            return self._whole({"error": {"message": f"out of order {token_hex(4)}", "code": "x"}}, 500)
        items = _items(asked)
        whole = {
            "id": f"resp_{token_hex(8)}", "object": "response", "created_at": 1_790_000_000, "status": "completed",
            "model": asked["model"], "output": items, "parallel_tool_calls": True, "tool_choice": "auto",
            "tools": asked.get("tools") or [], "error": None, "incomplete_details": None, "instructions": None,
            "metadata": {}, "temperature": 1.0, "top_p": 1.0,
            "usage": {"input_tokens": 31, "input_tokens_details": {"cached_tokens": 16}, "output_tokens": 9,
                      "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 40},
        }  # fmt: skip
        if not asked.get("stream"):
            return self._whole(whole)
        events = [
            {**event, "sequence_number": number} for number, event in enumerate(_response_events(whole))
        ]
        return self._events([(event["type"], json.dumps(event)) for event in events], cut=False)

    def _embeddings(self, asked):
        given = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        data = []
        for index, _ in enumerate(given):
            numbers = [int(token_hex(2), 16) / 65536 for _ in range(8)]
            vector = (
                base64.b64encode(struct.pack("<8f", *numbers)).decode()
                if asked.get("encoding_format") == "base64"
                else numbers
            )
            data.append({"object": "embedding", "index": index, "embedding": vector})
        usage = {"prompt_tokens": 7, "total_tokens": 7}
        self._whole({"object": "list", "data": data, "model": asked["model"], "usage": usage})

    def _gemini(self, asked):
        model = self.path.rpartition("/")[2].partition(":")[0]
        if model == "broken":
            return self._whole(
                {"error": {"code": 503, "message": f"busy {token_hex(4)}", "status": "UNAVAILABLE"}}, 503
            )
        parts = _gemini_parts(asked)
        usage = {
            "promptTokenCount": 23,
            "candidatesTokenCount": 6,
            "thoughtsTokenCount": 5,
            "totalTokenCount": 34,
        }

        def reply(some, last):
            candidate = {"content": {"role": "model", "parts": some}, "index": 0}
            if last:
                candidate["finishReason"] = "STOP"
            found = {"candidates": [candidate], "modelVersion": model, "responseId": token_hex(8)}
            return found | ({"usageMetadata": usage} if last else {})

        if "stream" not in self.path:
            return self._whole(reply(parts, last=True))
        pieces = [reply([part], last=number == len(parts)) for number, part in enumerate(parts, 1)]
        return self._events([(None, json.dumps(piece)) for piece in pieces], cut=False)


_ANSWERS = {
    "/responses": Handler._responses,
    "/embeddings": Handler._embeddings,
    "enerateContent": Handler._gemini,
}


def _text(item):
    given = item.get("content") or item.get("output") or item.get("parts") or ""
    return given if isinstance(given, str) else json.dumps(given)


def _items(asked):
    given = asked["input"] if isinstance(asked["input"], list) else [{"content": asked["input"]}]
    answered = any(item.get("type") == "function_call_output" for item in given)
    thought = {
        "type": "reasoning",
        "id": f"rs_{token_hex(6)}",
        "summary": [{"type": "summary_text", "text": f"hm {token_hex(3)}"}],
    }
    tools = [tool for tool in asked.get("tools") or () if tool["type"] == "function"]
    if tools and not answered:
        calls = [
            {"type": "function_call", "id": f"fc_{token_hex(6)}", "call_id": f"call_{token_hex(6)}", "status": "completed",
             "name": tool["name"], "arguments": json.dumps(_arguments(tool.get("parameters") or {}))}
            for tool in tools
        ]  # fmt: skip
        return [thought, *calls]
    text = {
        "type": "output_text",
        "text": f"answer {token_hex(6)} to {_text(given[-1])[:80]}",
        "annotations": [],
    }
    message = {
        "type": "message",
        "id": f"msg_{token_hex(6)}",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    return [thought, message]


def _response_events(whole):
    begun = {**whole, "output": [], "status": "in_progress", "usage": None}
    yield {"type": "response.created", "response": begun}
    for place, item in enumerate(whole["output"]):
        at = {"output_index": place, "item_id": item["id"]}
        empty = {"message": {"content": []}, "function_call": {"arguments": ""}, "reasoning": {"summary": []}}
        yield {
            "type": "response.output_item.added",
            "output_index": place,
            "item": item | empty[item["type"]],
        }
        if item["type"] == "function_call":
            data = item["arguments"]
            for piece in (data[: len(data) // 2], data[len(data) // 2 :]):
                yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
            yield {
                "type": "response.function_call_arguments.done",
                **at,
                "name": item["name"],
                "arguments": data,
            }
        elif item["type"] == "message":
            part = item["content"][0]
            yield {
                "type": "response.content_part.added",
                **at,
                "content_index": 0,
                "part": part | {"text": ""},
            }
            for word in part["text"].split():
                yield {
                    "type": "response.output_text.delta",
                    **at,
                    "content_index": 0,
                    "delta": word + " ",
                    "logprobs": [],
                }
            yield {
                "type": "response.output_text.done",
                **at,
                "content_index": 0,
                "text": part["text"],
                "logprobs": [],
            }
            yield {"type": "response.content_part.done", **at, "content_index": 0, "part": part}
        yield {"type": "response.output_item.done", "output_index": place, "item": item}
    yield {"type": "response.completed", "response": whole}


def _gemini_parts(asked):
    last = asked["contents"][-1]
    answered = any("functionResponse" in part for part in last["parts"])
    declared = [
        one for tool in asked.get("tools") or () for one in tool.get("functionDeclarations") or tool.get("function_declarations") or ()
    ]  # fmt: skip
    thought = {"text": f"hm {token_hex(3)}", "thought": True}
    if declared and not answered:
        calls = [
            {"functionCall": {"name": one["name"], "args": _arguments(one.get("parameters") or one.get("parametersJsonSchema") or one.get("parameters_json_schema") or {})}}
            for one in declared
        ]  # fmt: skip
        return [thought, *calls]
    words = f"answer {token_hex(6)} to {_text(last)[:80]}".split()
    return [thought, *({"text": word + " "} for word in words)]


def _arguments(schema):
    known = schema.get("properties") or {}
    return {
        name: _sample({**part, "type": str(part.get("type", "string")).lower()})
        for name, part in known.items()
    }
