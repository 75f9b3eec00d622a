"""Real answers of OpenAI and Anthropic, from Pydantic AI's own test cassettes: recorded, and replayed to the letter."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.adapters.pydantic_agents.agent_runs import plain, record, replay

yaml = pytest.importorskip("yaml")

DATA = (
    Path(os.environ.get("REENACT_DATA") or Path(__file__).parents[4] / "shared" / "data")
    / "pydantic-ai-cassettes"
)
MODELS = {
    "https://api.openai.com/v1/chat/completions": OpenAIChatModel,
    "https://api.openai.com/v1/responses": OpenAIResponsesModel,
    "https://api.anthropic.com/v1/messages": AnthropicModel,
}


def exchanges(every):
    """The model requests of every n-th cassette: which model class, whether streamed, status and body."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    # Recorded websockets are another matter.
    paths = [
        path
        for path in sorted((DATA / "models").rglob("*.yaml"))
        if any(key in path.read_text() for key in MODELS)
    ]
    for path in paths[::every]:
        found = []
        for part in yaml.load(path.read_text(), loader)["interactions"]:
            kind = MODELS.get(part["request"]["uri"].partition("?")[0])
            answer, asked = part["response"], part["request"].get("parsed_body") or {}
            if kind is None or part["request"]["method"] != "POST" or asked.get("background"):
                continue
            body = answer.get("body", {}).get("string")
            data = json.dumps(answer["parsed_body"]) if "parsed_body" in answer else body
            if isinstance(data, str):
                found.append((kind, bool(asked.get("stream")), answer["status"]["code"], data.encode()))
        if found:
            yield path.stem, found


class Replies:
    """A provider that gives the next of some replies to whoever asks."""

    def __init__(self):
        replies = self
        self.queue = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                """Stay silent."""

            def do_POST(self):
                self.rfile.read(int(self.headers["content-length"]))
                _, stream, status, data = replies.queue.pop(0)
                self.send_response(status)
                self.send_header("content-type", "text/event-stream" if stream else "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def model(self, kind):
        """A model that asks here, once: a cassette's error must not be tried again."""
        if kind is AnthropicModel:
            model = kind("m", provider=AnthropicProvider(base_url=self.url, api_key="sk-test"))
        else:
            model = kind("m", provider=OpenAIProvider(base_url=self.url + "/v1", api_key="sk-test"))
        model.client.max_retries = 0
        return model


async def ask(replies, found):
    """All exchanges of a cassette, as the framework's direct requests."""
    answers = []
    for count, (kind, stream, _, _) in enumerate(found):
        question = [ModelRequest.user_text_prompt(f"Question {count}")]
        try:
            if stream:
                async with model_request_stream(replies.model(kind), question) as streamed:
                    events = [(plain(event), plain(streamed.get())) async for event in streamed]
                    answers.append((events, streamed.get()))
            else:
                answers.append(await model_request(replies.model(kind), question))
        except Exception as error:
            answers.append((type(error), str(error)))
    return answers


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the cassettes are not here: {DATA} (set REENACT_DATA)")
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.thorough)])
def test_real_answers_come_back_to_the_letter(every):
    replies = Replies()
    tried = streams = 0
    wrong = []
    try:
        for name, found in exchanges(every):
            tried += 1
            streams += any(stream for _, stream, _, _ in found)

            def program(found=found):
                return asyncio.run(ask(replies, found))

            replies.queue = list(found)
            first, recording = record(program)
            # An empty queue answers nobody: what a replay asks of the provider fails.
            replies.queue.clear()
            second, verdict = replay(program, recording)
            if not verdict.faithful or plain(first) != plain(second) or len(recording.steps) != len(found):
                wrong.append((name, str(verdict)))
    finally:
        replies.server.shutdown()
        replies.server.server_close()
    assert not wrong
    print(f"{tried} cassettes, {streams} of them with streams")
    assert tried > 40
