"""A coding agent over 50 turns in the repository of a real package: recorded, replayed, and forked with its files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

AGENT = Path(__file__).parent / "scripts" / "coding_agent.py"
TURNS, TURN = 50, 20
DATES = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
NAMES = {
    f"GIT_{who}_{what}": f"{who.lower()}@example.com"
    for who in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")]


def begin(folder: Path, environ: dict[str, str]) -> Path:
    """Make a repository of a package's source."""
    folder.mkdir()
    source = Path(str(distribution("click").locate_file("click")))
    shutil.copytree(source, folder / "click", ignore=shutil.ignore_patterns("__pycache__"))
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "Begin")):
        subprocess.run(["git", *words], cwd=folder, env=environ, check=True)
    return folder


def tree(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return each path with its kind, mode and content; of git only what it says about the repository."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if name.parts[0] == ".git" or "__pycache__" in name.parts:
            continue
        if path.is_symlink():
            found[str(name)] = ("link", str(path.readlink()))
        elif path.is_file():
            found[str(name)] = ("file", path.stat().st_mode, path.read_bytes())
    for words in (["log", "--all", "--format=%H %D %s"], ["status", "--porcelain"], ["fsck", "--strict"]):
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
        found["git " + words[0]] = (done.stdout,)
    return found


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return all files, those of git too, but its index, which git writes anew when it is asked."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.name != "index"
    }


def test_a_coding_agent_is_recorded_replayed_and_forked_in_a_repository(shell, tmp_path_factory):
    environ = {**os.environ, **DATES, **NAMES, "PYTHONDONTWRITEBYTECODE": "1"}
    shell.environ |= {**DATES, **NAMES, "PYTHONDONTWRITEBYTECODE": "1"}
    work, other = begin(shell.folder / "work", environ), tmp_path_factory.mktemp("other")
    shutil.copy(AGENT, shell.folder / "coding_agent.py")
    shell.folder = work
    done, recording = shell.record("../coding_agent.py", str(TURNS))
    assert done.status == 0, done.err
    after = bytes_of(work)
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
    assert bytes_of(work) == after

    truth = begin(other / "truth", environ)
    subprocess.run(
        [sys.executable, str(AGENT), str(TURN)], cwd=truth, env=environ, check=True, stdout=subprocess.DEVNULL
    )
    expected = tree(truth)
    asked = [step for step in recording if step.label == "model:decides"]
    fork = shell.run(
        "fork",
        recording.id,
        "--at",
        asked[TURN].number,
        "--keep-files",
        other / "kept",
        "--policy",
        "tool=refuse",
    )
    assert fork.status == 3, fork.err
    assert tree(other / "kept" / "work") == expected
    assert bytes_of(work) == after

    live = shell.run(
        "fork",
        recording.id,
        "--at",
        asked[TURN].number,
        "--policy",
        "tool=live",
        "--keep-files",
        other / "live",
    )
    assert (live.status, live.out) == (0, done.out), live.err
    assert bytes_of(work) == after
    assert tree(other / "live" / "work") == tree(work)
    assert shell.replay().status == 0
    assert shell.run("fsck").status == 0
