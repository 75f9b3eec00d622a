"""What an agent of browser-use meets in these tests: a small shop to browse, and a model that knows what to do there."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import PackageNotFoundError, version

try:
    OLDER = version("browser-use").startswith("0.12.")
except PackageNotFoundError:
    OLDER = False

STYLE = "<style>body{font:16px sans-serif;margin:40px} td{padding:6px 20px;border:1px solid #999}</style>"
PAGES = {
    "/": """<h1>Spare parts</h1><p>Search our stock.</p>
        <form action="/found"><input name="q" placeholder="part"><button id="go">Search</button></form>
        <input type="hidden" name="key" value="sk-proj-Zq8vT2mKx41LrWc9Yb7N">""",
    "/found": """<h1>Found</h1><table><tr><td>Valve V7</td><td>12.50 EUR</td><td><a href="/part">details</a></td></tr>
        <tr><td>Valve V9</td><td>19.90 EUR</td><td>sold out</td></tr></table>""",
    "/part": "<h1>Valve V7</h1><p>Price 12.50 EUR, in stock: 4</p><p>Delivery in two days.</p>",
}


def element(prompt, pattern):
    """The number under which the page's text names an element."""
    found = re.findall(rf"\[(\d+)\]<[^>]*{pattern}", prompt)
    assert found, f"no {pattern} in the page that the model was shown"
    return int(found[-1])


def search(prompt):
    """Type a word, and press the button."""
    return [
        {"input": {"index": element(prompt, "placeholder=part"), "text": "valve"}},
        {"click": {"index": element(prompt, "id=go")}},
    ]


def back(prompt):
    """Back to the tab with what was found."""
    return [{"switch": {"tab_id": re.findall(r"Tab (\w{4}): \S*/found", prompt)[-1]}}]


STEPS = [
    search,
    [{"navigate": {"url": "http://127.0.0.1:9/", "new_tab": True}}],
    back,
    [{"extract": {"query": "the parts and their prices"}}],
    [{"write_file": {"file_name": "price.md", "content": "V7: 12.50 EUR"}}],
    [{"done": {"text": "The valve V7 costs 12.50 EUR.", "success": True}}],
]
"""What the model answers, one after the other: actions, or what makes them of the page that it is shown."""


class World:
    """A shop and a model, each on a port of its own; both count what they are asked."""

    def __init__(self, steps=None):
        self.steps = STEPS if steps is None else steps
        self.asked = 0
        self.visits = []
        self._done = 0
        self._servers = [_serving(self._shop), _serving(self._model)]
        self.shop, self.model = (f"http://127.0.0.1:{server.server_port}" for server in self._servers)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """From now on nobody answers."""
        for server in self._servers:
            server.shutdown()
            server.server_close()
        self._servers = []

    def resume(self, done):
        """The model goes on behind so many steps of its script."""
        self._done = done

    def _shop(self, handler, _):
        path = handler.path.partition("?")[0]
        self.visits.append(path)
        page = PAGES.get(path)
        text = f"<!doctype html><title>Shop{path}</title>{STYLE}{page}" if page else "nothing here"
        return (200 if page else 404), "text/html", text

    def _model(self, handler, body):
        self.asked += 1
        request = json.loads(body)
        schema = request.get("response_format", {}).get("json_schema", {}).get("schema")
        if schema is None:
            said = "Valve V7 12.50 EUR, Valve V9 19.90 EUR (sold out)"
        elif "verdict" in schema["properties"]:
            verdict = {"reasoning": "it found the price", "verdict": True, "failure_reason": "",
                       "impossible_task": False, "reached_captcha": False}  # fmt: skip
            said = json.dumps(verdict)
        else:
            said = json.dumps(self._step(_text(request["messages"])))
        usage = {"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940}
        message = {"role": "assistant", "content": said}
        answer = {"id": f"c{self.asked}", "object": "chat.completion", "created": 1, "model": request["model"],
                  "usage": usage, "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}  # fmt: skip
        return 200, "application/json", json.dumps(answer)

    def _step(self, prompt):
        step = self.steps[self._done]
        self._done += 1
        return {
            "thinking": f"step {self._done}",
            "evaluation_previous_goal": "Success" if self._done > 1 else "Unknown",
            "memory": f"{self._done - 1} done",
            "next_goal": "go on",
            "action": step(prompt) if callable(step) else step,
        }


def _text(messages):
    parts = messages[-1]["content"]
    if isinstance(parts, str):
        return parts
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


def _serving(answer):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            status, kind, text = answer(self, body)
            data = text.encode()
            self.send_response(status)
            self.send_header("content-type", f"{kind}; charset=utf-8")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server
