"""Deleting is deleting: by the database's clock, for good, against holds, and with a receipt."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text, update

import reenact
from reenact.cli import main
from reenact.core.store import intake as local_intake
from reenact.core.store.base import Piece
from reenact.core.store.deleted import Tombstones
from reenact.core.store.local import LocalStore
from reenact.errors import RecordingHeld, RecordingNotFound
from reenact.team.cleaning import Cleaner
from reenact.team.receipts import sign
from reenact.team.ship.exchange import TeamExchange
from reenact.team.ship.queue import Queue, ShipMark
from reenact.team.store import TeamStore
from reenact.team.tables import TOMBSTONES
from tests.server.asking import Asking

DAY = 86_400


@reenact.tool
def look(number):
    return {"picture": number * 80_000}


def recorded(home, name="agent", tags=()):
    with reenact.record(name, home=home, tags=tags) as recording:
        look(b"\xff")
    return recording.id


def pushed(team, home, *ids):
    with closing(TeamExchange(LocalStore(home), team)) as exchange:
        return exchange.push(ids)


def aged(team, *ids, days=100):
    """The store got these so many days ago, by its own clock."""
    with team.database.begin() as connection:
        connection.execute(
            text("UPDATE reenact.recordings SET written = written - :age WHERE id = ANY(:ids)"),
            {"age": days * DAY * 10**9, "ids": list(ids)},
        )


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def run(place, monkeypatch, capfd):
    monkeypatch.setenv("REENACT_STORE", place.database)
    monkeypatch.setenv("REENACT_OBJECTS", place.objects)

    def run(*words):
        capfd.readouterr()
        status = main([str(word) for word in words])
        out, err = capfd.readouterr()
        return status, out, err

    return run


# -- whose clock -----------------------------------------------------------------------------------------------------


def test_a_pusher_whose_clock_is_behind_loses_nothing(team, home, monkeypatch):
    id = recorded(home)
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() - 100 * DAY * 10**9)
    monkeypatch.setattr(time, "time", lambda: real() / 1e9 - 100 * DAY)
    pushed(team, home, id)
    assert Cleaner(team).clean(30 * DAY).ids == []
    assert team.ids() == [id]


@pytest.mark.thorough
def test_a_cleaner_whose_clock_is_ahead_deletes_nothing(team, home, monkeypatch):
    id = recorded(home)
    pushed(team, home, id)
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + 100 * DAY * 10**9)
    assert Cleaner(team).clean(30 * DAY).ids == []
    assert team.ids() == [id]


@pytest.mark.thorough
def test_what_the_store_got_long_ago_goes(team, home):
    old, new = recorded(home), recorded(home)
    pushed(team, home, old, new)
    aged(team, old)
    assert Cleaner(team).clean(30 * DAY).ids == [old]
    assert team.ids() == [new]


# -- it does not come back -------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_colleagues_sync_does_not_bring_back_what_was_cleaned(team, home, run):
    id = recorded(home)
    assert run("sync", "--home", home)[0] == 0
    aged(team, id)
    assert Cleaner(team).clean(30 * DAY).ids == [id]
    status, _, err = run("sync", "--home", home)
    assert status == 0
    assert f"{id} is not pushed: it was deleted on" in err
    assert team.ids() == []
    # The recording was made here: it stays here.
    assert LocalStore(home).ids() == [id]
    assert run("push", id, "--home", home)[0] == 1
    assert team.ids() == []


@pytest.mark.thorough
def test_a_copy_that_came_from_the_team_goes_with_it(team, home, run, tmp_path):
    id = recorded(home)
    pushed(team, home, id)
    copy = tmp_path / "colleague"
    assert run("sync", "--home", copy)[0] == 0
    team.find(id)
    assert LocalStore(copy).ids() == [id]
    team.remove(id, why="asked for", who="me@here")
    assert not team.folder(id).exists()
    status, _, err = run("sync", "--home", copy)
    assert status == 0
    assert f"{id} is removed here" in err
    assert LocalStore(copy).ids() == []


def test_what_was_deleted_here_does_not_come_back_unless_it_is_asked_for(team, home, run):
    id = recorded(home)
    pushed(team, home, id)
    assert run("rm", id, "--yes", "--home", home)[0] == 0
    assert run("sync", "--home", home)[0] == 0
    assert LocalStore(home).ids() == []
    assert run("pull", id, "--home", home)[0] == 0
    assert LocalStore(home).ids() == [id]


def test_the_cache_of_a_deleted_recording_goes_when_it_is_asked_for(team, home, place):
    id = recorded(home)
    pushed(team, home, id)
    team.find(id)
    with TeamStore(place.of_project("default", Path(f"{place.cache}-other"))) as other:
        other.remove(id)
    with pytest.raises(RecordingNotFound):
        team._at_hand(id)
    assert not team.folder(id).exists()


def test_a_piece_of_a_deleted_recording_is_refused_for_good(team, home):
    id = recorded(home)
    pushed(team, home, id)
    team.remove(id, why="asked for", who="me@here")
    data = (home / "recordings" / id / "events.jsonl").read_bytes()
    blob = b"x" * 10
    address = f"sha256:{hashlib.sha256(blob).hexdigest()}"
    taken = team.intake.take([Piece(id, "events.jsonl", 0, data), Piece(id, address, 0, blob)])
    assert [one.status for one in taken] == ["gone", "gone"]
    assert "(asked for), and is not accepted again" in taken[0].detail
    assert team.ids() == []
    assert not team.blobs.has(address)
    with team.database.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM reenact.recordings")).scalar() == 0
        assert connection.execute(text("SELECT count(*) FROM reenact.leases")).scalar() == 0


def test_what_was_deleted_by_mistake_is_readmitted(team, home, run):
    id = recorded(home)
    pushed(team, home, id)
    assert run("team", "rm", id)[0] == 0
    assert run("team", "readmit", id)[0] == 0
    assert run("push", id, "--home", home)[0] == 0
    assert team.ids() == [id]
    assert run("team", "readmit", id)[0] == 2


def test_a_deletion_and_a_push_of_the_same_at_once_leave_it_deleted(team, home, place):
    id = recorded(home)
    pushed(team, home, id)
    data = (home / "recordings" / id / "events.jsonl").read_bytes()
    with TeamStore(place) as other:
        ended = threading.Event()

        def push():
            while not ended.is_set():
                other.intake.take([Piece(id, "events.jsonl", 0, data)])

        thread = threading.Thread(target=push)
        thread.start()
        team.remove(id)
        for _ in range(20):
            team.intake.take([Piece(id, "events.jsonl", 0, data)])
        ended.set()
        thread.join()
    assert team.ids() == []


# -- receipts --------------------------------------------------------------------------------------------------------


def test_a_receipt_says_what_was_deleted(team, home, run):
    id = recorded(home, "billing")
    pushed(team, home, id)
    data = (home / "recordings" / id / "events.jsonl").read_bytes()
    status, out, _ = run("team", "rm", id, "--why", "asked for by the customer", "--json")
    assert status == 0
    (receipt,) = json.loads(out)
    assert (receipt["id"], receipt["name"], receipt["why"]) == (id, "billing", "asked for by the customer")
    assert receipt["files"] == {
        "events.jsonl": {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    }
    assert (receipt["blobs"]["named"], receipt["blobs"]["deleted"]) == (1, 1)
    assert receipt["deleted"].startswith(time.strftime("%Y-", time.gmtime()))
    assert "@" in receipt["who"]
    status, out, _ = run("team", "receipts", id, "--json")
    assert json.loads(out) == [receipt]
    assert run("team", "receipts", "nobody")[0] == 2


def changed(team, **members):
    """Change members of the only receipt, past its signature."""
    (receipt,) = team.receipts()
    text = json.dumps({**receipt, **members})
    with team.database.begin() as connection:
        connection.execute(update(TOMBSTONES).values(receipt=text))
    return receipt


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"why": "for another reason"}, "its signature does not fit: it was changed after it was signed"),
        ({"who": "somebody", "at": 1}, "its signature does not fit"),
        ({"more": True}, "its signature does not fit"),
        ({"signed": None}, "it is not signed: it was made before receipts were signed, or forged"),
        (
            {"signed": {"key": "ed25519:" + "ab" * 32, "signature": "00" * 64}},
            "with another key than the project's",
        ),
    ],
)
def test_a_receipt_that_was_forged_or_changed_is_named(team, home, run, members, why):
    id = recorded(home)
    pushed(team, home, id)
    team.erase([id], why="x")
    assert run("team", "receipts")[0] == 0
    before = changed(team, **members)
    status, _, said = run("team", "receipts")
    assert status == 1
    assert f"the receipt of {id} is not to be trusted: " in said
    assert why in said
    assert before["id"] == id


def test_another_key_signs_no_receipt_of_the_project(team, home, run):
    id = recorded(home)
    pushed(team, home, id)
    (receipt,) = team.erase([id], why="x")
    changed(team, **sign({**receipt, "why": "y"}, b"k" * 32))
    assert run("team", "receipts")[0] == 1


def test_a_blob_that_another_recording_names_stays_and_the_receipt_says_so(team, home):
    one, other = recorded(home), recorded(home)
    pushed(team, home, one, other)
    (receipt,) = team.erase([one], why="x")
    assert (receipt["blobs"]["named"], receipt["blobs"]["deleted"]) == (1, 0)
    assert team.blobs.has(receipt["blobs"]["addresses"][0])


def test_a_long_file_has_the_same_digest(team, home, monkeypatch):
    monkeypatch.setattr("reenact.team.deleting._AT_ONCE", 10)
    id = recorded(home)
    pushed(team, home, id)
    data = (home / "recordings" / id / "events.jsonl").read_bytes()
    (receipt,) = team.erase([id], why="x")
    assert receipt["files"]["events.jsonl"]["sha256"] == hashlib.sha256(data).hexdigest()


# -- holds -----------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_what_a_hold_means_is_deleted_by_nobody(team, home, run):
    held, free = recorded(home, tags=["case-17"]), recorded(home)
    pushed(team, home, held, free)
    assert run("team", "hold", "add", "tag:case-17")[0] == 2
    assert run("team", "hold", "add", "tag:(", "--why", "x")[0] == 2
    assert run("team", "hold", "add", "tag:case-17", "--why", "the court")[0] == 0
    status, _, err = run("team", "rm", free, held)
    assert status == 2
    assert "held by 'tag:case-17' (the court" in err
    assert set(team.ids()) == {held, free}
    aged(team, held, free)
    cleaned = Cleaner(team).clean(30 * DAY)
    assert (cleaned.ids, cleaned.held) == ([free], 1)
    # What comes later is held, too.
    later = recorded(home, tags=["case-17"])
    pushed(team, home, later)
    with pytest.raises(RecordingHeld):
        team.remove(later)
    status, out, _ = run("team", "hold", "list", "--json")
    assert [one["filter"] for one in json.loads(out)] == ["tag:case-17"]
    assert run("team", "hold", "remove", "tag:case-17")[0] == 0
    assert run("team", "hold", "remove", "tag:case-17")[0] == 2
    assert run("team", "rm", held)[0] == 0


def test_a_hold_by_what_a_step_says_is_a_hold(team, home):
    id = recorded(home)
    pushed(team, home, id)
    team.hold("tool:look", "x")
    with pytest.raises(RecordingHeld):
        team.remove(id)


def test_a_broken_recording_is_held_by_every_hold(team, home):
    id = recorded(home)
    pushed(team, home, id)
    with team.database.begin() as connection:
        connection.execute(text("UPDATE reenact.chunks SET data = 'x' || substr(data, 2)"))
        connection.execute(text("UPDATE reenact.recordings SET known = 0"))
    team.hold("tag:case-17", "x")
    with pytest.raises(RecordingHeld):
        team.remove(id)


# -- servers and shippers --------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_server_refuses_what_was_deleted_there_and_a_shipper_drops_it(tmp_path, home):
    id = recorded(home)
    data = (home / "recordings" / id / "events.jsonl").read_bytes()
    with Asking(tmp_path / "server") as ask:
        path = f"/api/v1/recordings/{id}/files/events.jsonl"
        assert ask.client.put(path, content=data).status_code == 200
        assert ask.client.delete(f"/api/v1/recordings/{id}").status_code == 200
        answer = ask.client.put(path, content=data)
        assert answer.status_code == 410
        assert "is not accepted again" in answer.json()["detail"]
    assert Tombstones(tmp_path / "server").get(id) is not None


@pytest.mark.thorough
def test_a_server_before_a_team_obeys_its_holds_and_removes_what_others_delete(team, place, home, tmp_path):
    kept, gone = recorded(home, tags=["case-17"]), recorded(home)
    pushed(team, home, kept, gone)
    team.hold("tag:case-17", "the court")
    with Asking(tmp_path / "server", team=place) as ask:
        ask.listed(2)
        assert "held by" in ask.refused(f"/recordings/{kept}", 409, "DELETE")
        team.remove(gone)
        ask.listed(1)
    assert LocalStore(tmp_path / "server").ids() == [kept]


def test_a_shipment_of_a_deleted_recording_ends(home):
    from reenact.core.store.base import PieceTaken
    from reenact.team.ship.shipment import Shipment

    id = recorded(home)
    shipment = Shipment(ShipMark(id, "", ""), LocalStore(home).folder(id), Queue(home), {})
    load = next(shipment.loads())
    shipment.settle(load, PieceTaken("gone", detail="it was deleted"))
    assert shipment.gone == "it was deleted"
    assert list(shipment.loads()) == []


# -- intake while the object store is slow ---------------------------------------------------------------------------


def test_others_are_taken_in_while_the_object_store_is_slow(team, home, monkeypatch):
    slow, quick = recorded(home), recorded(home)
    asked, goes_on = threading.Event(), threading.Event()
    put = team.blobs.put

    def waits(data):
        asked.set()
        assert goes_on.wait(60)
        return put(data)

    monkeypatch.setattr(team.blobs, "put", waits)
    thread = threading.Thread(target=pushed, args=(team, home, slow))
    thread.start()
    try:
        assert asked.wait(60)
        data = (home / "recordings" / quick / "events.jsonl").read_bytes()
        assert team.intake.take([Piece(quick, "events.jsonl", 0, data)])[0].status == "ok"
        # Not even the recording itself is held, nor is anything that deletes.
        same = (home / "recordings" / slow / "events.jsonl").read_bytes()
        assert team.intake.take([Piece(slow, "events.jsonl", 0, same)])[0].status == "ok"
        with team.database.begin() as connection:
            idle = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()"
            assert connection.execute(text(idle)).scalar() == 0
    finally:
        goes_on.set()
        thread.join()
    assert team.ids() == [slow, quick] or set(team.ids()) == {slow, quick}


def test_a_blob_that_is_on_its_way_is_not_swept(team, home, monkeypatch):
    """Its object is there already, from a recording that is deleted just then."""
    one, other = recorded(home), recorded(home)
    pushed(team, home, one)
    put = team.blobs.put

    def deleted_meanwhile(data):
        address = put(data)
        if team.ids() == [one]:
            team.remove(one)
        return address

    monkeypatch.setattr(team.blobs, "put", deleted_meanwhile)
    pushed(team, home, other)
    with team.database.begin() as connection:
        (address,) = connection.execute(text("SELECT address FROM reenact.blobs")).scalars()
        assert connection.execute(text("SELECT count(*) FROM reenact.leases")).scalar() == 0
    assert team.blobs.get(address)


def test_the_folder_of_a_server_says_why_it_takes_nothing(tmp_path):
    Tombstones(tmp_path).add("abc", "asked for", "me")
    intake = local_intake.LocalIntake(LocalStore(tmp_path))
    try:
        (taken,) = intake.take([Piece("abc", "events.jsonl", 0, b"{}\n")])
    finally:
        intake.close()
    assert taken.status == "gone"
    (tmp_path / "deleted" / "abc.json").write_bytes(b"\xff")
    assert Tombstones(tmp_path).get("abc").why == "its tombstone is damaged"
    Tombstones(tmp_path).drop("abc")
    assert Tombstones(tmp_path).get("abc") is None
