"""Random programs that change files, replayed on other trees: the user's files stay, and the final files are equal.

A failure names its seed. To look at it alone:

    REENACT_SOAK_SEED=<seed> pytest tests/soak/test_file_programs.py -m slow
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import stat
import sys
import time
from pathlib import Path

import pytest

from tests.soak.file_programs import FILES, FOLDERS, program
from tests.soak.tables import Screen, keep, progress, size, table

CANARY = b"CANARY-not-to-be-stored"


def start(folder: Path) -> None:
    """Make the tree that each program begins with."""
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(FILES):
        (folder / name).write_bytes(f"{name} 1\n".encode() * (number + 1))
    (folder / ".gitignore").write_text("ignored.txt\n")
    (folder / "ignored.txt").write_bytes(CANARY)
    (folder / "server.key").write_bytes(CANARY)


def clear(folder: Path) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def tree(folder: Path, *, times: bool = False) -> dict[str, tuple[object, ...]]:
    """Each path with its kind, mode and content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if "__pycache__" in name.parts:
            continue
        status = path.lstat()
        what: list[object] = [stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode)]
        if path.is_symlink():
            what = [os.readlink(path)]
        elif path.is_file():
            what.append(hashlib.sha256(path.read_bytes()).hexdigest())
            if times:
                what += [status.st_mtime_ns, status.st_ino]
        found[str(name)] = tuple(what)
    return found


def faults(shell, seed: int) -> list[str]:
    """Record a program, replay it on three trees, restore its end; return what is wrong."""
    folder, wrong = shell.folder / "work", []
    folder.mkdir(exist_ok=True)
    clear(folder)
    shutil.rmtree(shell.home, ignore_errors=True)
    start(folder)
    shell.write("work/agent.py", program(seed))
    done = shell.run("record", "--", sys.executable, "agent.py", cwd=folder)
    recording = shell.last()
    if done.status:
        return [f"recording ended with {done.status}: {done.err[-300:]}"]
    end = tree(folder)
    stored = (path.read_bytes() for path in shell.home.rglob("*") if path.is_file())
    if any(CANARY in data for data in stored):
        wrong.append("an ignored file was stored")
    for name, change in (("its end", None), ("its start", start), ("nothing", lambda _: None)):
        if change is not None:
            clear(folder)
            change(folder)
        shell.write("work/agent.py", program(seed))
        before = tree(folder, times=True)
        again = shell.replay(cwd=folder)
        if tree(folder, times=True) != before:
            wrong.append(f"a replay on {name} changed the user's tree")
        if again.status or again.out != done.out:
            wrong.append(f"a replay on {name}: {' '.join(again.err.split())[-400:]}")
    wrong += _restored(shell, recording, end)
    script = program(seed) + "open('one-more.txt', 'w').write('x')\n"
    clear(folder)
    start(folder)
    shell.write("work/agent.py", script)
    if not shell.replay(cwd=folder).status:
        wrong.append("a replay that leaves one more file is faithful")
    return wrong


def _restored(shell, recording, end) -> list[str]:
    out = shell.folder / "trees"
    shutil.rmtree(out, ignore_errors=True)
    done = shell.run("files", recording.id, "--out", out)
    if not out.exists():
        return [] if "no files" in done.err else [f"files --out: {done.err[-200:]}"]
    found = tree(out)
    return [
        f"restored: {name} is {state}, and was {end.get(name)}"
        for name, state in found.items()
        if name in end and state != end[name] and stat.S_IFDIR not in state
    ] + [f"restored: {name} was not there" for name in found if name not in end]


@pytest.mark.parametrize("seed", [3, pytest.param(11, marks=pytest.mark.thorough)])
def test_a_few_random_programs_leave_the_users_files_and_end_equal(shell, seed):
    assert faults(shell, seed) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_random_programs_leave_the_users_files_and_end_equal(shell):
    one = os.environ.get("REENACT_SOAK_SEED")
    seeds = [int(one)] if one else range(size(500, 10))
    began, found = time.monotonic(), {}
    for seed in progress(seeds, len(seeds), "programs that change files"):
        if wrong := faults(shell, seed):
            found[seed] = wrong
            Screen.show(f"seed {seed}: {wrong}\n")
    row = {
        "programs": len(seeds),
        "replays": 4 * len(seeds),
        "wrong": len(found),
        "seconds": time.monotonic() - began,
    }
    table("random programs that change files", [row])
    keep("soak", {"files": row})
    assert found == {}


def test_generated_programs_differ():
    assert len({program(seed) for seed in random.Random(1).sample(range(1000), 20)}) == 20
