"""Recordings of a hostile size: other processes read them, and each request is answered in time."""

from __future__ import annotations

import os
import time
from concurrent.futures import Future

import pytest
from fastapi.testclient import TestClient

from reenact.core.store import bundle, local
from reenact.errors import SearchEnded, TooLarge
from reenact.server import cache, permission, readers
from reenact.server.app import application
from reenact.server.readers import Closing, ReaderCall, ReaderProcess
from reenact.server.routes import debug, recording_files
from reenact.server.settings import Settings
from tests.hostile.forge import forge_folder
from tests.hostile.walking import operations

STEPS = 400

HEAD = {
    "event": "opened", "format": 2, "rules": 1, "name": "large", "tags": ["a"], "entry": "block", "ordinal": 0,
    "started": "2026-11-22T17:44:21.222+00:00", "process": "main", "pid": 1,
    "program": {"argv": ["x"], "cwd": "/", "python": "3.11.7", "platform": "Linux"},
}  # fmt: skip


def called(number, at="main", within=None, **args):
    return {
        "event": "called", "call": number, "in": within, "at": at, "kind": "tool", "name": "look", "n": number,
        "args": args, "t": number * 0.01,
    }  # fmt: skip


def returned(number, value):
    return {"event": "returned", "call": number, "value": value, "t": number * 0.01}


def many(count):
    for number in range(1, count + 1):
        yield called(number, city=f"Ulm {number}")
        yield returned(number, {"rain": number, "text": "lorem ipsum dolor " * 300})


def nested(count):
    return (called(number, within=number - 1 or None, text="x" * 6000) for number in range(1, count + 1))


def long(size):
    yield called(1)
    yield returned(1, {"text": "ab 1,1 c\n" * (size // 9)})


def folder(home, id, lines, **header):
    last = {"event": "sealed", "status": "ok", "t": 1000.0}
    return forge_folder(home / "recordings" / id, [{**HEAD, "id": id, **header}, *lines, last])


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("large")
    folder(home, "many", many(STEPS))
    folder(home, "nested", nested(STEPS))
    folder(home, "long", long(8_000_000))
    folder(home, "small", many(10))
    return home


@pytest.fixture(scope="module")
def app(home):
    app = application(Settings(home, ("localhost",), keyless=True))
    yield app
    app.state.projects.close()
    app.state.jobs.close()
    app.state.keys.close()


@pytest.fixture
def client(app, monkeypatch):
    """A client of a server that cannot read a recording itself, and waits for those that can."""

    def refuse(folder):
        raise AssertionError(f"the server itself reads {folder}")

    monkeypatch.setattr(cache, "Following", refuse)
    monkeypatch.setattr(readers, "_PATIENCE", 120.0)
    return TestClient(app, base_url="http://localhost")


def reading(app, id):
    """The routes that read one recording, with values for what they ask."""
    for one in operations(app):
        about = "/recordings/{id}" in one.path or one.path.endswith("/diff")
        if one.method == "GET" and not one.streams and about and "/sessions/" not in one.path:
            last = one.path.rpartition("/")[2]
            yield one.at(id) + {"search": "?q=text:dolor", "diff": f"?a={id}&b={id}"}.get(last, "")


@pytest.mark.sampled(every=10)
@pytest.mark.timeout(300)
@pytest.mark.parametrize("id", ["many", "long", pytest.param("nested", marks=pytest.mark.thorough)])
def test_each_route_answers_about_a_large_recording_which_the_server_does_not_read(app, client, id):
    for path in reading(app, id):
        answer = client.get(path)
        assert answer.status_code in {200, 307, 404, 413}, (path, answer.text[:300])


def test_its_steps_are_all_there_and_its_line_has_no_other_fields(app, client):
    page = client.get("/api/v1/recordings/many/steps?limit=2&offset=398")
    assert page.json()["total"] == STEPS
    assert [row["step"] for row in page.json()["items"]] == [399, 400]
    assert client.get("/api/v1/recordings/many/steps/401").status_code == 404
    assert client.get("/api/v1/recordings/many/steps?limit=x").status_code == 422
    assert "total" in client.get("/api/v1/recordings?a=many&b=many").json()
    whole = client.get("/api/v1/recordings/many").json()
    assert (whole["id"], whole["steps"], whole["live"]) == ("many", STEPS, False)


def test_a_request_that_takes_longer_is_answered_with_503_and_then_with_its_result(app, client, monkeypatch):
    monkeypatch.setattr(readers, "_PATIENCE", 0.0)
    submit, read, answered = readers.Readers.submit, [], Future()

    def held(self, id, job):
        read.append(submit(self, id, job))
        return answered

    monkeypatch.setattr(readers.Readers, "submit", held)
    path = "/api/v1/recordings/many/search?q=tool:look"
    first = client.get(path)
    assert (first.status_code, first.headers["Retry-After"]) == (503, "1")
    assert "still being read" in first.json()["detail"]
    answered.set_result(read[0].result(120))
    assert len(client.get(path).json()["steps"]) == STEPS


@pytest.fixture
def blind(monkeypatch):
    """The server's own process reads no recording; the processes that read for it do."""

    def refuse(*_, **__):
        raise AssertionError("the server itself reads")

    for place in (bundle, permission, local):
        monkeypatch.setattr(place, "load", refuse)
    monkeypatch.setattr(readers, "_PATIENCE", 120.0)


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """The bytes of an exported recording."""
    home = tmp_path_factory.mktemp("packed")
    folder(home, "packed", many(STEPS))
    return bundle.export(local.LocalStore(home), "packed", home / "packed.reenact").read_bytes()


@pytest.mark.thorough
def test_a_large_import_is_unpacked_and_read_in_another_process(packed, app, home, blind):
    client = TestClient(app, base_url="http://localhost")
    answer = client.post("/api/v1/recordings/import", content=packed)
    assert (answer.status_code, answer.json()["origin"]["where"]) == (201, "foreign"), answer.text
    assert (home / "recordings" / "packed").is_dir()
    said = client.post("/api/v1/recordings/import", content=packed)
    assert (said.status_code, "already in the store" in said.json()["detail"]) == (409, True)
    damaged = packed[:2000] + bytes([packed[2000] ^ 1]) + packed[2001:]
    said = client.post("/api/v1/recordings/import", content=damaged)
    assert (said.status_code, str(home) in said.text) == (422, False), said.text
    assert not list(home.glob("incoming-*"))


def test_an_import_whose_process_is_ended_leaves_nothing(app, home, blind, monkeypatch):
    def half(_, args):
        recording_files._beside(args[1]).mkdir()
        return ReaderCall(os.abort, ())

    monkeypatch.setattr(recording_files, "_PACKED", 0)
    monkeypatch.setattr(recording_files, "ReaderCall", half)
    client = TestClient(app, base_url="http://localhost")
    answer = client.post("/api/v1/recordings/import", content=b"PK")
    assert (answer.status_code, "has ended" in answer.json()["detail"]) == (503, True)
    assert not list(home.glob("incoming-*"))


@pytest.mark.thorough
def test_a_job_about_a_large_recording_is_judged_in_another_process_and_a_debugger_refuses_it(
    home, blind, monkeypatch
):
    monkeypatch.setattr(debug, "LARGEST", 1 << 20)
    with TestClient(
        application(Settings(home, ("localhost",), keyless=True, running=True)), base_url="http://localhost"
    ) as client:
        order = {"kind": "reproduce", "recording": "many", "options": {}}
        answer = client.post("/api/v1/jobs", json=order)
        assert (answer.status_code, "it is foreign" in answer.json()["detail"]) == (409, True), answer.text
        answer = client.post("/api/v1/debug/many", json={})
        assert answer.status_code == 413
        assert "`reenact debug many` in a terminal has no such limit" in answer.json()["detail"]


def test_a_fork_is_as_large_as_the_recordings_that_it_shares_lines_with(home):
    fork = folder(home, "fork", [], parent={"id": "many", "step": 5, "how": "fork"})
    assert readers.state_of(fork)
    assert readers.state_of(home / "recordings" / "many")
    assert not readers.state_of(home / "recordings" / "small")
    assert not readers.state_of(home / "recordings" / "none")


@pytest.mark.parametrize(("steps", "starts"), [(STEPS, True), (10, False)])
def test_the_list_starts_the_process_that_would_read_a_large_recording(tmp_path, monkeypatch, steps, starts):
    monkeypatch.setattr(readers, "_PATIENCE", 120.0)
    folder(tmp_path, "listed", many(steps))
    app = application(Settings(tmp_path, ("localhost",), keyless=True))
    with TestClient(app, base_url="http://localhost") as client:
        while not client.get("/api/v1/recordings").json()["items"]:
            time.sleep(0.02)  # the index is still being made
        # What an answer leaves to be done is done before the client has it.
        assert app.state.readers.prepared("listed") is starts
        assert client.get("/api/v1/recordings/listed/steps").json()["total"] == steps


SPIN = ReaderCall(sum, (range(10**15),))
SWELL = ReaderCall(bytearray, (1 << 40,))


@pytest.mark.thorough
@pytest.mark.timeout(300)
def test_a_process_that_takes_too_much_time_or_memory_or_dies_is_ended_and_the_next_job_is_done():
    reader = ReaderProcess(longest=5, memory=600 << 20)
    try:
        wrong, right = ReaderCall(int, ("x",)), ReaderCall(len, ("abc",))
        jobs = [reader.submit(job) for job in (SPIN, SWELL, ReaderCall(os.abort, ()), wrong, right)]
        with pytest.raises(TooLarge, match="more than 5 seconds of processor time"):
            jobs[0].result()
        with pytest.raises(TooLarge, match="more than 600 MB of memory"):
            jobs[1].result()
        with pytest.raises(SearchEnded, match=r"has ended \(status -6\)"):
            jobs[2].result()
        with pytest.raises(ValueError, match="invalid literal"):
            jobs[3].result()
        assert jobs[4].result() == 3
    finally:
        reader.close()
    with pytest.raises(Closing):
        reader.submit(right)


def test_a_server_that_ends_answers_those_who_wait():
    reader = ReaderProcess()
    waiting = [reader.submit(SPIN), reader.submit(ReaderCall(len, ("abc",)))]
    reader.close()
    for one in waiting:
        with pytest.raises(Closing, match="the server ends"):
            one.result(30)


def test_a_recording_with_many_pictures_is_packed_in_another_process(app, home, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the server itself packs")

    monkeypatch.setattr(bundle, "export", refuse)
    monkeypatch.setattr(readers, "_PATIENCE", 120.0)
    filmed = folder(home, "filmed", many(3))
    (filmed / "blobs").mkdir(exist_ok=True)
    (filmed / "blobs" / "picture").write_bytes(os.urandom(3_000_000))
    client = TestClient(app, base_url="http://localhost")
    assert client.get("/api/v1/recordings/filmed/export").status_code == 200
