"""A server of language models whose answers are written down beforehand, in OpenAI's older API."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Model:
    """Answers one by one, the last one again and again: an action's dict, a function of the page that gives one, or
    data for a form. An id `{"element": [role, name]}` is looked up in the page. `told` has what it was asked.

    `POST /v1/script` scripts it from another process.
    """

    def __init__(self):
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                given = model.script(*asked) if self.path.endswith("/script") else model.answer(asked)
                body = json.dumps(given).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.answers, self.told, self.gate = [], [], threading.Event()
        self.gate.set()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def script(self, *answers):
        """What it answers from now on."""
        self.answers, self.told = list(answers), []

    def answer(self, asked):
        page = (
            json.dumps(asked["messages"][-1]["content"], ensure_ascii=False)
            .replace("\\n", "\n")
            .replace('\\"', '"')
        )
        self.told.append(page)
        self.gate.wait(120)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            answer = answer(page)
        if isinstance(answer, dict) and isinstance(answer.get("id"), dict):
            answer = {**answer, "id": _id(page, *answer["id"]["element"])}
        tools = asked.get("tools")
        if not tools:
            message = {
                "role": "assistant",
                "content": answer if isinstance(answer, str) else json.dumps(answer),
            }
        else:
            given = (
                {"reasoning": f"because {answer['type']}", "action": answer} if "type" in answer else answer
            )
            call = {"name": tools[0]["function"]["name"], "arguments": json.dumps(given)}
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
            }
        return {
            "id": "answer",
            "object": "chat.completion",
            "created": 1,
            "model": asked["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }

    def close(self):
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()


def _id(page, role, name):
    return next(
        found[0]
        for line in page.splitlines()
        if role in line and name in line and (found := re.search(r"\b[A-Z]\d+\b(?=\])", line))
    )
