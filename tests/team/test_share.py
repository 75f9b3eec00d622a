"""Servers that stand before one team's store: what is sent to one is there in all, and outlives them."""

from __future__ import annotations

import shutil
import time
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

import reenact
from reenact.core.store.base import Piece
from reenact.core.store.local import LocalStore
from reenact.server.app import application
from reenact.server.keys import Keys
from reenact.server.settings import Settings
from reenact.team.limits import ProjectLimits, limit
from reenact.team.ship import upload_format
from reenact.team.store import TeamStore

LARGE = bytes(range(256)) * 300


@reenact.tool
def look(order):
    return {"order": order, "picture": LARGE}


@pytest.fixture
def recorded(tmp_path):
    with reenact.record("one", home=tmp_path / "laptop") as run:
        look("A-1")
    return LocalStore(tmp_path / "laptop").folder(run.id)


@pytest.fixture
def serve(place):
    with ExitStack() as stack:

        def server(home, team=place):
            app = application(Settings(home=home, hosts=("testserver",), team=team))
            key = Keys(home).make(role="admin", name="any")[1]
            return stack.enter_context(TestClient(app, headers={"Authorization": f"Bearer {key}"}))

        yield server


def pieces(folder):
    blobs = [
        Piece(folder.name, f"sha256:{path.name}", 0, path.read_bytes()) for path in folder.glob("blobs/*/*")
    ]
    return [*blobs, Piece(folder.name, "events.jsonl", 0, (folder / "events.jsonl").read_bytes())]


def sent(client, folder):
    return client.post("/api/v1/uploads", content=upload_format.packed(pieces(folder)))


def until(ask, wanted):
    last = time.monotonic() + 120
    while (found := ask()) != wanted:
        assert time.monotonic() < last, found
        time.sleep(0.1)


def listed(client):
    return [
        (line["id"], line["name"], line["steps"]) for line in client.get("/api/v1/recordings").json()["items"]
    ]


def test_what_is_sent_to_one_server_is_in_the_store_and_in_the_others(serve, team, recorded, tmp_path):
    one, other = serve(tmp_path / "one"), serve(tmp_path / "other")
    answer = sent(one, recorded)
    assert {piece["status"] for piece in answer.json()["pieces"]} == {"ok"}
    assert (team.find(recorded.name) / "events.jsonl").read_bytes() == (
        recorded / "events.jsonl"
    ).read_bytes()
    for client in (one, other):
        until(lambda client=client: listed(client), [(recorded.name, "one", 1)])
    # A server that has lost its disk has them again.
    new = serve(tmp_path / "new")
    until(lambda: listed(new), [(recorded.name, "one", 1)])
    copy = LocalStore(tmp_path / "new").folder(recorded.name)
    assert {path.name for path in copy.glob("blobs/*/*")} == {
        path.name for path in recorded.glob("blobs/*/*")
    }
    # And who asks how much is there asks the store.
    shutil.rmtree(LocalStore(tmp_path / "other").folder(recorded.name))
    told = other.post("/api/v1/uploads/lengths", json={"recordings": [recorded.name]}).json()
    assert told["recordings"][recorded.name] == {"events.jsonl": (recorded / "events.jsonl").stat().st_size}


def test_what_is_deleted_on_a_server_is_gone_from_the_store(serve, team, recorded, tmp_path):
    one = serve(tmp_path / "one")
    sent(one, recorded)
    until(lambda: listed(one), [(recorded.name, "one", 1)])
    assert one.delete(f"/api/v1/recordings/{recorded.name}").status_code in {200, 204}
    assert team.ids() == []


@pytest.mark.thorough
def test_a_store_that_is_away_is_no_refusal(serve, place, recorded, tmp_path):
    away = replace(place, database="postgresql://127.0.0.1:9/none")
    answer = sent(serve(tmp_path / "one", away), recorded)
    assert answer.status_code == 503
    assert "does not answer" in answer.json()["detail"]


@pytest.mark.thorough
def test_a_server_is_ready_where_its_store_answers_and_says_which_part_does_not(
    serve, place, recorded, tmp_path
):
    one = serve(tmp_path / "one")
    until(lambda: one.get("/ready").status_code, 200)
    assert list(one.get("/ready").json()["checks"]) == ["disk", "home", "store", "objects", "recordings"]
    sent(one, recorded)
    size = (recorded / "events.jsonl").stat().st_size
    assert f'reenact_store_bytes{{project="default"}} {float(size)}' in one.get("/metrics").text
    away = replace(place, database="postgresql://user:secret@127.0.0.1:9/none")
    answer = serve(tmp_path / "two", away).get("/ready")
    assert (answer.status_code, answer.json()["checks"]["store"]) == (503, "does not answer")
    assert "secret" not in answer.text
    assert "127.0.0.1" not in answer.text


@pytest.mark.thorough
def test_a_project_that_is_full_is_507_and_takes_again_once_there_is_room(serve, team, recorded, tmp_path):
    with team.database.begin() as connection:
        limit(connection, team.database.project, ProjectLimits(most_bytes=10))
    server = serve(tmp_path / "one")
    answer = sent(server, recorded)
    assert (answer.status_code, "may have at most 10 bytes" in answer.json()["detail"]) == (507, True)
    assert team.intake.lengths([recorded.name]) == {}
    with team.database.begin() as connection:
        limit(connection, team.database.project, ProjectLimits())
    until(lambda: sent(server, recorded).status_code, 200)
    assert team.ids() == [recorded.name]


@pytest.mark.thorough
def test_a_server_finds_no_recording_of_another_project(serve, recorded, place, tmp_path, monkeypatch):
    monkeypatch.setenv("REENACT_STORE", place.database)
    monkeypatch.setenv("REENACT_OBJECTS", place.objects)
    server = serve(tmp_path / "one")
    with closing(TeamStore(replace(place, project="other", cache=tmp_path / "other"))) as other:
        other.intake.take(pieces(recorded))
    monkeypatch.setenv("REENACT_PROJECT", "other")
    assert server.get(f"/api/v1/recordings/{recorded.name}").status_code == 404
    asked = server.get("/api/v1/diff", params={"a": recorded.name, "b": recorded.name})
    assert asked.status_code == 404
