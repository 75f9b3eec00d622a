"""A scripted model provider for quickstarts and pictures: it asks for the status of an order, and then tells it."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_hex

CALL = ("order_status", json.dumps({"order": "ORD-5521"}))


def answer(status="shipped"):
    # Random, so that a replay which asked again would differ.
    return f"Your order ORD-5521 has been {status}. ({token_hex(4)})"


def chat(asked):
    told = [message["content"] for message in asked["messages"] if message["role"] == "tool"]
    call = {
        "id": f"call_{token_hex(4)}",
        "type": "function",
        "function": dict(zip(("name", "arguments"), CALL, strict=True)),
    }
    message = (
        {"role": "assistant", "content": answer(told[-1])}
        if told
        else {"role": "assistant", "content": None, "tool_calls": [call]}
    )
    choice = {"index": 0, "finish_reason": "stop" if told else "tool_calls", "message": message}
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    return {
        "id": f"chatcmpl-{token_hex(4)}", "object": "chat.completion", "created": int(time.time()),
        "model": asked["model"], "choices": [choice], "usage": usage,
    }  # fmt: skip


def responses(asked):
    items = [item for item in asked["input"] if isinstance(item, dict)]
    told = [item["output"] for item in items if item.get("type") == "function_call_output"]
    text = {"type": "output_text", "text": answer(*told[-1:]), "annotations": []}
    call = {"call_id": f"call_{token_hex(4)}", "name": CALL[0], "arguments": CALL[1]}
    item = (
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
        if told
        else {"type": "function_call", "id": "fc_1", "status": "completed", **call}
    )
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": f"resp_{token_hex(4)}", "object": "response", "created_at": int(time.time()), "model": asked["model"],
        "status": "completed", "output": [item], "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "usage": {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13, **details},
    }  # fmt: skip


def messages(asked):
    return {
        "id": f"msg_{token_hex(4)}", "type": "message", "role": "assistant", "model": asked["model"],
        "content": [{"type": "text", "text": answer()}], "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 4},
    }  # fmt: skip


FORMS = {"/chat/completions": chat, "/responses": responses, "/messages": messages}


class QuickstartProvider:
    """Runs in a thread until `stop`; `asked` counts the requests."""

    def __init__(self):
        provider = self
        self.asked = 0

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                provider.asked += 1
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                form = next(form for end, form in FORMS.items() if self.path.partition("?")[0].endswith(end))
                data = json.dumps(form(asked)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_): ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @property
    def environ(self):
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "sk-test",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        }

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
