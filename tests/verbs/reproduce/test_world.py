"""The world asked again: only what reads, without secrets, and what has changed is named."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from reenact.analysis.world import Reply, compare
from reenact.verbs.reproduce.world import check_world

PROGRAM = """
    import sys, httpx
    base = open("mood.txt").read()
    key = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    with httpx.Client(base_url=base) as client:
        for path in ("/same", "/same", "/data", "/shape", "/gone", "/busy", "/time"):
            client.get(path)
        client.get("/closed", headers={"Authorization": f"Bearer {key}"})
        client.post("/write", json={"x": 1})
        client.delete("/write")
"""


class World(ThreadingHTTPServer):
    """A server whose answers change once it is `changed`."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.changed = False
        self.asked = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    def answer(self):
        self.server.asked.append((self.command, self.path, dict(self.headers)))
        now = self.server.changed
        status, body = {
            "/same": (200, {"a": 1}),
            "/data": (200, {"rate": 2 if now else 1, "deep": [{"x": "é"}]}),
            "/shape": (200, {"name" if now else "title": "x"}),
            "/gone": (404 if now else 200, {}),
            "/busy": (429 if now else 200, {}),
            "/time": (200, {"at": "2031-01-01T00:00:00Z" if now else "2030-01-01T00:00:00Z"}),
            "/closed": (200 if "Authorization" in self.headers else 401, {}),
        }.get(self.path, (200, {}))
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815 - the names that http.server looks for

    def log_message(self, *args): ...


@pytest.fixture
def world():
    server = World()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_each_reading_question_is_asked_once_and_what_changed_is_named(runs, world):
    (recording,) = runs(PROGRAM, world.url)
    world.changed = True
    world.asked.clear()
    found = {each.label.rpartition("/")[2]: each for each in check_world(recording)}
    assert {name: each.change for name, each in found.items()} == {
        "same": "same",
        "data": "the data changed",
        "shape": "the API changed",
        "gone": "gone",
        "busy": "rate limited",
        "time": "only times changed",
        "closed": "refused without its credentials",
    }
    assert found["same"].steps == (1, 2)
    assert [(m.path, m.recorded, m.actual) for m in found["data"].mismatches] == [("body.rate", 1, 2)]
    assert {m.path for m in found["shape"].mismatches} == {"body.title", "body.name"}
    assert [path for _, path, _ in world.asked] == [
        "/same",
        "/data",
        "/shape",
        "/gone",
        "/busy",
        "/time",
        "/closed",
    ]
    assert {method for method, _, _ in world.asked} == {"GET"}


def test_what_was_replaced_as_a_secret_is_not_sent_and_said_to_be_left_out(runs, world):
    (recording,) = runs(PROGRAM, world.url)
    world.asked.clear()
    (closed,) = [each for each in check_world(recording) if each.label.endswith("/closed")]
    assert closed.left_out == ("authorization",)
    assert not any("secret" in str(headers) for _, _, headers in world.asked)


def test_a_server_that_is_gone_does_not_answer_and_nothing_is_raised(runs, world):
    (recording,) = runs(PROGRAM, world.url)
    world.shutdown()
    world.server_close()
    found = check_world(recording, patience=2)
    assert {each.change for each in found} == {"not answered"}


def test_longer_lists_are_data_and_other_types_are_the_api():
    def change(before, after):
        replies = [Reply(200, "application/json", json.dumps(body)) for body in (before, after)]
        return compare(*replies, credentials=True)[0]

    assert change({"items": [1]}, {"items": [1, 2]}) == "the data changed"
    assert change({"id": 1}, {"id": "1"}) == "the API changed"
    assert change({"id": None}, {"id": "1"}) == "the data changed"
    assert change({"id": 1}, {"id": 1.5}) == "the data changed"
    assert change({"at": 1763740800}, {"at": 1763740900}) == "only times changed"
    assert (
        compare(Reply(200, "text/html", "a"), Reply(200, "application/json", "a"), credentials=True)[0]
        == "the API changed"
    )
    assert compare(Reply(200), Reply(503), credentials=True)[0] == "failing"
    assert compare(Reply(200), Reply(401), credentials=True)[0] == "the API changed"
