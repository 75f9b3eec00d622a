"""A project has no more than it may, and for no longer: what is too much stays with who sends it, and what goes is
nobody's any more.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace

import orjson
import pytest

import reenact
from reenact.cli import main
from reenact.core.store.base import Piece
from reenact.core.store.local import LocalStore
from reenact.errors import StoreFull
from reenact.team.cleaning import Cleaner
from reenact.team.intake import TeamIntake
from reenact.team.limits import ProjectLimits, Room, limit, used
from reenact.team.ship.exchange import TeamExchange
from reenact.team.store import TeamStore

DAY = 86_400
LARGE = bytes(range(256)) * 300


@reenact.tool
def look(order):
    return {"order": order, "picture": LARGE + order.encode()}


def recorded(home, order, *tags):
    with reenact.record("orders", home=home.root, tags=tags) as run:
        look(order)
    return run.id


def header(id):
    return (
        orjson.dumps({"event": "opened", "format": 1, "rules": 1, "id": id, "name": "n", "salt": "00"})
        + b"\n"
    )


def limited(team, **said):
    with team.database.begin() as connection:
        limit(connection, team.database.project, ProjectLimits(**said))


def statuses(taken):
    return [one.status for one in taken]


@pytest.fixture
def home(tmp_path):
    return LocalStore(tmp_path / "home")


@pytest.fixture
def exchange(home, team, place, monkeypatch):
    monkeypatch.setenv("REENACT_STORE", place.database)
    monkeypatch.setenv("REENACT_OBJECTS", place.objects)
    with closing(TeamExchange(home, team)) as exchange:
        yield exchange


def test_what_is_too_much_is_not_taken_and_goes_once_there_is_room(team):
    limited(team, most_recordings=1, most_bytes=1000)
    team.intake.take([Piece("one", "events.jsonl", 0, header("one"))])
    size = len(header("one"))
    with pytest.raises(StoreFull, match="may have at most 1 recordings, and has them"):
        team.intake.take([Piece("two", "events.jsonl", 0, header("two"))])
    # What is there may grow beside one that there is no room for.
    both = [Piece("two", "events.jsonl", 0, header("two")), Piece("one", "events.jsonl", size, b"{}\n")]
    taken = team.intake.take(both)
    assert (statuses(taken), "at most 1 recordings" in taken[0].detail) == (["refused", "ok"], True)
    with pytest.raises(StoreFull, match="at most 1,000 bytes"):
        team.intake.take([Piece("one", "events.jsonl", size + 3, b"x" * 1000 + b"\n")])
    # Said again, what is there is ok.
    assert statuses(team.intake.take([Piece("one", "events.jsonl", size, b"{}\n")])) == ["ok"]
    assert team.ids() == ["one"]
    limited(team)
    # Another server sees it at once, this one within some seconds.
    with closing(TeamIntake(team.database, team.blobs)) as other:
        assert statuses(other.take(both)) == ["ok", "ok"]


def test_a_blob_that_there_is_no_room_for_is_not_put_anywhere(team):
    limited(team, most_bytes=len(LARGE))
    address = team.blobs.put(LARGE)
    team.blobs.remove(address)
    one = Piece("one", address, 0, LARGE)
    assert statuses(team.intake.take([one])) == ["ok"]
    assert statuses(team.intake.take([one])) == ["ok"]
    other = team.blobs.put(b"other")
    team.blobs.remove(other)
    with pytest.raises(StoreFull):
        team.intake.take([Piece("one", other, 0, b"other")])
    assert not team.blobs.has(other)


def test_room_is_counted_anew_now_and_then(team):
    now = [0.0]
    room = Room(lambda: now[0])
    project = team.database.project

    def problem():
        with team.database.begin() as connection:
            room.look(connection, project)
        return room.problem(recordings=1)

    assert problem() == ""
    limited(team, most_recordings=1)
    assert problem() == ""
    now[0] = 16
    assert problem() == ""
    assert "at most 1 recordings" in problem()
    now[0] = 20
    assert problem() == "", "what was not written after all does not count"


def test_push_says_it_on_one_line_and_nothing_is_lost(home, team, exchange, capsys):
    first, second = recorded(home, "A-1"), recorded(home, "A-2")
    assert exchange.push([first]).ids == [first]
    limited(team, most_recordings=1)
    assert main(["push", "--all", "--home", str(home.root)]) == 2
    said = capsys.readouterr().err
    assert (said.count("\n"), "the project may have at most 1 recordings" in said) == (1, True), said
    assert sorted(home.ids()) == sorted([first, second])
    limited(team)
    assert main(["push", "--all", "--home", str(home.root)]) == 0
    assert sorted(team.ids()) == sorted([first, second])


def test_old_recordings_go_with_their_blobs_but_for_those_tagged_keep(home, team, exchange):
    old, kept = recorded(home, "A-1"), recorded(home, "A-1", "keep")
    exchange.push([old, kept])
    later = time.time_ns() + 91 * DAY * 10**9
    new = recorded(home, "A-2")
    exchange.push([new])
    with team.database.begin() as connection:
        connection.exec_driver_sql(f"UPDATE reenact.recordings SET written = {later} WHERE id = '{new}'")
    cleaner = Cleaner(team, lambda: later)
    shared, _ = (
        f"sha256:{path.name}"
        for path in (*home.folder(old).glob("blobs/*/*"), *home.folder(new).glob("blobs/*/*"))
    )
    said = cleaner.clean(90 * DAY, dry=True)
    assert (said.ids, said.kept, len(team.ids())) == ([old], 1, 3)
    assert cleaner.clean(None).ids == []
    assert cleaner.clean(90 * DAY).ids == [old]
    assert sorted(team.ids()) == sorted([kept, new])
    # The one that is kept has it, too.
    assert team.blobs.has(shared)
    assert team.load(kept).step(1).output["order"] == "A-1"
    with team.database.begin() as connection:
        for table in ("chunks", "steps", "details", "texts", "blobs", "files"):
            rows = connection.exec_driver_sql(
                f"SELECT count(DISTINCT recording) FROM reenact.{table}"
            ).scalar()
            assert rows == 2, table
        assert used(connection, team.database.project)[0] == 2


def test_a_blob_of_no_recording_goes_once_it_is_old_and_one_of_an_upload_stays(home, team, exchange):
    id = recorded(home, "A-1")
    exchange.push([id])
    (named,) = home.folder(id).glob("blobs/*/*")
    loose = team.blobs.put(b"uploaded, and never named")
    assert Cleaner(team).clean(None).blobs == []
    tomorrow = time.time_ns() + 2 * DAY * 10**9
    assert Cleaner(team, lambda: tomorrow).clean(None, dry=True).blobs == [loose]
    assert team.blobs.has(loose)
    assert Cleaner(team, lambda: tomorrow).clean(None).blobs == [loose]
    assert not team.blobs.has(loose)
    assert team.blobs.has(f"sha256:{named.name}")


def test_a_blob_being_uploaded_is_let_alone_and_nobody_waits_for_it(team):
    data = b"slow" * 100
    address = team.blobs.put(data)
    events = []

    class Slow:
        """An object store that takes its time; meanwhile somebody cleans."""

        def put(self, data):
            pool.append(executor.submit(lambda: (team.sweep([address]), events.append("swept"))))
            time.sleep(0.3)
            events.append("put")
            return team.blobs.put(data)

    from concurrent.futures import ThreadPoolExecutor

    pool = []
    with ThreadPoolExecutor(1) as executor, closing(TeamIntake(team.database, Slow())) as intake:
        assert statuses(intake.take([Piece("one", address, 0, data)])) == ["ok"]
        pool[0].result(10)
    assert sorted(events) == ["put", "swept"]
    assert team.blobs.has(address)


def test_one_that_is_written_to_while_others_are_deleted_stays(team):
    team.intake.take([Piece("one", "events.jsonl", 0, header("one"))])
    later = time.time_ns() + 100 * DAY * 10**9
    cleaner = Cleaner(team, lambda: later)
    found = cleaner._found(cleaner._old(DAY))
    with team.database.begin() as connection:
        connection.exec_driver_sql("SELECT 1 FROM reenact.recordings FOR UPDATE")
        assert cleaner._delete([key for key, *_ in found], cleaner._old(DAY)) == []
        connection.exec_driver_sql(f"UPDATE reenact.recordings SET written = {later}")
    assert cleaner._delete([key for key, *_ in found], cleaner._old(DAY)) == []
    assert team.ids() == ["one"]


@pytest.mark.thorough
def test_the_commands(home, team, exchange, place, capsys):
    id = recorded(home, "A-1")
    exchange.push([id])
    with TeamStore(replace(place, project="support")) as other:
        assert other.ids() == []

    def run(*words):
        status = main(["team", *words])
        said = capsys.readouterr()
        return status, said.out, said.err

    assert run("limits", "--keep", "90d", "--most", "200GB", "--recordings", "1_000_000")[0] == 0
    assert run("limits", "support", "--keep", "2w")[0] == 0
    told = orjson.loads(run("limits", "--most", "none", "--json")[1])
    assert told[0]["limits"] == {"keep": 90 * DAY, "most_bytes": None, "most_recordings": 1_000_000}
    assert (told[0]["name"], told[0]["recordings"], told[0]["bytes"] > len(LARGE)) == ("default", 1, True)
    said = run("projects")[1]
    assert [line.split()[0] for line in said.splitlines()[1:]] == ["default", "support"]
    assert said.rstrip().endswith("14d")
    assert "deleted 0 recordings" in run("clean")[2]
    with team.database.begin() as connection:
        connection.exec_driver_sql("UPDATE reenact.recordings SET written = 1")
    assert f"would delete {id}" in run("clean", "--dry-run")[2]
    assert orjson.loads(run("clean", "--json")[1])["ids"] == [id]
    status, _, said = run("limits", "suport", "--keep", "1d")
    assert (status, said) == (2, "reenact: there is no project 'suport'; there are: default, support\n")
    assert "--keep soon: such as 90d" in run("limits", "--keep", "soon")[2]
    for option, endless in (("--keep", "9" * 30 + "y"), ("--most", "9" * 400), ("--recordings", "9" * 5000)):
        status, _, said = run("limits", option, endless)
        assert (status, f"{option} {endless}: such as " in said) == (2, True)
