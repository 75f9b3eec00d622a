"""A tree is restored whole or not at all, and never outside of its folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from reenact.core.files.restore import PART, restore
from reenact.core.files.states import FileState
from reenact.errors import CorruptRecording, UsageError
from tests.systems import POSIX

ROOT = Path("/work/project")
ADDRESS = f"sha256:{'0' * 64}"


def _restored(into: Path, states: Mapping[str, FileState]) -> list[Path]:
    return restore(
        {ROOT / name: state for name, state in states.items()},
        into,
        relative_to=ROOT,
        blobs=lambda _: b"text",
    )


def _file(mode: int = 0o644) -> FileState:
    return FileState("file", mode, 4, blob=ADDRESS)


@POSIX
def test_files_folders_links_and_modes_are_restored(tmp_path: Path) -> None:
    into = tmp_path / "deep" / "out"
    _restored(
        into,
        {
            "a.txt": _file(0o640),
            "tool.sh": _file(0o755),
            "empty": FileState("folder", 0o700),
            "closed": FileState("folder", 0o500),
            "closed/in.txt": _file(),
            "some/where/else.txt": _file(),
            "link": FileState("link", 0o777, target="a.txt"),
            "gone.txt": FileState("none"),
        },
    )
    assert sorted(str(path.relative_to(into)) for path in into.rglob("*")) == [
        "a.txt", "closed", "closed/in.txt", "empty", "link", "some", "some/where", "some/where/else.txt", "tool.sh",
    ]  # fmt: skip
    assert (into / "link").read_text() == "text"
    modes = {name: (into / name).stat().st_mode & 0o777 for name in ("a.txt", "tool.sh", "empty", "closed")}
    assert modes == {"a.txt": 0o640, "tool.sh": 0o755, "empty": 0o700, "closed": 0o500}
    assert [path.name for path in into.parent.iterdir()] == ["out"]


def test_files_whose_bytes_are_not_kept_are_named(tmp_path: Path) -> None:
    missing = _restored(
        tmp_path / "out", {".env": FileState("file", 0o600, 9, print="ab", why="ignored"), "a": _file()}
    )
    assert missing == [ROOT / ".env"]
    assert not (tmp_path / "out" / ".env").exists()


def test_paths_of_other_folders_are_left_out(tmp_path: Path) -> None:
    restore(
        {Path("/etc/passwd"): _file(), ROOT: FileState("folder", 0o755)},
        tmp_path / "out",
        relative_to=ROOT,
        blobs=lambda _: b"",
    )
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("above", [FileState("link", 0o777, target="/tmp"), _file()])
def test_nothing_is_written_through_a_link_or_a_file(tmp_path: Path, above: FileState) -> None:
    with pytest.raises(CorruptRecording, match="said to lie in 'out'"):
        _restored(tmp_path / "into", {"out": above, "out/file.txt": _file()})
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_leaves_its_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorruptRecording, match="does not lie within its folder"):
        _restored(tmp_path / "into", {"a/../../../out": _file()})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_files_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty; name a new folder"):
        _restored(tmp_path, {"a": _file()})
    assert (tmp_path / "mine.txt").read_text() == "mine"


@POSIX
def test_an_empty_folder_is_taken_and_a_link_to_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    _restored(tmp_path / "out", {"a": _file()})
    assert (tmp_path / "out" / "a").exists()
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(UsageError, match="not empty"):
        _restored(tmp_path / "link", {"a": _file()})


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        _restored(tmp_path / "file" / "out", {"a": _file()})


def test_bytes_that_are_missing_leave_nothing(tmp_path: Path) -> None:
    def missing(address: str) -> bytes:
        raise CorruptRecording("blob is missing")

    with pytest.raises(CorruptRecording, match="missing"):
        restore({ROOT / "a": _file()}, tmp_path / "out", relative_to=ROOT, blobs=missing)
    assert list(tmp_path.iterdir()) == []


_KILLED = """
    import os, signal, sys
    from pathlib import Path
    from reenact.core.files.restore import restore
    from reenact.core.files.states import FileState

    seen = 0
    def blobs(address):
        global seen
        seen += 1
        if seen == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return b"text"

    root = Path("/work/project")
    states = {root / f"{n}.txt": FileState("file", 0o644, 4, blob="sha256:" + "0" * 64) for n in range(6)}
    restore(states, Path(sys.argv[1]), relative_to=root, blobs=blobs)
"""


@POSIX
@pytest.mark.sampled
@pytest.mark.parametrize("killed_at", [1, 4, 6])
def test_a_killed_restoration_leaves_no_target_and_the_next_one_removes_its_remains(
    tmp_path: Path, killed_at: int
) -> None:
    into = tmp_path / "out"
    into.mkdir()
    command = [sys.executable, "-c", textwrap.dedent(_KILLED), str(into)]
    killed = subprocess.run([*command, str(killed_at)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert list(into.iterdir()) == []
    # Where no folder can be locked, there is a lock file beside it.
    assert {path.name.startswith(PART) for path in tmp_path.iterdir() if path != into} == {True}
    subprocess.run([*command, "0"], check=True)
    assert sorted(os.listdir(tmp_path)) == ["out"]
    assert len(list(into.iterdir())) == 6
