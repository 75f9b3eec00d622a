"""`reenact push` that is killed in the middle, that meets another one, or an object store on a bad day; and a server
whose disk is full: what was acknowledged is there, once, and the rest comes with the next attempt.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

import reenact
from reenact.core.store.base import Piece
from reenact.core.store.local import LocalStore
from reenact.errors import StoreAway
from reenact.server.app import application
from reenact.server.keys import Keys
from reenact.server.settings import Settings
from reenact.team.ship import upload_format
from reenact.team.ship.exchange import TeamExchange
from reenact.team.store import TeamStore
from reenact.team.tables import BLOBS, CHUNKS
from tests.team.between import Between
from tests.team.servers import disk, found_at
from tests.team.ship.serving import PROGRAM, eventually, files

PICTURE = 80_000
MANY = 30


@reenact.tool
def look(order):
    return {"order": order, "picture": os.urandom(PICTURE)}


@pytest.fixture
def home(tmp_path):
    home = LocalStore(tmp_path / "home")
    for number in range(MANY):
        with reenact.record(f"agent {number}", home=home.root):
            look(f"{number}-1")
            look(f"{number}-2")
    return home


def compared(home, team):
    """All of a home is in the team's store once, byte for byte."""
    ids = home.ids()
    assert sorted(team.ids()) == sorted(ids)
    for id in ids:
        team.find(id)
    there = {name: data for name, data in files(team.recordings).items() if not name.endswith("/team")}
    here = files(home.recordings)
    assert there == here
    with team.database.begin() as connection:
        held = connection.execute(select(func.sum(func.length(CHUNKS.c.data)))).scalar()
        blobs = connection.execute(select(func.count()).select_from(BLOBS)).scalar()
    assert held == sum(len(data) for name, data in here.items() if "/blobs/" not in name)
    assert blobs == sum("/blobs/" in name for name in here)


def test_a_push_that_is_killed_in_the_middle_is_made_whole_by_the_next(home, team, place):
    environ = {**os.environ, "REENACT_STORE": place.database, "REENACT_OBJECTS": place.objects}
    words = [sys.executable, "-c", PROGRAM, "push", "--all", "--home", str(home.root)]
    kills = 0
    for part in (1, MANY // 2):
        push = subprocess.Popen(words, env=environ, stderr=subprocess.DEVNULL)
        while push.poll() is None and len(team.ids()) < part:
            time.sleep(0.002)
        kills += push.poll() is None
        push.kill()
        push.wait()
    assert kills, "it was over before it could be killed"
    subprocess.run(words, env=environ, timeout=60, check=True, stderr=subprocess.DEVNULL)
    compared(home, team)


@pytest.mark.thorough
def test_two_pushes_of_the_same_at_once_leave_it_there_once(home, team, place, tmp_path):
    def push(number):
        with TeamStore(replace(place, cache=tmp_path / f"cache{number}")) as mine:
            exchange = TeamExchange(home, mine)
            try:
                return exchange.push(home.ids()).problems
            finally:
                exchange.close()

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(push, range(2))) == [{}, {}]
    compared(home, team)


@pytest.fixture
def between(weed, s3, monkeypatch):
    between = Between(weed.port)
    for name, value in found_at(between.port).items():
        monkeypatch.setenv(name, value)
    yield between
    between.close()


@pytest.mark.thorough
def test_a_flaky_object_store_lets_some_of_a_push_through_each_time_until_all_is_there(
    home, place, between, tmp_path
):
    with TeamStore(replace(place, objects=f"s3://team/{tmp_path.name}")) as team:
        exchange = TeamExchange(home, team)
        between.faults = ["", 503, 503, "cut", 503, "lost", 500, "torn", 503]
        away = []
        for _ in range(50):
            try:
                assert exchange.push(home.ids()).problems == {}
                break
            except StoreAway as error:
                away.append(str(error))
        else:
            pytest.fail("it never came through")
        # One line that says who does not answer, each time.
        assert away, between.seen
        assert all("the object store s3://team/" in one and "\n" not in one for one in away)
        between.faults = [""]
        compared(home, team)
        exchange.close()


def pieces(folder):
    blobs = [
        Piece(folder.name, f"sha256:{path.name}", 0, path.read_bytes()) for path in folder.glob("blobs/*/*")
    ]
    return [*blobs, Piece(folder.name, "events.jsonl", 0, (folder / "events.jsonl").read_bytes())]


@pytest.mark.thorough
def test_a_server_whose_disk_is_full_takes_all_and_has_its_copy_when_there_is_room(
    home, team, place, tmp_path, monkeypatch
):
    monkeypatch.setattr("reenact.server.share._AGAIN", 0.5)
    with disk(tmp_path / "server", 280) as full, ExitStack() as stack:
        app = application(Settings(home=full.folder, hosts=("testserver",), team=place))
        key = Keys(full.folder).make(role="admin", name="any")[1]
        client = stack.enter_context(TestClient(app, headers={"Authorization": f"Bearer {key}"}))
        assert client.get("/api/v1/recordings").status_code == 200
        full.fill()
        for id in home.ids():
            answer = client.post("/api/v1/uploads", content=upload_format.packed(pieces(home.folder(id))))
            assert {piece["status"] for piece in answer.json()["pieces"]} == {"ok"}
        compared(home, team)
        full.drain()
        eventually(lambda: files(full.folder / "recordings") == files(home.recordings), 30)
