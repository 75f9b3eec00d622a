"""A model provider on loopback: OpenAI's chat completions and responses, and Anthropic's messages, streamed and whole.

Every answer carries a random nonce, and every request is counted: a replay that reads anything but its recording
shows. What is answered depends on the model's name: `caller` calls tools first, `teller` answers at once, `flaky`
fails every other time, `broken` always, `limited` with a 429, `slow` keeps one waiting, `cut` breaks its streams off.
`call:NAME,NAME` calls these tools once.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_hex


class Provider:
    """Runs in a thread from its making until `stop`."""

    def __init__(self, handler=None):
        provider = self

        class Handler(handler or _Handler):
            owner = provider

        self.hits = 0
        self.paths = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def stop(self):
        """Answer nobody any more."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Provider

    def log_message(self, *args):
        """Stay silent."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.owner.hits += 1
        self.owner.paths.append(self.path)
        if self.path == "/traces":
            return self._whole({})
        model = asked["model"]
        if model == "broken" or (model == "flaky" and self.owner.hits % 2):
            return self._whole(
                {"error": {"message": f"out of order {token_hex(4)}", "type": "server_error"}}, 500
            )
        if model == "limited":
            problem = {
                "message": f"too fast {token_hex(4)}",
                "type": "rate_limit",
                "code": "rate_limit_exceeded",
            }
            return self._whole({"error": problem}, 429)
        if model == "slow":
            time.sleep(1)
        calling = model in {"caller", "thinker"} or model.startswith("call:")
        calls = _calls(asked) if calling and not _answered(asked) else []
        text = "" if calls else _said(asked)
        shape = _Anthropic if "messages" in self.path else _Responses if "responses" in self.path else _OpenAI
        if not asked.get("stream"):
            return self._whole(shape.whole(model, text, calls))
        return self._events(shape.events(model, text, calls), cut=model == "cut")

    def _whole(self, body, status=200):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _events(self, events, *, cut):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for count, (name, event) in enumerate(events):
                line = (f"event: {name}\n" if name else "") + f"data: {event}\n\n"
                self.wfile.write(f"{len(line):x}\r\n{line}\r\n".encode())
                self.wfile.flush()
                if cut and count == 3:
                    self.close_connection = True
                    return
            self.wfile.write(b"0\r\n\r\n")
        except ConnectionError:
            # The client has read enough.
            self.close_connection = True


def _answered(asked):
    if "input" in asked:
        return isinstance(asked["input"], list) and asked["input"][-1].get("type") == "function_call_output"
    last = asked["messages"][-1]
    if last["role"] == "tool":
        return True
    return isinstance(last["content"], list) and any(
        part.get("type") == "tool_result" for part in last["content"]
    )


def _calls(asked):
    """Two calls of each tool, with equal arguments; or one of each that the model's name asks for."""
    found = []
    wanted = asked["model"].partition(":")[2].split(",")
    for tool in asked.get("tools") or ():
        known = tool.get("function") or tool
        if wanted[0] and known["name"] not in wanted:
            continue
        schema = known.get("parameters") or known.get("input_schema")
        arguments = {name: _sample(part) for name, part in (schema.get("properties") or {}).items()}
        found += [(f"call_{token_hex(6)}", known["name"], arguments)] * 1
        if not known["name"].startswith("final") and not wanted[0]:
            found.append((f"call_{token_hex(6)}", known["name"], arguments))
    return found


def _sample(schema):
    return {"integer": 7, "number": 0.5, "boolean": True, "array": [], "object": {}}.get(
        schema.get("type"), "Bern"
    )


def _said(asked):
    """A text; of the form that is asked for, where it has to be JSON."""
    form = (asked.get("text") or {}).get("format") or (asked.get("response_format") or {}).get("json_schema")
    if form and form.get("schema"):
        parts = form["schema"]["properties"].items()
        return json.dumps(
            {name: token_hex(6) if part.get("type") == "string" else _sample(part) for name, part in parts}
        )
    return f"answer {token_hex(6)} to {_last(asked)}"


def _last(asked):
    if "input" in asked:
        given = asked["input"]
        return (
            given
            if isinstance(given, str)
            else json.dumps(given[-1].get("output", given[-1].get("content")))[:200]
        )
    last = asked["messages"][-1]["content"]
    return last if isinstance(last, str) else json.dumps(last)[:200]


class _OpenAI:
    @staticmethod
    def whole(model, text, calls):
        tools = [
            {"id": key, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for key, name, arguments in calls
        ]
        message = {"role": "assistant", "content": text or None} | ({"tool_calls": tools} if tools else {})
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if tools else "stop"}
        return _OpenAI._base("chat.completion", model) | {"choices": [choice], "usage": _OpenAI.usage()}

    @staticmethod
    def usage():
        return {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}

    @staticmethod
    def _base(kind, model):
        return {"id": f"chatcmpl-{token_hex(8)}", "object": kind, "created": 1_790_000_000, "model": model}

    @staticmethod
    def events(model, text, calls):
        base = _OpenAI._base("chat.completion.chunk", model)

        def chunk(delta, reason=None):
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            return None, json.dumps(base | {"choices": [choice]})

        yield chunk({"role": "assistant", "content": ""})
        for word in text.split():
            yield chunk({"content": word + " "})
        for index, (key, name, arguments) in enumerate(calls):
            yield chunk({"tool_calls": [_delta(index, key, name, "")]})
            data = json.dumps(arguments)
            for piece in (data[: len(data) // 2], data[len(data) // 2 :]):
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        yield chunk({}, "tool_calls" if calls else "stop")
        yield None, json.dumps(base | {"choices": [], "usage": _OpenAI.usage()})
        yield None, "[DONE]"


def _delta(index, key, name, arguments):
    return {"index": index, "id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


class _Responses:
    """OpenAI's responses API."""

    @staticmethod
    def whole(model, text, calls):
        return {
            "id": f"resp_{token_hex(8)}",
            "object": "response",
            "created_at": 1_790_000_000,
            "status": "completed",
            "model": model,
            "output": _Responses._items(text, calls),
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": 17,
                "input_tokens_details": {"cached_tokens": 3},
                "output_tokens": 8,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 25,
            },
        }

    @staticmethod
    def _items(text, calls):
        found = [
            {
                "type": "function_call",
                "id": f"fc_{token_hex(6)}",
                "call_id": key,
                "name": name,
                "arguments": json.dumps(arguments),
                "status": "completed",
            }
            for key, name, arguments in calls
        ]
        if text:
            part = {"type": "output_text", "text": text, "annotations": []}
            message = {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
            found.append({"id": f"msg_{token_hex(6)}"} | message)
        return found

    @staticmethod
    def events(model, text, calls):
        whole = _Responses.whole(model, text, calls)
        begun = whole | {"status": "in_progress", "output": [], "usage": None}
        made = [("response.created", {"response": begun}), ("response.in_progress", {"response": begun})]
        for index, item in enumerate(whole["output"]):
            made += _Responses._item(index, item)
        made.append(("response.completed", {"response": whole}))
        for number, (kind, more) in enumerate(made):
            yield kind, json.dumps({"type": kind, "sequence_number": number} | more)

    @staticmethod
    def _item(index, item):
        empty = item | ({"arguments": ""} if item["type"] == "function_call" else {"content": []})
        yield "response.output_item.added", {"output_index": index, "item": empty | {"status": "in_progress"}}
        place = {"item_id": item["id"], "output_index": index}
        if item["type"] == "function_call":
            data = item["arguments"]
            for piece in (data[: len(data) // 2], data[len(data) // 2 :]):
                yield "response.function_call_arguments.delta", place | {"delta": piece}
            done = place | {"arguments": data, "name": item["name"]}
            yield "response.function_call_arguments.done", done
        else:
            part, place = item["content"][0], place | {"content_index": 0}
            yield "response.content_part.added", place | {"part": part | {"text": ""}}
            for word in part["text"].split(" "):
                yield "response.output_text.delta", place | {"delta": word + " ", "logprobs": []}
            yield "response.output_text.done", place | {"text": part["text"], "logprobs": []}
            yield "response.content_part.done", place | {"part": part}
        yield "response.output_item.done", {"output_index": index, "item": item}


class _Anthropic:
    @staticmethod
    def _blocks(model, text, calls):
        blocks = []
        if model == "thinker":
            blocks.append({"type": "thinking", "thinking": f"hm {token_hex(3)}", "signature": token_hex(12)})
        if text:
            blocks.append({"type": "text", "text": text})
        blocks += [
            {"type": "tool_use", "id": key, "name": name, "input": given} for key, name, given in calls
        ]
        return blocks

    @staticmethod
    def whole(model, text, calls):
        return {
            "id": f"msg_{token_hex(8)}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": _Anthropic._blocks(model, text, calls),
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 13, "output_tokens": 6},
        }

    @staticmethod
    def events(model, text, calls):
        whole = _Anthropic.whole(model, text, calls)
        yield _Anthropic._event("message_start", message=whole | {"content": [], "stop_reason": None})
        for index, block in enumerate(whole["content"]):
            yield from _Anthropic._block(index, block)
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield _Anthropic._event("message_delta", delta=delta, usage={"output_tokens": 21})
        yield _Anthropic._event("message_stop")

    @staticmethod
    def _block(index, block):
        empty = {
            "text": {"text": ""},
            "thinking": {"thinking": "", "signature": ""},
            "tool_use": {"input": {}},
        }
        yield _Anthropic._event(
            "content_block_start", index=index, content_block=block | empty[block["type"]]
        )
        deltas = []
        if block["type"] == "text":
            deltas = [{"type": "text_delta", "text": word + " "} for word in block["text"].split()]
        elif block["type"] == "thinking":
            deltas = [{"type": "thinking_delta", "thinking": block["thinking"]}]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        else:
            data = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in (data[:3], data[3:])]
        for delta in deltas:
            yield _Anthropic._event("content_block_delta", index=index, delta=delta)
        yield _Anthropic._event("content_block_stop", index=index)

    @staticmethod
    def _event(kind, **more):
        return kind, json.dumps({"type": kind} | more)
