"""What is wrong with a folder is named, and put right when that is asked for; nothing is changed else."""

from __future__ import annotations

import hashlib
import os
import sys
import time

import orjson
import pytest

import reenact
from reenact.cli import main
from reenact.core.store.check import StoreCheck
from reenact.core.store.deleted import Tombstones
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from tests.team.ship.serving import files


@reenact.tool
def look(data):
    return {"picture": data}


@pytest.fixture
def store(tmp_path):
    store = LocalStore(tmp_path / "home")
    for name in ("a", "b"):
        with reenact.record(name, home=store.root):
            look(b"\xff" * 80_000)
    Index(store).summaries()
    aged(store.root)
    return store


def aged(folder):
    """Nothing in a folder was written just now."""
    old = time.time() - 7200
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (old, old))


def kinds(store, **options):
    return sorted(one.kind for one in StoreCheck(store, **options).run().findings)


def tree(folder):
    return {name: data for name, data in files(folder).items() if not name.startswith(("index", "broken"))}


def test_nothing_is_wrong_with_a_folder_that_is_whole(store):
    Index(store).summaries()
    checked = StoreCheck(store).run()
    assert checked.findings == []
    assert (checked.recordings, checked.blobs) == (2, 2)


def test_an_empty_home_is_whole(tmp_path):
    assert kinds(LocalStore(tmp_path / "none")) == []
    assert not (tmp_path / "none").exists()


def break_all(store):
    """One of each; says which kinds that are."""
    whole, other = store.ids()
    recordings = store.recordings
    blob = next((recordings / whole / "blobs").glob("*/*"))
    (recordings / "damaged").mkdir()
    (recordings / "damaged" / "events.jsonl").write_bytes(
        b'{"event":"opened","format":1,"id":"damaged","tags":[[]]}\n'
    )
    (recordings / "child").mkdir()
    (recordings / "child" / "events.2.jsonl").write_bytes(b"{}\n")
    (recordings / "nothing").mkdir()
    (recordings / ("odd id" if sys.platform == "win32" else os.fsdecode(b"odd\xff"))).mkdir()
    with (recordings / whole / "events.jsonl").open("ab") as file:
        file.write(b'{"event":"ret')
    data = b"unneeded"
    digest = hashlib.sha256(data).hexdigest()
    place = recordings / whole / "blobs" / digest[:2] / digest
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(data)
    place.with_name(f"{digest}.123.part").write_bytes(b"half")
    (recordings / whole / "events.reserve").write_bytes(b"\0")
    blob.write_bytes(b"other bytes")
    next((recordings / other / "blobs").glob("*/*")).unlink()
    Tombstones(store.root).add("gone", "asked for", "me")
    (recordings / "gone").mkdir()
    (recordings / "gone" / "events.jsonl").write_bytes(b"{}\n")
    (store.root / "incoming-1").mkdir()
    aged(store.root)
    return {
        "broken", "no parent", "no recording", "no id", "torn line", "unneeded blob", "left behind", "damaged blob",
        "missing blob", "deleted",
    }  # fmt: skip


def test_all_that_is_wrong_is_named_and_nothing_is_changed(store):
    wanted = break_all(store)
    before = tree(store.root)
    found = StoreCheck(store).run().findings
    assert wanted <= {one.kind for one in found}
    assert all(one.detail and "\n" not in one.detail and not one.repaired for one in found)
    assert tree(store.root) == before


def test_what_can_be_repaired_is_repaired_and_what_is_broken_is_moved_aside(store):
    break_all(store)
    whole = store.ids()
    found = StoreCheck(store, repair=True).run().findings
    assert all(one.repaired for one in found if one.kind != "missing blob")
    assert not any(one.repaired.startswith("cannot") for one in found)
    left = set(kinds(store)) - {"lost row"}
    assert left == {"missing blob"}
    kept = store.root / "broken"
    assert (kept / "damaged" / "events.jsonl").is_file()
    assert (kept / "child" / "events.2.jsonl").is_file()
    assert [path.read_bytes() for path in kept.glob("*.torn")] == [b'{"event":"ret']
    assert not (store.recordings / "gone").exists()
    assert all(store.load(id).status == "ok" for id in whole if id not in ("damaged", "gone"))


def test_a_recording_that_is_being_written_is_let_alone(store):
    with reenact.record("c", home=store.root):
        look(b"\xff" * 80_000)
        assert not {"left behind", "torn line", "broken"} & set(kinds(store, repair=True))


def test_a_recording_that_the_index_does_not_have_yet_is_no_finding(store):
    Index(store).refresh()
    with reenact.record("later", home=store.root):
        look(b"x")
    assert kinds(store) == []
    assert len(Index(store).summaries()) == 3


def test_a_damaged_index_is_made_anew(store):
    file = store.root / "index.sqlite"
    file.write_bytes(file.read_bytes()[:2000] + b"\xff" * 3000)
    assert "damaged index" in kinds(store, repair=True)
    assert kinds(store) == []
    assert len(Index(store).summaries()) == 2


def test_the_index_of_a_folder_that_cannot_be_written_is_no_finding(store, monkeypatch):
    file = store.root / "index.sqlite"
    file.write_bytes(file.read_bytes()[:2000] + b"\xff" * 3000)
    monkeypatch.setattr(os, "access", lambda path, mode: (path, mode) != (store.root, os.W_OK))
    assert kinds(store) == []


def test_a_recording_of_a_later_version_is_named_and_stays(store):
    folder = store.recordings / "later"
    folder.mkdir()
    (folder / "events.jsonl").write_bytes(b'{"event":"opened","format":99,"id":"later"}\n')
    aged(store.root)
    assert "newer" in kinds(store, repair=True)
    assert folder.is_dir()


def test_the_command_names_them_and_its_status_says_whether_there_are_any(store, capfd):
    Index(store).summaries()
    assert main(["fsck", "--home", str(store.root)]) == 0
    assert "nothing is wrong" in capfd.readouterr().err
    break_all(store)
    assert main(["fsck", "--home", str(store.root), "--json"]) == 1
    told = orjson.loads(capfd.readouterr().out)
    assert {"kind", "what", "detail", "repaired"} == told["findings"][0].keys()
    assert main(["fsck", "--home", str(store.root), "--repair"]) == 1
    out = capfd.readouterr().out
    assert "broken: damaged: " in out
    assert "-> moved to" in out
    assert main(["fsck", "--home", str(store.root), "--team"]) == 2
