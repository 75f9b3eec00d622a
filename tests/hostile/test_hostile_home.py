"""A home that came with a download: pipes, devices, links and long families in it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import reenact
from reenact.core.store.check import StoreCheck
from reenact.core.store.local import LocalStore
from reenact.core.store.reading import Blobs
from reenact.core.store.shared import ancestors
from reenact.errors import CorruptRecording
from tests.hostile.forge import forge_folder, lines_of

VERBS = {
    "list": [],
    "show": ["last"],
    "fsck": [],
    "fsck --repair": ["--repair"],
    "rm": ["good", "--yes"],
    "prune": ["--keep", "1", "--yes"],
    "export --salvage": ["odd", "copy.reenact", "--salvage"],
}


@pytest.fixture
def home(tmp_path):
    """A home with a recording, `good`, in it."""
    home = tmp_path / ".reenact"
    with reenact.record(home=home) as recording:
        pass
    lines = lines_of(home / "recordings" / recording.id / "events.jsonl")
    for id in ("good", "better"):
        forge_folder(home / "recordings" / id, [{**lines[0], "id": id}, *lines[1:]])
    return home


def run(home, verb):
    words = [sys.executable, "-m", "reenact", verb.partition(" ")[0], *VERBS[verb]]
    return subprocess.run(
        words,
        env={**os.environ, "REENACT_HOME": str(home)},
        cwd=home.parent,
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.sampled
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_recording_whose_file_never_ends_holds_up_no_command(home, kind, verb):
    odd = home / "recordings" / "odd"
    odd.mkdir()
    if kind == "pipe":
        os.mkfifo(odd / "events.jsonl")
    else:
        (odd / "events.jsonl").symlink_to("/dev/zero")
    done = run(home, verb)
    assert "Traceback" not in done.stderr
    assert "good" not in verb or not (home / "recordings" / "good").exists()


def test_a_blob_that_is_a_device_is_named_as_no_file(home):
    folder = home / "recordings" / "good"
    place = folder / "blobs" / "ab" / ("ab" * 32)
    place.parent.mkdir(parents=True)
    place.symlink_to("/dev/zero")
    with pytest.raises(CorruptRecording, match="is no file"):
        Blobs(folder)(f"sha256:{'ab' * 32}")


def test_a_link_to_a_recording_elsewhere_is_deleted_and_what_it_leads_to_stays(home, tmp_path):
    (home / "recordings" / "better").rename(tmp_path / "elsewhere")
    (home / "recordings" / "better").symlink_to(tmp_path / "elsewhere")
    LocalStore(home).remove("better", why="not wanted")
    assert not (home / "recordings" / "better").is_symlink()
    assert (tmp_path / "elsewhere" / "events.jsonl").is_file()


def test_the_family_of_a_recording_is_followed_so_far_and_no_further(home):
    lines = lines_of(home / "recordings" / "good" / "events.jsonl")
    for n in range(150):
        header = {**lines[0], "id": f"r{n}", "parent": {"id": f"r{n + 1}", "step": 1, "how": "fork"}}
        forge_folder(home / "recordings" / f"r{n}", [header, *lines[1:]])
    assert len(ancestors(home / "recordings" / "r0")) < 110


def test_a_check_reads_the_header_of_each_relative_once_for_each_fork(home, monkeypatch):
    from reenact.core.store import shared

    lines = lines_of(home / "recordings" / "good" / "events.jsonl")
    for n in range(40):
        forge_folder(home / "recordings" / f"r{n}", [{**lines[0], "id": f"r{n}"}, *lines[1:]])
    read = []
    monkeypatch.setattr(shared, "ancestors", lambda folder: read.append(folder) or [])
    StoreCheck(LocalStore(home)).run()
    assert len(read) <= 3 * 43
