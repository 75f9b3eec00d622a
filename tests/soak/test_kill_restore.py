"""`kill -9` while files are restored, by a fork, a resumption or `files --out`: nothing is lost, `prune` finds the rest."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.conftest import Shell
from tests.run.files.byhand import tree
from tests.soak.tables import keep, progress, size, table

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

FILES = 150

PROGRAM = f"""
import os
from pathlib import Path
import reenact

@reenact.tool(writes=False)
def look(number):
    return number * 7

for turn in range(6):
    for number in range(turn, {FILES}, 3):
        path = Path("work", f"f{{number}}")
        path.write_text(path.read_text() + f" {{turn}}:{{look(turn)}}")
    if turn == 3 and os.path.exists("die"):
        os.kill(os.getpid(), 9)
Path("work/ended").write_text("ended")
"""


def killed(shell, own, words, after):
    """Start a command and kill it, with all that it has started; return its exit status."""
    process = subprocess.Popen(
        shell.command(*words), cwd=shell.folder, env={**shell.environ, "TMPDIR": str(own)},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        return process.wait(after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def done(shell, own, *words, or_said=None):
    """Run a command to its end; `or_said` is a refusal that is right as well."""
    found = subprocess.run(
        shell.command(*words), cwd=shell.folder, env={**shell.environ, "TMPDIR": str(own)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    refused = or_said is not None and found.returncode == 2 and or_said in found.stderr
    assert refused or found.returncode == 0, found.stdout + found.stderr


def prepared(folder, *, dies):
    """Return a terminal in a folder with a recording of the program, and its files as they were before."""
    folder.mkdir()
    shell = Shell(folder)
    shell.write("agent.py", PROGRAM)
    (folder / "work").mkdir()
    for number in range(FILES):
        shell.write(f"work/f{number}", f"file {number}")
    if dies:
        (folder / "die").touch()
    subprocess.run(
        shell.command("record", "--", sys.executable, "agent.py"), cwd=folder, env=shell.environ, capture_output=True,
        check=not dies,
    )  # fmt: skip
    (folder / "die").unlink(missing_ok=True)
    return shell


def left(own):
    """Return what lies in the scratch folders."""
    return [path for path in own.rglob("*") if path.parent != own]


@pytest.mark.parametrize(
    "words",
    [("fork", "last", "--at", "100"), ("files", "last", "60", "--out", "out")],
    ids=["fork", "files --out"],
)
def test_a_killed_fork_or_restoration_loses_nothing(tmp_path, words):
    rounds = size(200, 6)
    shell, own = prepared(tmp_path / "run", dies=False), tmp_path / "own"
    own.mkdir()
    first = os.listdir(shell.home / "recordings")[0]
    words = (words[0], first, *words[2:])
    began = time.perf_counter()
    done(shell, own, *words)
    longest = time.perf_counter() - began
    whole = tree(shell.folder / "out") if words[0] == "files" else {}
    shutil.rmtree(shell.folder / "out", ignore_errors=True)
    before, kills = tree(shell.folder / "work"), 0
    chance = random.Random(words[0])
    for _ in progress(range(rounds), rounds, f"kill -9 of {words[0]}"):
        kills += killed(shell, own, words, chance.random() * longest) < 0
        assert tree(shell.folder / "work") == before
        if (shell.folder / "out").exists():
            assert tree(shell.folder / "out") == whole
            shutil.rmtree(shell.folder / "out")
    done(shell, own, *words)
    if whole:
        assert tree(shell.folder / "out") == whole
        assert [path.name for path in shell.folder.iterdir() if "part" in path.name] == []
    done(shell, own, "prune", "--keep", "10000")
    assert left(own) == []
    done(shell, own, "replay", first)
    _told(words[0], rounds, kills)


def test_a_killed_resumption_can_be_resumed(tmp_path):
    rounds = size(200, 6)
    start, own = prepared(tmp_path / "start", dies=True), tmp_path / "own"
    own.mkdir()
    # One place for all copies: a recording names the folder of its files.
    kept = start.folder.rename(tmp_path / "kept")
    shutil.copytree(kept, start.folder)
    began = time.perf_counter()
    done(start, own, "resume", "last")
    longest, chance, kills = time.perf_counter() - began, random.Random("resume"), 0
    expected = tree(start.folder / "work")
    assert "ended" in expected
    for _ in progress(range(rounds), rounds, "kill -9 of resume"):
        shutil.rmtree(start.folder)
        shutil.copytree(kept, start.folder)
        if killed(start, own, ("resume", "last"), chance.random() * longest) < 0:
            kills += 1
            # The last moments of a process come after the end of its recording.
            done(start, own, "resume", "last", or_said="has ended (ok)")
        assert tree(start.folder / "work") == expected
    done(start, own, "prune", "--keep", "10000")
    assert left(own) == []
    _told("resume", rounds, kills)


def _told(verb, rounds, kills):
    row = {"rounds": rounds, "killed before their end": kills, "lost": 0}
    table(f"kill -9 of {verb} while it restores files", [row])
    keep("kill", {f"restore {verb}": row})
