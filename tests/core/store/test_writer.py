"""Whatever happens to the disk, the program goes on, what was written stays, and the hole is stamped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import reenact
from reenact.core import system
from reenact.core.store.chain import chained
from reenact.core.store.writer import Writer
from tests.conftest import Shell
from tests.systems import POSIX


@reenact.tool
def fetch(number: int) -> str:
    """A tool with an answer of a kilobyte."""
    return f"{number}" * 1000


def run_agent(count: int) -> list[str]:
    return [fetch(number % 10) for number in range(count)]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if not system.is_root() or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system can only be mounted by root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def test_a_full_disk_costs_the_recording_its_rest_and_the_agent_nothing(
    small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with reenact.record(home=small_disk) as run:
        answers = run_agent(200)
    assert answers == run_agent(200)
    recording = run.load()
    assert 0 < len(recording.steps) < 200
    assert any("recording stopped here: No space left on device" in note for note in recording.notes)
    warnings = [line for line in capsys.readouterr().err.splitlines() if "recording stopped" in line]
    assert len(warnings) == 1


def test_a_full_disk_leaves_no_torn_line(small_disk: Path) -> None:
    with reenact.record(home=small_disk) as run:
        run_agent(200)
    assert run.load().torn == ()


def test_what_was_recorded_before_the_disk_was_full_replays(small_disk: Path) -> None:
    with reenact.record(home=small_disk) as run:
        run_agent(200)
    recording = run.load()
    with pytest.raises(reenact.DivergenceError, match="cut off") as caught, reenact.replay(recording):
        run_agent(200)
    assert (caught.value.divergence.step or 0) >= len(recording.steps)


@POSIX
def test_a_disk_that_is_full_from_the_beginning_keeps_no_empty_recording(
    small_disk: Path, shell: Shell
) -> None:
    home = str(small_disk)
    shell.write("agent.py", "import reenact\n\n@reenact.tool\ndef look():\n    return 1\n\nprint(look())\n")
    assert shell.run("record", "--home", home, "--", sys.executable, "agent.py").status == 0
    [kept] = os.listdir(small_disk / "recordings")
    assert shell.run("label", kept, "good", "--home", home).status == 0
    exported = str(shell.folder / "run.reenact")
    assert shell.run("export", kept, "-o", exported, "--home", home).status == 0
    with pytest.raises(OSError, match="No space"), (small_disk / "fill").open("wb", 0) as fill:
        while True:
            fill.write(b"x" * 512)
    said = {
        ("record", "--", sys.executable, "agent.py"): "cannot be written",
        ("fork", kept, "--at", "1"): "cannot be written",
        ("label", kept, "slow"): "cannot be labelled: it cannot be written here: No space left on device",
        ("import", exported, "--home", f"{home}/other"): "was not imported: No space left on device",
    }
    for words, why in said.items():
        done = shell.run(*words[:1], *(() if "--home" in words else ("--home", home)), *words[1:])
        assert done.status == 2, done.err
        assert why in done.err.splitlines()[-1]
        assert "no header" not in done.err
    assert os.listdir(small_disk / "recordings") == [kept]


def test_a_folder_deleted_in_mid_run_is_put_back_with_all_events(
    home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with reenact.record() as run:
        run_agent(3)
        shutil.rmtree(home)
        run_agent(3)
    recording = run.load()
    assert len(recording.steps) == 6
    assert any("deleted during the run" in note for note in recording.notes)
    assert capsys.readouterr().err.count("was deleted while it was written") == 1


def test_a_folder_that_cannot_be_written_is_replaced_by_another_with_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("HOME", str(tmp_path))
    with reenact.record(home=tmp_path / "file") as run:
        answers = run_agent(2)
    assert len(answers) == 2
    assert len(run.load().steps) == 2
    assert "recording to" in capsys.readouterr().err


def test_where_nothing_can_be_written_the_agent_runs_unrecorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("USERPROFILE" if sys.platform == "win32" else "HOME", str(tmp_path / "file"))
    with reenact.record(home=tmp_path / "file"):
        assert len(run_agent(2)) == 2
    assert "nothing is recorded" in capsys.readouterr().err


def test_an_argument_that_does_not_serialise_leaves_a_hole_and_the_agent_unharmed(
    home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    class Handle:
        def __repr__(self) -> str:
            raise RuntimeError("even its repr fails")

    @reenact.tool
    def use(handle: object) -> int:
        return 7

    with reenact.record() as run:
        assert [use(Handle()), use(Handle())] == [7, 7]
    assert any("could not be kept" in note for note in run.load().notes)
    assert capsys.readouterr().err.count("could not be recorded") == 1


@POSIX
def test_events_and_folders_can_be_read_by_their_owner_alone(home: str) -> None:
    with reenact.record() as run:
        run_agent(1)
    assert os.stat(run.path).st_mode & 0o077 == 0
    assert os.stat(os.path.join(run.path, "events.jsonl")).st_mode & 0o077 == 0


def test_nothing_is_written_after_closing(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "events.jsonl")
    assert writer.append(b'{"event":"noted"}')
    writer.close()
    writer.close()
    assert not writer.append(b'{"event":"noted"}')
    assert (tmp_path / "events.jsonl").read_bytes() == chained([b'{"event":"noted"}'])


def test_nothing_is_written_between_a_signature_and_the_line_that_it_signs(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "events.jsonl")
    finalised = []

    def sign(_: str) -> dict[str, str]:
        # A finaliser of the program's runs in the middle: it closes a stream of which the recording has the beginning.
        finalised.append(writer.append(b'{"event":"closed"}'))
        return {"key": "k"}

    assert writer.seal(b'{"event":"sealed"}', sign)
    assert finalised == [False]
    assert b"closed" not in (tmp_path / "events.jsonl").read_bytes()
    assert b'"sealed","signed":{"key":"k"}' in (tmp_path / "events.jsonl").read_bytes()
