"""What is whole of a damaged recording can be kept, and says what is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import reenact
from reenact.core.store import bundle
from reenact.core.store.local import EVENTS, LocalStore, load
from reenact.errors import CorruptRecording, NotARecording


@reenact.tool
def ask(question: str) -> bytes:
    return (question * 20_000).encode("latin-1")


def agent() -> None:
    for question in ("é", "b", "c", "d"):
        ask(question)


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    with reenact.record(home=tmp_path, name="damaged") as run:
        agent()
    assert len(run.load().steps) == 4
    return LocalStore(tmp_path)


def events(store: LocalStore) -> Path:
    return store.find("last") / EVENTS


def line_of(store: LocalStore, words: bytes) -> int:
    """The number of the only line that begins so."""
    lines = events(store).read_bytes().splitlines()
    (found,) = [number for number, line in enumerate(lines, 1) if line.startswith(words)]
    return found


def flip(store: LocalStore, number: int) -> None:
    """Change one bit in the middle of a line."""
    lines = events(store).read_bytes().split(b"\n")
    line = bytearray(lines[number - 1])
    line[len(line) // 2] ^= 1
    lines[number - 1] = bytes(line)
    events(store).write_bytes(b"\n".join(lines))
    with pytest.raises(CorruptRecording, match=f"line {number}: damaged"):
        store.load("last")


def salvaged(store: LocalStore, tmp_path: Path) -> reenact.Recording:
    return load(bundle.export(store, "last", tmp_path / "kept.reenact", whole=False))


def test_an_answer_that_is_damaged_is_left_out_and_its_line_is_named(
    store: LocalStore, tmp_path: Path
) -> None:
    number = line_of(store, b'{"event":"returned","call":2,')
    flip(store, number)
    kept = salvaged(store, tmp_path)
    assert [step.call.status for step in kept] == ["ok", "in flight", "ok", "ok"]
    assert kept.step(1).output == "é".encode("latin-1") * 20_000
    assert kept.status == "ok"
    assert any(f"{EVENTS}, line {number}:" in note for note in kept.notes)


def test_what_needs_a_lost_line_is_left_out_too(store: LocalStore, tmp_path: Path) -> None:
    flip(store, line_of(store, b'{"event":"called","call":2,'))
    assert [step.call.number for step in salvaged(store, tmp_path)] == [1, 3, 4]


def test_a_removed_line_costs_the_one_after_it_which_nothing_proves(
    store: LocalStore, tmp_path: Path
) -> None:
    number = line_of(store, b'{"event":"returned","call":3,')
    lines = events(store).read_bytes().splitlines(keepends=True)
    events(store).write_bytes(b"".join(lines[: number - 1] + lines[number:]))
    assert [step.call.number for step in salvaged(store, tmp_path)] == [1, 2, 3]


def test_a_replay_of_what_was_salvaged_is_not_faithful(store: LocalStore, tmp_path: Path) -> None:
    flip(store, len(events(store).read_bytes().splitlines()))
    with reenact.replay(salvaged(store, tmp_path)) as replay:
        agent()
    assert not replay.verdict.faithful
    assert "left out" in str(replay.verdict)


def test_a_damaged_blob_is_left_out_and_named(store: LocalStore, tmp_path: Path) -> None:
    (blob,) = (path for path in store.find("last").glob("blobs/*/*"))
    blob.write_bytes(b"other")
    kept = salvaged(store, tmp_path)
    assert kept.step(2).output == b"b" * 20_000
    with pytest.raises(CorruptRecording, match="missing"):
        _ = kept.step(1).output


def test_what_is_whole_is_salvaged_whole(store: LocalStore, tmp_path: Path) -> None:
    kept = salvaged(store, tmp_path)
    assert kept.notes == ()
    assert len(kept.steps) == 4


def test_without_a_header_nothing_can_be_salvaged(store: LocalStore, tmp_path: Path) -> None:
    events(store).write_bytes(b"nonsense\n" + events(store).read_bytes())
    with pytest.raises(NotARecording, match="nothing can be salvaged"):
        salvaged(store, tmp_path)


def test_a_recording_of_format_1_is_salvaged_by_its_lines_alone(store: LocalStore, tmp_path: Path) -> None:
    shutil.rmtree(store.recordings)
    old = Path(__file__).parents[2] / "recordings" / "v1" / "order-plain"
    shutil.copytree(old, store.folder("j8taq3ns3s"))
    lines = events(store).read_bytes().split(b"\n")
    events(store).write_bytes(b"\n".join([*lines[:50], b'{"event":', *lines[51:]]))
    kept = salvaged(store, tmp_path)
    assert len(kept.steps) >= 1
    assert any("line 51:" in note for note in kept.notes)
