"""What a fork shares with its parent, as it lies on the disk."""

from __future__ import annotations

import json
import os
import shutil

import pytest

import reenact
from reenact.core.store import shared
from reenact.core.store.local import LocalStore
from reenact.errors import CorruptRecording, UsageError

pytestmark = pytest.mark.usefixtures("home")

LARGE = 200_000


@reenact.tool
def look(number):
    return os.urandom(LARGE) if number == 0 else number


def program():
    return [look(number) for number in range(4)]


@pytest.fixture
def store(home):
    return LocalStore(home)


@pytest.fixture
def parent(home):
    with reenact.record("parent") as recording:
        program()
    return recording.load()


def sizes(folder):
    return sum(
        os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(folder) for name in names
    )


def rewrite(recording, change):
    path = os.path.join(recording.path, "events.jsonl")
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    with open(path, "wb") as file:
        file.write(b"\n".join(change(lines)))


def test_a_large_answer_is_not_stored_again_and_yet_read(parent):
    child = parent.fork(at=3, program=program)
    assert sizes(child.path) < LARGE / 4
    assert child.step(1).output == parent.step(1).output


def test_made_whole_it_is_read_without_its_parent(parent, store):
    grandchild = parent.fork(at=3, program=program).fork(at=4, program=program)
    before = [step.output for step in grandchild]
    shared.flatten(store.folder(grandchild.id))
    shutil.rmtree(store.root / "recordings" / parent.id)
    assert [step.output for step in reenact.load(grandchild.id)] == before
    assert not shared.shares(store.folder(grandchild.id))


def test_it_is_no_newer_for_having_been_made_whole(parent, store):
    child = parent.fork(at=3, program=program)
    later = parent.fork(at=3, program=program)
    shared.flatten(store.folder(child.id))
    assert store.ids()[0] == later.id


def test_a_deleted_parent_leaves_nothing_lost_down_to_its_grandchildren(parent, store):
    child = parent.fork(at=3, program=program)
    grandchild = child.fork(at=4, program=program)
    before = [step.output for step in grandchild]
    store.remove(parent.id)
    assert [step.output for step in reenact.load(grandchild.id)] == before
    store.remove(child.id)
    assert [step.output for step in reenact.load(grandchild.id)] == before


def test_a_fork_that_still_runs_keeps_its_parent(parent, store):
    with reenact.fork(parent, at=2) as fork:
        look(0)
        with pytest.raises(UsageError, match=f"{fork.id} is a fork of {parent.id} and still runs"):
            store.remove(parent.id)
        [look(number) for number in (1, 2, 3)]
    assert len(reenact.load(fork.id).steps) == 4


def test_a_line_that_the_parent_has_lost_is_named(parent):
    child = parent.fork(at=3, program=program)
    rewrite(parent, lambda lines: lines[:3])
    with pytest.raises(CorruptRecording, match="of its parent is missing"):
        reenact.load(child.id)


def test_recordings_that_name_each_other_as_parents_are_no_endless_loop(parent):
    child = parent.fork(at=3, program=program)

    def looped(lines):
        header = {**json.loads(lines[0]), "parent": {"id": child.id, "step": 1, "how": "fork"}}
        return [json.dumps(header).encode(), shared.reference(2), *lines[2:]]

    rewrite(parent, looped)
    with pytest.raises(CorruptRecording):
        reenact.load(child.id)


def test_a_reference_in_a_recording_without_a_parent_is_damage(parent):
    rewrite(parent, lambda lines: [*lines[:4], shared.reference(2), *lines[4:]])
    with pytest.raises(CorruptRecording, match="refers to a parent that its header does not name"):
        reenact.load(parent.id)


def test_a_torn_last_reference_is_left_out_with_a_word(parent):
    child = parent.fork(at=3, program=program)
    rewrite(child, lambda lines: [*lines[:5], b'{"event":"same","li'])
    read = reenact.load(child.id)
    assert "torn" in " ".join(read.notes)
    assert read.status == "unsealed"


def test_the_origins_of_a_store_are_known_without_reading_it_all(parent, store):
    child = parent.fork(at=3, program=program)
    assert shared.origins(store.recordings) == {child.id: shared.Parentage(parent.id, 3, "fork")}


def test_a_fork_that_repeats_a_line_of_its_parent_many_times_is_refused(tmp_path, monkeypatch):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "events.jsonl").write_bytes(b'{"event":"opened"}\n' + b"x" * 1000 + b"\n")
    header = b'{"event":"opened","parent":{"id":"one","step":1,"how":"fork"}}'
    twice = b"\n".join([header, *[shared.reference(2)] * 2])
    assert len(shared.whole(twice, tmp_path / "two")) > 2000
    monkeypatch.setattr(shared, "_LEAST", 100)
    with pytest.raises(CorruptRecording, match=r"line 4: it repeats its parent's lines many times"):
        shared.whole(b"\n".join([twice, shared.reference(2)]), tmp_path / "two")
