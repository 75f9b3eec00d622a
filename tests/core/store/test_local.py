"""Recordings are found by id, prefix, `last` or path; whatever else is there is refused with a line that helps."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

import reenact
from reenact.core.store.local import LocalStore
from reenact.errors import (
    AmbiguousRecording,
    CorruptRecording,
    FutureFormat,
    NotARecording,
    RecordingNotFound,
)
from tests.hostile.forge import forge_folder


@reenact.tool
def fetch(number: int) -> int:
    """A tool."""
    return number


@pytest.fixture
def path(home: str) -> Path:
    with reenact.record("one", tags=["a"]) as run:
        fetch(1)
        fetch(2)
    return Path(run.path)


def test_a_recording_is_found_by_id_prefix_last_and_path(path: Path) -> None:
    found = [
        reenact.load(ref).id for ref in (path.name, path.name[:4], "last", path, str(path / "events.jsonl"))
    ]
    assert found == [path.name] * 5


def test_last_is_no_recording_that_another_process_still_writes(path: Path) -> None:
    store = LocalStore()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        for name, pid in (("unfinished", other.pid), ("own", os.getpid())):
            forge_folder(store.folder(name), [{"event": "opened", "format": 2, "id": name, "pid": pid}])
        os.utime(store.folder("unfinished") / "events.jsonl", (2**31, 2**31))
        assert reenact.load("last").id == "own"
        os.utime(store.folder("own") / "events.jsonl", (0, 0))
        assert reenact.load("last").id == path.name
        other.communicate(b"\n")


def test_last_skips_a_folder_whose_events_are_empty_with_a_word(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = LocalStore().folder("empty") / "events.jsonl"
    empty.parent.mkdir()
    empty.touch()
    os.utime(empty, (2**31, 2**31))
    assert reenact.load("last").id == path.name
    assert reenact.load("last").id == path.name
    assert capsys.readouterr().err == "reenact: empty is skipped: its events.jsonl is empty\n"


def test_a_recording_knows_its_name_tags_status_and_steps(path: Path) -> None:
    recording = reenact.load(path)
    assert (recording.name, recording.tags, recording.status) == ("one", ("a",), "ok")
    assert [(step.number, step.call.label, step.args, step.output) for step in recording] == [
        (1, "tool:fetch", {"number": 1}, 1),
        (2, "tool:fetch", {"number": 2}, 2),
    ]


def test_a_step_that_does_not_exist_is_refused_with_the_range(path: Path) -> None:
    with pytest.raises(LookupError, match="go from 1 to 2"):
        reenact.load(path).step(3)


def test_an_ambiguous_prefix_lists_what_it_may_be(home: str) -> None:
    store = LocalStore()
    for name in ("abc1", "abc2"):
        with reenact.record() as run:
            pass
        Path(run.path).rename(store.folder(name))
    with pytest.raises(AmbiguousRecording, match=r"abc1.*abc2|abc2.*abc1"):
        reenact.load("abc")


def test_an_unknown_id_says_how_to_see_those_there_are(path: Path) -> None:
    with pytest.raises(RecordingNotFound, match="`reenact list`"):
        reenact.load("nosuch")


def test_a_name_in_place_of_an_id_leads_to_the_newest_recording_of_that_name(home: str) -> None:
    for _ in range(2):
        with reenact.record("graph") as run:
            pass
    with pytest.raises(RecordingNotFound, match=rf"with this name is {run.id} \(`reenact list name:graph`"):
        reenact.load("graph")


def test_a_number_behind_last_names_an_earlier_recording(home: str) -> None:
    made = []
    for name in ("one", "two", "three"):
        with reenact.record(name) as recording:
            made.append(recording.id)
    assert [reenact.load(ref).id for ref in ("last~2", "last~1", "last~0", "last")] == [*made, made[-1]]
    with pytest.raises(
        RecordingNotFound, match=r"no recording 'last~3' in .*: it has 3; `reenact list` shows"
    ):
        reenact.load("last~3")
    for other in ("last~", "last~x", "last~1~1", "last~-1", "last~٣"):
        with pytest.raises(RecordingNotFound, match="no recording '"):
            reenact.load(other)


def test_last_is_the_newest_even_where_a_recording_is_called_so(path: Path) -> None:
    store = LocalStore(path.parents[1])
    forge_folder(store.folder("last"), [{"event": "opened", "format": 2, "id": "last"}])
    os.utime(store.folder("last") / "events.jsonl", (0, 0))
    assert store.find("last") == path


def test_last_without_any_recording_says_how_to_make_one(home: str) -> None:
    with pytest.raises(RecordingNotFound, match="`reenact record"):
        reenact.load("last")


def test_a_path_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordingNotFound, match="does not exist"):
        reenact.load(tmp_path / "nothing")


@pytest.mark.parametrize(
    "content", [b"hello\n", b'{"a": 1}\n', b"[]\n", b"\x00\xff\n", b'{"event":"called"}\n']
)
def test_a_file_of_another_kind_is_no_recording(path: Path, content: bytes) -> None:
    (path / "events.jsonl").write_bytes(content)
    with pytest.raises(NotARecording, match="is no recording"):
        reenact.load(path)


def test_an_empty_events_file_is_no_recording(path: Path) -> None:
    (path / "events.jsonl").write_bytes(b"")
    with pytest.raises(NotARecording, match="no header"):
        reenact.load(path)


def test_a_folder_without_events_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(NotARecording, match=r"no events\.jsonl"):
        reenact.load(tmp_path)


def test_a_torn_last_line_is_left_out_with_a_word(path: Path) -> None:
    events = path / "events.jsonl"
    events.write_bytes(events.read_bytes()[:-20])
    recording = reenact.load(path)
    assert recording.status == "unsealed"
    assert len(recording.steps) == 2
    assert "torn" in recording.notes[0]


def test_a_damaged_line_in_the_middle_is_named(path: Path) -> None:
    events = path / "events.jsonl"
    lines = events.read_bytes().split(b"\n")
    lines[2] = lines[2][:10]
    events.write_bytes(b"\n".join(lines))
    with pytest.raises(CorruptRecording, match="line 3"):
        reenact.load(path)


def test_a_recording_from_the_future_is_refused_with_the_way_out(path: Path) -> None:
    events = path / "events.jsonl"
    first, _, rest = events.read_bytes().partition(b"\n")
    header = orjson.loads(first)
    header["format"] = 99
    events.write_bytes(orjson.dumps(header) + b"\n" + rest)
    with pytest.raises(FutureFormat, match="format 99.*upgrade"):
        reenact.load(path)


def test_only_recordings_of_the_store_can_be_removed_by_name(path: Path, tmp_path: Path) -> None:
    assert LocalStore().remove(path.name) == path.name
    assert not path.exists()
