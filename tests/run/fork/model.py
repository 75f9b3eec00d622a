"""A model server of OpenAI's make on this machine: it answers with what it is asked to, and counts."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ModelServer:
    """Answers chat completions, streamed or not: the n-th answer of a model says so."""

    def __init__(self):
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.asked.append(body)
                if not self.headers.get("authorization", "").startswith("Bearer sk-"):
                    return self._send(401, "application/json", b'{"error": {"message": "bad key"}}')
                text = f"answer {len(outer.asked)} of {body['model']}"
                if body.get("stream"):
                    return self._send(200, "text/event-stream", _events(body["model"], text))
                return self._send(200, "application/json", json.dumps(_whole(body["model"], text)).encode())

            def _send(self, status, kind, data):
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args): ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def _whole(model, text):
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    frame = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1}
    return {**frame, "model": model, "choices": [choice], "usage": usage}


def _events(model, text):
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}
    deltas = [{"role": "assistant", "content": ""}, *({"content": word + " "} for word in text.split())]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    lines = [f"data: {json.dumps({**frame, 'choices': [choice]})}\n\n" for choice in choices]
    return ("".join(lines) + "data: [DONE]\n\n").encode()
