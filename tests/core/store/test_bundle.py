"""One file a recording: whole, checked, and never half there."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import reenact
from reenact.core.model.event import FORMAT
from reenact.core.store import bundle
from reenact.core.store.local import LocalStore, load
from reenact.errors import CorruptRecording, FutureFormat, NotARecording, RecordingError, TooLarge, UsageError

PRIVATE = 0 if sys.platform == "win32" else 0o077
"""The bits that a private file's mode lacks; Windows has no modes."""


@reenact.tool
def picture(name):
    return bytes(range(256)) * 200


@pytest.fixture
def store(tmp_path):
    store = LocalStore(tmp_path / "home")
    with reenact.record("my support/agent", tags=["a"], home=store.root):
        picture("cat")
    return store


@pytest.fixture
def file(store, tmp_path):
    return bundle.export(store, "last", tmp_path / "x.reenact")


def test_a_recording_comes_back_the_same_with_its_blobs(store, file, tmp_path):
    other = LocalStore(tmp_path / "other")
    id = bundle.bring(other, file)
    for name in ("events.jsonl",):
        assert (other.folder(id) / name).read_bytes() == (store.folder(id) / name).read_bytes()
    assert other.load(id).step(1).output == bytes(range(256)) * 200
    assert load(file).step(1).output == bytes(range(256)) * 200
    assert (other.folder(id) / "events.jsonl").stat().st_mode & PRIVATE == 0


def test_the_file_is_a_plain_zip_with_checksums(file):
    subprocess.run([sys.executable, "-m", "zipfile", "-t", str(file)], check=True, capture_output=True)
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        manifest = json.loads(archive.read("manifest.json"))
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_DEFLATED}
    assert names[0] == "events.jsonl"
    assert set(manifest["members"]) == set(names) - {"manifest.json"}
    assert file.stat().st_mode & PRIVATE == 0


def test_exporting_twice_gives_the_same_bytes(store, file, tmp_path):
    assert bundle.export(store, "last", tmp_path / "y.reenact").read_bytes() == file.read_bytes()


def test_into_a_folder_it_bears_the_recordings_name(store, tmp_path):
    target = bundle.export(store, "last", tmp_path)
    assert target.name == f"my-support-agent-{store.ids()[0]}.reenact"


def test_what_is_there_is_not_overwritten_unless_told(store, file):
    with pytest.raises(UsageError, match="--force"):
        bundle.export(store, "last", file)
    bundle.export(store, "last", file, force=True)


@pytest.mark.parametrize("target", ["none/x.reenact", "/proc/x.reenact"])
def test_where_it_cannot_be_written_nothing_is(store, tmp_path, target):
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError):
        bundle.export(store, "last", tmp_path / target)
    assert sorted(tmp_path.rglob("*")) == before


def test_an_export_that_fails_in_the_middle_leaves_nothing(store, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="No space left"):
        bundle.export(store, "last", tmp_path / "x.reenact")
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_a_second_import_is_refused_kindly(store, file):
    with pytest.raises(RecordingError, match="already in the store, with the same content"):
        bundle.bring(store, file)
    events = store.folder(store.ids()[0]) / "events.jsonl"
    events.write_bytes(events.read_bytes() + b'{"event":"noted","what":"x","text":"y","t":9}\n')
    with pytest.raises(RecordingError, match="with other content; delete it first: `reenact rm"):
        bundle.bring(store, file)


def rewritten(file: Path, change) -> Path:
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    target = file.with_name("changed.reenact")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target


def edit(members):
    members["events.jsonl"] = members["events.jsonl"].replace(b"cat", b"dog")


def lose_blob(members):
    del members[next(name for name in members if name.startswith("blobs/"))]


def climb(members):
    members["../../evil.jsonl"] = b"x"
    manifest = json.loads(members["manifest.json"])
    manifest["members"]["../../evil.jsonl"] = {"size": 1, "sha256": "x"}
    members["manifest.json"] = json.dumps(manifest).encode()


def listed(members, name, data):
    """Add a member, with what the manifest has to say of it."""
    manifest = json.loads(members["manifest.json"])
    manifest["members"][name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    members |= {name: data, "manifest.json": json.dumps(manifest).encode()}


def future(members):
    members["manifest.json"] = members["manifest.json"].replace(b'"reenact": %d' % FORMAT, b'"reenact": 999')


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("change", "error"),
    [
        (edit, CorruptRecording),
        (lose_blob, CorruptRecording),
        (climb, CorruptRecording),
        (future, FutureFormat),
        (lambda members: members.pop("manifest.json"), NotARecording),
        (lambda members: members.update({"manifest.json": b"{"}), CorruptRecording),
        (lambda members: members.update({"events.extra.jsonl": b"{}"}), CorruptRecording),
        (lambda members: listed(members, "blobs/ab/" + "ab" * 32, b"other bytes"), CorruptRecording),
        (lambda members: listed(members, "events.x.jsonl", bytes(80 << 20)), TooLarge),
        (lambda members: members.update({"manifest.json": b"[" + b"[]," * (12 << 20) + b"[]]"}), TooLarge),
    ],
    ids=[
        "edit", "lost blob", "climb", "future", "no manifest", "damaged manifest", "unlisted", "other hash", "bomb",
        "manifest bomb",
    ],
)  # fmt: skip
def test_a_file_that_is_not_what_it_says_leaves_nothing_behind(file, tmp_path, change, error):
    other = LocalStore(tmp_path / "other")
    with pytest.raises(error):
        bundle.bring(other, rewritten(file, change))
    assert [path for path in tmp_path.rglob("*") if "evil" in path.name] == []
    assert list(other.root.iterdir()) == []


def test_a_recording_has_no_more_bytes_than_there_is_room_for(file, tmp_path):
    other = LocalStore(tmp_path / "other")
    with pytest.raises(TooLarge, match="unpacks to more than 1000 bytes"):
        bundle.bring(other, file, limit=1000)
    assert list(other.root.iterdir()) == []


def test_a_message_names_the_file_and_no_folder_that_is_gone(file, tmp_path):
    def damage(members):
        listed(members, "events.jsonl", members["events.jsonl"].replace(b"\n", b"\n{\n", 1))

    changed = rewritten(file, damage)
    with pytest.raises(CorruptRecording, match="changed.reenact: events.jsonl, line 2") as raised:
        bundle.bring(LocalStore(tmp_path / "other"), changed)
    assert "incoming-" not in str(raised.value)


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_said_to_be_damaged(file, tmp_path, keep):
    data = file.read_bytes()
    cut = tmp_path / "cut.reenact"
    cut.write_bytes(data[: int(len(data) * keep)])
    other = LocalStore(tmp_path / "other")
    with pytest.raises(RecordingError):
        bundle.bring(other, cut)
    assert list(other.root.iterdir()) == []


def test_flipped_bytes_never_come_through(file, tmp_path):
    data = bytearray(file.read_bytes())
    original = load(file).step(1).args
    for place in range(0, len(data), max(len(data) // 300, 1)):
        changed = bytearray(data)
        changed[place] ^= 0xFF
        target = tmp_path / "flipped.reenact"
        target.write_bytes(changed)
        other = LocalStore(tmp_path / f"other{place}")
        try:
            load(target)
        except RecordingError:
            pass
        try:
            id = bundle.bring(other, target)
        except RecordingError:
            continue
        assert other.load(id).step(1).args == original
