"""Forks of programs that use files: each has a disk of its own."""

from __future__ import annotations

import subprocess

import pytest

from tests.run.files.byhand import PRELUDE, tree

AGENT = (
    PRELUDE
    + """
say("first", None, "log", "late")
for number in range(4):
    ask(number)
    with open("log", "a") as file:
        file.write(f"{number}\\n")
    say("change", number + 1, "log")
Path("late").write_text(Path("log").read_text())
say("end", 4, "late")
"""
)


@pytest.fixture
def recorded(shell):
    shell.write("log", "begun\n")
    shell.write("agent.py", AGENT)
    _, recording = shell.record("agent.py")
    (shell.folder / "log").write_text("mine")
    (shell.folder / "late").unlink()
    return recording


def test_a_fork_has_the_files_of_its_step_and_writes_into_scratch(shell, recorded, tmp_path_factory):
    kept = tmp_path_factory.mktemp("kept") / "files"
    before = tree(shell.folder)
    done = shell.run("fork", recorded.id, "--at", "3", "--policy", "ask=live", "--keep-files", kept)
    assert done.status == 0, done.err
    assert tree(shell.folder) == before
    assert (kept / "log").read_text() == "begun\n0\n1\n2\n3\n"
    assert (kept / "late").read_text() == "begun\n0\n1\n2\n3\n"
    assert not (kept / "home").exists()


@pytest.mark.thorough
def test_forks_at_once_do_not_meet(shell, recorded, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    before = tree(shell.folder)
    started = [
        subprocess.Popen(
            shell.command(
                "fork", recorded.id, "--at", "2", "--policy", "ask=live", "--keep-files", folder / str(number)
            ),
            cwd=shell.folder,
            env=shell.environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    for process in started:
        _, err = process.communicate()
        assert process.returncode == 0, err
    assert tree(shell.folder) == before
    for number in range(3):
        assert (folder / str(number) / "log").read_text() == "begun\n0\n1\n2\n3\n"


def test_a_fork_may_run_on_ones_own_files(shell, recorded):
    shell.run("fork", recorded.id, "--at", "4", "--policy", "ask=live", "--files", "live")
    assert (shell.folder / "log").read_text() == "mine0\n1\n2\n3\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--keep-files", "home"), "it exists"),
        (("--keep-files", "new", "--files", "live"), "nothing to keep"),
    ],
)
def test_files_that_cannot_be_kept_are_refused_before_the_program_runs(shell, recorded, words, said):
    before = tree(shell.folder)
    done = shell.run("fork", recorded.id, "--at", "2", *words)
    assert done.status == 2
    assert said in done.err
    assert tree(shell.folder) == before


def test_a_fork_without_recorded_files_has_none_to_keep(shell):
    shell.write("agent.py", "import reenact\n\n@reenact.tool\ndef ask():\n    return 1\n\nask()\n")
    shell.record("agent.py")
    done = shell.run("fork", "last", "--at", "1", "--keep-files", "new")
    assert done.status == 2
    assert "has no files" in done.err
