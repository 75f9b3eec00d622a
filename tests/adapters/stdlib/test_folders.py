"""A folder is listed in the same order in each run, on each file system."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import reenact

NAMES = [f"{number * 7919 % 1000:03}.txt" for number in range(200)]

LISTS: dict[str, Callable[[Path], list[str]]] = {
    "os.listdir": lambda folder: [*os.listdir(folder)],
    "os.listdir of bytes": lambda folder: [os.fsdecode(name) for name in os.listdir(os.fsencode(folder))],
    "os.scandir": lambda folder: [entry.name for entry in os.scandir(folder)],
    "os.walk": lambda folder: next(os.walk(folder))[2],
    "Path.iterdir": lambda folder: [path.name for path in folder.iterdir()],
    "Path.glob": lambda folder: [path.name for path in folder.glob("*.txt")],
    "Path.rglob": lambda folder: [path.name for path in folder.rglob("*.txt")],
    "glob.glob": lambda folder: [Path(path).name for path in glob.glob(f"{folder}/*.txt")],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with many files."""
    made = tmp_path / "many"
    made.mkdir()
    for name in NAMES:
        (made / name).touch()
    return made


@pytest.mark.sampled
@pytest.mark.parametrize("names", LISTS.values(), ids=LISTS)
def test_names_come_in_their_order_in_a_run(
    home: str, folder: Path, names: Callable[[Path], list[str]]
) -> None:
    with reenact.record() as run:
        recorded = names(folder)
    assert recorded == sorted(NAMES)
    with reenact.replay(run.id) as replay:
        assert names(folder) == recorded
    assert replay.verdict.faithful


def test_without_a_run_the_order_is_the_file_system_s(folder: Path) -> None:
    assert sorted(os.listdir(folder)) == sorted(NAMES)
    with os.scandir(folder) as entries:
        assert type(entries).__module__ == "posix"


def test_a_listing_can_be_left_and_is_over_then(home: str, folder: Path) -> None:
    with reenact.record(), os.scandir(folder) as entries:
        assert next(entries).name == min(NAMES)
        entries.close()
        assert list(entries) == []


def test_folders_are_copied_and_removed(home: str, tmp_path: Path) -> None:
    (tmp_path / "from" / "sub").mkdir(parents=True)
    (tmp_path / "from" / "sub" / "a").touch()
    with reenact.record():
        shutil.copytree(tmp_path / "from", tmp_path / "to")
        shutil.rmtree(tmp_path / "from")
    assert (tmp_path / "to" / "sub" / "a").exists()
    assert not (tmp_path / "from").exists()
