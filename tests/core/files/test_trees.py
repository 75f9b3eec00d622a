"""The files of a recording before the run, after each step, and at the end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reenact.core.files import trees
from reenact.core.files.states import FileState
from reenact.core.model import codec
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store.local import load
from reenact.core.store.writer import Writer
from reenact.errors import CorruptRecording, StepNotFound

ROOT = "/work/project"


def _file(digit: str) -> dict[str, Any]:
    return {"kind": "file", "mode": 0o644, "size": 3, "blob": f"sha256:{digit * 64}"}


def _files(
    how: str, states: Mapping[str, Any], *, call: int | None = None, root: str = ROOT
) -> dict[str, Any]:
    return {"event": "files", "how": how, "call": call, "root": root, "states": states, "t": 0.5}


def _step(number: int) -> list[dict[str, Any]]:
    question = {
        "call": number,
        "in": None,
        "at": "main",
        "kind": "tool",
        "name": "f",
        "n": number - 1,
        "args": {},
    }
    return [
        {"event": "called", **question, "t": 0.1},
        {"event": "returned", "call": number, "value": None, "t": 0.2},
    ]


def _recording(folder: Path, *lines: Any) -> RecordedRun:
    writer = Writer(folder / "events.jsonl")
    writer.append(codec.dumps({"event": "opened", "format": 2, "id": "abcdefghij"}))
    for line in lines:
        for each in line if isinstance(line, list) else [line]:
            writer.append(codec.dumps(each))
    writer.close()
    return load(folder)


@pytest.fixture
def run(tmp_path: Path) -> RecordedRun:
    """Reads a.txt, writes it in step 1 and removes it in step 2, and makes b.txt."""
    return _recording(
        tmp_path,
        _files("first", {"a.txt": _file("a"), "b.txt": {"kind": "none"}}),
        _step(1),
        _files("change", {"a.txt": _file("b")}, call=1),
        _step(2),
        _files("first", {"late.txt": _file("c")}, call=2),
        _files("change", {"a.txt": {"kind": "none"}, "b.txt": _file("d")}, call=2),
        _files("end", {"late.txt": _file("e"), "new.txt": _file("f")}, call=2),
    )


def _letters(states: Mapping[Path, FileState]) -> dict[str, str]:
    return {str(path.relative_to(ROOT)): state.blob[7:8] for path, state in states.items()}


def test_first_states_are_those_before_the_run_touched_a_path(run: RecordedRun) -> None:
    assert _letters(trees.first_states(run)) == {"a.txt": "a", "b.txt": "", "late.txt": "c", "new.txt": ""}


def test_a_step_has_what_was_changed_before_the_next_one_began(run: RecordedRun) -> None:
    assert _letters(trees.states_at(run, 1)) == {"a.txt": "b", "b.txt": "", "late.txt": "c", "new.txt": ""}
    assert _letters(trees.states_at(run, 2)) == {"a.txt": "", "b.txt": "d", "late.txt": "e", "new.txt": "f"}


def test_the_final_states_have_all_changes(run: RecordedRun) -> None:
    assert trees.final_states(run) == trees.states_at(run, 2)


def test_the_changes_of_a_step_have_both_sides(run: RecordedRun) -> None:
    changed = trees.changed_states(run, 1)
    assert {path.name: (old.blob[7:8], new.blob[7:8]) for path, (old, new) in changed.items()} == {
        "a.txt": ("a", "b")
    }


def test_the_roots_are_named_once(run: RecordedRun) -> None:
    assert trees.roots(run) == (Path(ROOT),)
    assert trees.has_files(run)


def test_a_recording_without_files_has_none(tmp_path: Path) -> None:
    recording = _recording(tmp_path, _step(1))
    assert not trees.has_files(recording)
    assert trees.roots(recording) == ()
    assert (
        trees.first_states(recording) == trees.states_at(recording, 1) == trees.final_states(recording) == {}
    )


def test_a_step_that_is_not_there_is_named(run: RecordedRun) -> None:
    with pytest.raises(StepNotFound, match="step 7"):
        trees.states_at(run, 7)


def test_a_folder_keeps_its_names_when_it_is_seen_again(tmp_path: Path) -> None:
    folder = {"kind": "folder", "mode": 0o755}
    recording = _recording(
        tmp_path, _files("first", {"in": {**folder, "names": ["a", "b/"]}}), _files("first", {"in": folder})
    )
    assert trees.first_states(recording)[Path(ROOT, "in")].names == ("a", "b/")


def test_bytes_that_were_read_later_complete_a_state(tmp_path: Path) -> None:
    unread = {"kind": "file", "mode": 0o644, "size": 3, "why": "unread"}
    recording = _recording(
        tmp_path, _files("first", {"a": unread}), _step(1), _files("first", {"a": _file("a")}, call=1)
    )
    assert _letters(trees.states_at(recording, 1)) == {"a": "a"}


def _of_two(folder: Path, mains: list[Any], others: list[Any]) -> RecordedRun:
    """A run of two processes, of which the second began later."""
    lines = [
        {"event": "opened", "format": 2, "id": "abcdefghij", "process": "main/proc:work.0", "offset": 1.0}
    ]
    writer = Writer(folder / "events.other.jsonl")
    for line in lines + others:
        writer.append(codec.dumps(line))
    writer.close()
    return _recording(folder, *mains)


def test_what_a_later_process_finds_is_not_the_state_before_the_run(tmp_path: Path) -> None:
    names = {"kind": "folder", "mode": 0o755, "names": ["mine", "old"]}
    recording = _of_two(
        tmp_path,
        [
            _files("first", {"mine": {"kind": "none"}, "old": _file("a")}),
            # A file that is written without a step between is noted only at the end.
            {**_files("end", {"mine": _file("c"), "old": _file("d")}), "t": 3.0},
        ],
        [_files("first", {"mine": _file("b"), "old": {**_file("b"), "size": 7}, ".": names})],
    )
    first = trees.first_states(recording)
    assert _letters(first) == {"mine": "", "old": "a", ".": ""}
    assert first[Path(ROOT)].names == ("old",)


def test_a_file_that_a_command_made_did_not_exist_before_another_process_found_it(tmp_path: Path) -> None:
    command = {**_files("command", {"made": _file("b")}, call=1), "t": 5.0}
    found = {**_files("first", {"made": _file("a")}), "t": 2.0}
    plain = _of_two(tmp_path / "plain", [_step(1), command], [found])
    assert _letters(trees.first_states(plain)) == {"made": "a"}
    walked = _of_two(tmp_path / "walked", [_step(1), {**command, "since": 0.3}], [found])
    assert _letters(trees.first_states(walked)) == {"made": ""}
    assert _letters(trees.final_states(walked)) == {"made": "b"}


def test_another_process_completes_a_state_that_has_not_changed(tmp_path: Path) -> None:
    listed = {"kind": "file", "mode": 0o644, "size": 3, "mtime": 5, "why": "listed"}
    whole = {**_file("a"), "size": 3, "mtime": 5}
    recording = _of_two(tmp_path, [_files("first", {"a": listed, "b": listed})], [
        _files("first", {"a": whole, "b": {**whole, "mtime": 6}})
    ])  # fmt: skip
    assert _letters(trees.first_states(recording)) == {"a": "a", "b": ""}


@pytest.mark.parametrize(
    "name", ["../out", "/etc/passwd", "a/../../b", "a//b", "", "a/./b", "a\0b", "x" * 5000]
)
def test_a_path_that_leaves_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    recording = _recording(tmp_path, _files("first", {name: _file("a")}))
    with pytest.raises(CorruptRecording, match="does not lie within its folder"):
        trees.first_states(recording)


@pytest.mark.parametrize("root", ["relative", "", "/a/../b", "/a//b", "/a\0"])
def test_a_folder_that_is_no_absolute_path_is_refused(tmp_path: Path, root: str) -> None:
    recording = _recording(tmp_path, _files("first", {"a": _file("a")}, root=root))
    with pytest.raises(CorruptRecording, match="no absolute path"):
        trees.roots(recording)


def test_an_unknown_occasion_and_an_invalid_state_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorruptRecording, match="magic"):
        trees.first_states(_recording(tmp_path / "one", _files("magic", {"a": _file("a")})))
    with pytest.raises(CorruptRecording, match="the file 'a'"):
        trees.first_states(_recording(tmp_path / "two", _files("first", {"a": {"kind": "device"}})))


@pytest.mark.parametrize("member", ["call", "how", "root", "states"])
def test_a_line_with_a_missing_member_is_refused(tmp_path: Path, member: str) -> None:
    line = {name: value for name, value in _files("first", {}).items() if name != member}
    with pytest.raises(CorruptRecording, match=member):
        _recording(tmp_path, line)
