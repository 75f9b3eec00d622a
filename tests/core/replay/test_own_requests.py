"""Requests to the program's own server: a replay makes them again, and compares the responses."""

from __future__ import annotations

import json
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

import reenact
from reenact.core import boundary
from reenact.core.model.event import Effect
from reenact.errors import DivergenceError
from tests.adapters.stdlib.test_unseen import free_port

PORT = free_port()


class Server(ThreadingHTTPServer):
    """A server that keeps what it is asked for."""

    protocol = "HTTP/1.0"

    def __init__(self, answer):
        self.seen = []
        self.answer = answer
        super().__init__(("127.0.0.1", PORT), Handler)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.protocol_version = self.server.protocol
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.seen.append(json.loads(body))
        said = json.dumps(self.server.answer(self.server.seen)).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_):
        """Write no log."""


def count(seen):
    """Answer with the number of questions and the time."""
    import time

    return {"count": len(seen), "at": time.time_ns()}


def with_urllib(url, question):
    request = urllib.request.Request(url, json.dumps(question).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def with_httpx(url, question):
    return httpx.post(url, json=question, timeout=60).json()


def with_streams(url, question):
    with httpx.stream("POST", url, json=question, timeout=60) as response:
        return json.loads(b"".join(response.iter_bytes(4)))


def program(ask=with_urllib, answer=count, questions=("a", "b", "c"), several=1):
    with Server(answer) as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        serving.start()
        url = f"http://127.0.0.1:{PORT}/ask"
        try:
            with ThreadPoolExecutor(several) as pool:
                said = list(pool.map(lambda question: ask(url, question), questions))
        finally:
            server.shutdown()
            serving.join()
        return said, server.seen


@pytest.mark.parametrize("ask", [with_urllib, with_httpx, with_streams], ids=lambda ask: ask.__name__)
def test_the_code_of_the_server_runs_in_a_replay(ask, home):
    with reenact.record("own") as recording:
        found = program(ask)
    assert found[1] == ["a", "b", "c"]
    for _ in range(3):
        with reenact.replay(recording.id) as replay:
            assert program(ask) == found
        assert replay.verdict.faithful, str(replay.verdict)
        assert replay.verdict.kinds == {"http": 3}


def test_one_connection_for_several_requests_is_one_again(home, monkeypatch):
    monkeypatch.setattr(Server, "protocol", "HTTP/1.1")
    with reenact.record("own") as recording, httpx.Client() as client:
        found = program(lambda url, question: client.post(url, json=question).json())
    with reenact.replay(recording.id) as replay, httpx.Client() as client:
        assert program(lambda url, question: client.post(url, json=question).json()) == found
    assert replay.verdict.faithful, str(replay.verdict)


def test_a_changed_server_is_found_at_the_request_that_it_answers_otherwise(home):
    with reenact.record("own") as recording:
        program()
    changed = lambda seen: {**count(seen), "count": 99 if len(seen) == 2 else len(seen)}  # noqa: E731
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording.id):
        program(answer=changed)
    found = caught.value.divergence
    assert found.step == 2
    assert [(m.path, m.recorded, m.actual) for m in found.mismatches] == [("body.count", 2, 99)]
    assert "own server" in found.detail


def test_an_allowed_difference_of_a_response_is_none(home):
    with reenact.record("own") as recording:
        program()
    changed = lambda seen: {**count(seen), "at": 0}  # noqa: E731
    with reenact.replay(recording.id, ignore=["args.body.at"]) as replay:
        program(answer=changed)
    assert replay.verdict.faithful, str(replay.verdict)


def test_requests_under_way_at_the_same_time_are_answered_from_the_recording(home):
    meeting = threading.Barrier(2)

    def meets(seen):
        meeting.wait(60)
        return len(seen)

    with reenact.record("own") as recording:
        found, seen = program(answer=meets, questions=("a", "b"), several=2)
    assert sorted(seen) == ["a", "b"]
    with reenact.replay(recording.id) as replay:
        assert program(answer=meets, questions=("a", "b"), several=2) == (found, [])
    assert replay.verdict.kinds == {"http": 2}
    (reason,) = replay.verdict.answered.values()
    assert "another request was under way" in reason


def test_a_server_that_is_gone_is_no_reason_to_ask_the_network(home):
    url = f"http://127.0.0.1:{PORT}/ask"
    with reenact.record("own") as recording, Server(count) as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        serving.start()
        found = with_urllib(url, "a")
        server.shutdown()
        serving.join()
    with reenact.replay(recording.id) as replay:
        assert with_urllib(url, "a") == found
    assert replay.verdict.faithful, str(replay.verdict)


@pytest.mark.parametrize("place", ["elsewhere.test/127.0.0.1:{}/", "elsewhere-localhost:{}/"])
def test_another_host_with_the_servers_name_in_its_address_is_not_asked_again(place, home):
    url, asked = place.format(PORT), []
    request = Effect("http", f"GET {url}", {"method": "GET", "url": f"http://{url}"}, leaf=True)

    def ask():
        with Server(count):
            return boundary.perform(request, lambda: asked.append(url) or {"status": 200})

    with reenact.record("own") as recording:
        found = ask()
    with reenact.replay(recording.id) as replay:
        assert ask() == found
    assert replay.verdict.faithful, str(replay.verdict)
    assert asked == [url]
