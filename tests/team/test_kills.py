"""A Postgres that is killed while recordings come in: nothing acknowledged is lost, and nothing appears twice."""

from __future__ import annotations

import threading
import time
from functools import partial

import pytest

from reenact.core.store.base import Piece
from reenact.errors import StoreAway
from reenact.team.location import TeamPlace
from reenact.team.store import TeamStore
from tests.team.conftest import served

LINES = 150
KILLS = 3


@pytest.fixture
def own():
    with served() as server:
        yield server


def lines_of(id):
    yield b'{"event":"opened","format":1,"id":"%s","pid":1}\n' % id.encode()
    for number in range(LINES):
        yield b'{"event":"noted","what":"hole","text":"%s %d","t":1.0}\n' % (id.encode(), number)


class Writer(threading.Thread):
    """Sends one recording line by line, and after an error what was not acknowledged."""

    def __init__(self, team, id):
        super().__init__()
        self.team, self.id = team, id
        self.acknowledged = self.errors = 0

    def run(self):
        for line in lines_of(self.id):
            while True:
                try:
                    (taken,) = self.team.intake.take(
                        [Piece(self.id, "events.jsonl", self.acknowledged, line)]
                    )
                    break
                except StoreAway:
                    self.errors += 1
                    time.sleep(0.05)
            assert taken.status == "ok", taken
            self.acknowledged += len(line)


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_kill_9_in_mid_ingest(own, tmp_path):
    place = TeamPlace(own.url, f"file://{tmp_path}/objects", "default", tmp_path / "cache")
    with TeamStore(place) as team:
        writers = [Writer(team, f"run{number}") for number in range(4)]
        for writer in writers:
            writer.start()
        for kill in range(KILLS):
            wanted = (kill + 1) * LINES // (KILLS + 2)
            while min(writer.acknowledged for writer in writers) < wanted * 40:
                time.sleep(0.01)
            own.kill()
            told = {writer.id: writer.acknowledged for writer in writers}
            own.start()
            there = eventually(partial(team.intake.lengths, told))
            assert all(there[id]["events.jsonl"] >= length for id, length in told.items()), (told, there)
        for writer in writers:
            writer.join()
        assert sum(writer.errors for writer in writers) > 0, "no kill came in between"
        for writer in writers:
            assert (team.find(writer.id) / "events.jsonl").read_bytes() == b"".join(lines_of(writer.id))


def eventually(ask):
    last = time.monotonic() + 120
    while True:
        try:
            return ask()
        except StoreAway:
            assert time.monotonic() < last
            time.sleep(0.1)
