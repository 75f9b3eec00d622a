"""What is wrong with a team's store is named, and put right when that is asked for."""

from __future__ import annotations

from contextlib import closing

import pytest
from sqlalchemy import text

import reenact
from reenact.cli import main
from reenact.core.store.local import LocalStore
from reenact.team.check import TeamCheck
from reenact.team.ship.exchange import TeamExchange


@reenact.tool
def look(data):
    return {"picture": data}


@pytest.fixture
def ids(team, tmp_path):
    home = LocalStore(tmp_path / "home")
    for number in range(4):
        with reenact.record(f"agent {number}", home=home.root):
            look(bytes([0xF0 + number]) * 80_000)
    with closing(TeamExchange(home, team)) as exchange:
        exchange.push(home.ids())
    return home.ids()


def kinds(team, **options):
    return sorted(one.kind for one in TeamCheck(team, **options).run().findings)


def sql(team, statement, **values):
    with team.database.begin() as connection:
        return connection.execute(text(statement), values)


def test_nothing_is_wrong_with_a_store_that_is_whole(team, ids):
    checked = TeamCheck(team).run()
    assert checked.findings == []
    assert (checked.recordings, checked.blobs) == (4, 4)


@pytest.fixture
def run(place, monkeypatch, capfd):
    monkeypatch.setenv("REENACT_STORE", place.database)
    monkeypatch.setenv("REENACT_OBJECTS", place.objects)
    return lambda *words: (main(list(words)), capfd.readouterr().out)


@pytest.mark.thorough
def test_all_that_is_wrong_is_named_and_what_can_be_is_repaired(team, ids, tmp_path, run):
    broken, short, gone, blobless = ids
    team.erase([gone], why="x")
    team.blobs.drop_receipt(gone)
    sql(team, "INSERT INTO reenact.recordings (project, id, version, known) VALUES (1, :id, 1, 1)", id=gone)
    sql(team, "INSERT INTO reenact.recordings (project, id, version, written) VALUES (1, 'begun', 0, 1)")
    sql(team, "INSERT INTO reenact.leases (project, address, at) VALUES (1, 'sha256:0', 1)")
    key = "(SELECT key FROM reenact.recordings WHERE id = :id)"
    sql(team, f"UPDATE reenact.chunks SET data = 'x' || substr(data, 2) WHERE recording = {key}", id=broken)
    sql(team, "UPDATE reenact.recordings SET known = 0 WHERE id = :id", id=broken)
    sql(team, f"UPDATE reenact.files SET length = length + 1 WHERE recording = {key}", id=short)
    address = sql(team, f"SELECT address FROM reenact.blobs WHERE recording = {key}", id=blobless).scalar()
    team.blobs.remove(address)
    other = sql(team, f"SELECT address FROM reenact.blobs WHERE recording = {key}", id=short).scalar()
    digest = other.removeprefix("sha256:")
    (tmp_path / "objects" / "default" / "blobs" / digest[:2] / digest).write_bytes(b"other")
    wanted = {
        "deleted", "missing receipt", "stuck upload", "broken", "missing lines", "missing blob", "damaged blob",
    }  # fmt: skip
    found = TeamCheck(team).run().findings
    assert wanted <= {one.kind for one in found}
    assert not any(one.repaired for one in found)
    status, out = run("fsck", "--team", "--repair")
    assert status == 1
    assert "read again: it is still broken" in out
    left = {one.kind for one in TeamCheck(team).run().findings}
    assert left <= {"broken", "missing lines", "missing blob", "damaged blob"}
    assert gone not in team.ids()
    assert {receipt["id"] for receipt in team.blobs.receipts()} == {gone}
