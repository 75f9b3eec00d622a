"""A store upgrade with a million events in it: who reads and writes goes on, and finds all of it afterwards."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest
from sqlalchemy import create_engine, text

import reenact
from benchmarks import crowded
from reenact.core.store.local import LocalStore
from reenact.core.store.summarised import summarised
from reenact.errors import UsageError
from reenact.team.database import Database
from reenact.team.schema import ready
from reenact.team.store import TeamStore
from tests.soak.tables import SHORT, keep, table
from tests.team import first

FIRST = "0001"
RECORDINGS = 2_000 if SHORT else 100_000
ORIGINALS = 50
PATIENCE = 10
"""Seconds that nobody may wait, however busy the machine."""


@reenact.tool
def look(order):
    return {
        "order": order,
        "said": f"The order {order} was shipped on Monday, and will be there by Thursday.",
    }


class Going(threading.Thread):
    """Somebody who does one thing over and over, with a watch in the hand."""

    def __init__(self, url, project, what, ended):
        super().__init__()
        self.what, self.times, self.error = what, [], None
        self._url, self._project, self._ended = url, project, ended

    def run(self):
        try:
            with psycopg.connect(self._url, autocommit=True) as connection:
                client = first.Client(connection, self._project)
                while not self._ended.is_set():
                    began = time.monotonic()
                    self.what(client)
                    self.times.append(time.monotonic() - began)
                    self._ended.wait(0.01)
        except Exception as error:
            self.error = error


@pytest.fixture
def originals(tmp_path):
    """Recordings of ten events."""
    home = LocalStore(tmp_path / "home")
    for number in range(ORIGINALS):
        with reenact.record(f"agent {number}", home=home.root):
            for order in range(4):
                look(f"{number}-{order}")
    return home


@pytest.fixture
def old(place, originals):
    """A store as the first version left it, with very many recordings."""
    engine = create_engine("postgresql+psycopg://" + place.database.partition("://")[2])
    ready(engine, FIRST)
    with psycopg.connect(place.database, autocommit=True) as connection:
        (project,) = connection.execute(
            "INSERT INTO reenact.projects (name) VALUES ('default') RETURNING key"
        ).fetchone()
        client = first.Client(connection, project)
        for id in originals.ids():
            folder = originals.folder(id)
            client.write(id, (folder / "events.jsonl").read_bytes(), summarised(folder, 0))
        keys = [key for (key,) in connection.execute("SELECT key FROM reenact.recordings")]
    crowded.multiply(engine, keys, RECORDINGS // ORIGINALS - 1)
    yield engine, project
    engine.dispose()


def lines_of(id):
    return (
        b'{"event":"opened","format":1,"rules":1,"id":"%s","name":"meanwhile","started":"2026-01-01T00:00:00.000+00:00",'
        b'"pid":1}\n{"event":"sealed","status":"ok","t":0.1}\n' % id.encode()
    )


def version_of(engine):
    with engine.connect() as connection:
        return connection.execute(text("SELECT version_num FROM reenact.alembic_version")).scalar_one()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_readers_and_writers_go_on_while_the_store_is_upgraded(old, place, originals):
    engine, project = old
    before = crowded.counted(engine)
    written, ended = [], threading.Event()

    def write(client):
        id = f"new{len(written)}"
        client.write(id, lines_of(id))
        written.append(id)
        ended.wait(0.05)

    jobs = [Going(place.database, project, what, ended) for what in (
        first.Client.list, first.Client.search, first.Client.open, write
    )]  # fmt: skip
    for one in jobs:
        one.start()
    time.sleep(2)
    quiet = {one: max(one.times) for one in jobs}
    counts = {one: len(one.times) for one in jobs}
    began = time.monotonic()
    ready(engine)
    took = time.monotonic() - began
    ended.set()
    for one in jobs:
        one.join(60)
    assert [one.error for one in jobs] == [None] * 4
    if version_of(engine) == FIRST:
        pytest.skip("there is one version of the tables: nothing to upgrade")
    # All that was there is there, with what came meanwhile, and a Reenact of today reads it.
    after = crowded.counted(engine)
    assert after["recordings"] == before["recordings"] + len(written)
    assert {name: after[name] for name in ("steps", "details")} == {
        name: before[name] for name in ("steps", "details")
    }
    with TeamStore(place) as team:
        assert len(team.ids()) == after["recordings"]
        assert team.load(written[-1]).name == "meanwhile"
        for id in originals.ids()[:3]:
            assert (team.find(id) / "events.jsonl").read_bytes() == (
                originals.folder(id) / "events.jsonl"
            ).read_bytes()
    rows = [
        {
            "who": word, "times meanwhile": len(one.times) - counts[one],
            "longest before, s": round(quiet[one], 3), "longest meanwhile, s": round(max(one.times[counts[one]:]), 3),
        }
        for word, one in zip(("list", "search", "open", "write"), jobs, strict=True)
    ]  # fmt: skip
    title = f"{after['chunks'] and RECORDINGS * 10:,} events, version {FIRST} to {version_of(engine)} in {took:.1f} s"
    table(title, rows)
    keep("upgrade", {"events": RECORDINGS * 10, "seconds": round(took, 1), "rows": rows})
    for row in rows:
        assert row["times meanwhile"] > 0, row
        assert row["longest meanwhile, s"] < PATIENCE, row


def test_who_may_not_change_the_tables_is_told_who_does(place):
    with psycopg.connect(place.database, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN")
    engine = create_engine(
        "postgresql+psycopg://" + place.database.partition("://")[2].replace("postgres:", "guest:")
    )
    with pytest.raises(
        UsageError, match=r"has no tables yet, and this user may not create them \(permission denied"
    ):
        ready(engine)
    engine.dispose()


def test_a_running_client_goes_on_after_others_have_upgraded_and_a_new_one_of_its_version_is_told_to(place):
    database = Database(place)
    key = database.project
    with psycopg.connect(place.database, autocommit=True) as connection:
        connection.execute("UPDATE reenact.alembic_version SET version_num = '9999'")
    with database.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM reenact.recordings")).scalar() == 0
    assert database.project == key
    another = Database(place)
    with pytest.raises(UsageError, match="version 9999, which this Reenact does not know: upgrade with"):
        another.project  # noqa: B018 - asked for the first time
    another.close()
    database.close()
