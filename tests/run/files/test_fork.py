"""Forks of programs that use files: each has a disk of its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import reenact
from reenact.core.files.trees import final_states
from reenact.core.store.local import LocalStore
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


@pytest.mark.thorough
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


def kept_by(shell, folder, *words):
    """Fork with these words, keep the files, and return the fork's id."""
    done = shell.run("fork", *words, "--keep-files", folder)
    assert done.status in (0, 3), done.err
    return shell.last().id


def test_what_a_fork_changes_is_recorded_with_it(shell, recorded, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    fork = kept_by(shell, folder / "one", recorded.id, "--at", "3", "--policy", "ask=live")
    assert shell.run("replay", fork).status == 0
    shell.run("files", fork, "--out", folder / "end")
    assert {path.read_text() for path in (folder / "end").rglob("log")} == {"begun\n0\n1\n2\n3\n"}
    kept_by(shell, folder / "two", fork, "--at", "4", "--policy", "ask=refuse")
    assert (folder / "two" / "log").read_text() == "begun\n0\n1\n2\n"


READS_LATE = """
    import os, reenact

    @reenact.tool(writes=False)
    def ask(number):
        return number

    os.listdir("data")
    if ask(1) == ask(2):
        print(open("data/note").read())
    else:
        ask(3)
        print(open("data/late").read())
"""


@pytest.mark.thorough
def test_a_fork_of_a_fork_has_the_files_that_the_first_recording_used_later(shell, tmp_path_factory):
    shell.write("data/late", "as it was")
    shell.write("agent.py", READS_LATE)
    _, recording = shell.record("agent.py")
    (shell.folder / "data" / "late").write_text("changed and longer")
    folder = tmp_path_factory.mktemp("kept")
    fork = kept_by(shell, folder / "one", recording.id, "--at", "2", "--policy", "ask=refuse")
    kept_by(shell, folder / "two", fork, "--at", "2", "--policy", "ask=refuse")
    for name in ("one", "two"):
        assert (folder / name / "data" / "late").read_text() == "as it was"


@pytest.mark.thorough
def test_a_fork_names_the_files_that_it_has_read_whose_bytes_are_not_recorded(shell):
    shell.write("data/note", "never read")
    shell.write("data/late", "late")
    shell.write("agent.py", READS_LATE)
    _, recording = shell.record("agent.py")
    (shell.folder / "data" / "note").write_text("changed and longer")
    done = shell.run("fork", recording.id, "--at", "2", "--set", "output=1")
    assert done.status == 0, done.err
    assert "data/note is not as it was, and its bytes are not recorded" in done.err
    shell.write("data/note", "never read")
    again = shell.run("fork", recording.id, "--at", "2", "--set", "output=1")
    assert (again.status, again.out) == (0, "never read\n")


def test_a_fork_names_a_file_that_a_command_has_changed_before_it_was_read(shell):
    """Its bytes were not held: it is too large for that."""
    shell.write("data/note", "x" * 300_000)
    shell.write("data/late", "late")
    shell.write(
        "agent.py",
        READS_LATE + "\n    import subprocess\n    subprocess.run('echo more >> data/note', shell=True)",
    )
    _, recording = shell.record("agent.py")
    done = shell.run("fork", recording.id, "--at", "2", "--set", "output=1")
    assert done.status == 0, done.err
    assert done.out.strip("\0\n") == ""
    assert "data/note is not as it was, and its bytes are not recorded" in done.err


def test_files_are_kept_inside_of_the_programs_own_folder(shell, recorded):
    (shell.folder / "work").mkdir()
    done = shell.run("fork", recorded.id, "--at", "3", "--policy", "ask=live", "--keep-files", "work/../kept")
    assert done.status == 0, done.err
    assert (shell.folder / "kept" / "log").read_text() == "begun\n0\n1\n2\n3\n"
    assert not (shell.folder / "kept" / "kept").exists()


@reenact.tool(writes=False)
def ask(number):
    return number


def noted():
    log = Path("log")
    for number in range(3):
        ask(number)
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{number}\n")
    Path("made").mkdir()
    log.rename("made/log")
    return Path("made/log").read_text(encoding="utf-8")


def test_a_block_s_fork_records_what_it_changes(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("log").write_text("begun\n", encoding="utf-8")
    with reenact.record() as recording:
        noted()
    shutil.rmtree("made")
    Path("log").write_text("mine", encoding="utf-8")
    with reenact.fork(recording.id, at=2, policy=["ask=live"]) as fork:
        text = noted()
    assert text == "begun\n0\n1\n2\n"
    assert Path("log").read_text(encoding="utf-8") == "mine"
    states = final_states(LocalStore(home).load(fork.id))
    assert states[tmp_path / "log"].kind == "none"
    assert states[tmp_path / "made" / "log"].size == len(text)
    with reenact.replay(fork.id) as again:
        assert noted() == text
    assert again.verdict.faithful
    assert Path("log").read_text(encoding="utf-8") == "mine"


BEFORE_ITS_STEP = """
    import sqlite3, time
    import reenact
    base = sqlite3.connect("memory.db")
    base.execute("pragma journal_mode=wal")
    base.execute("create table rows(at real)")
    open("plan.txt", "w").write("plan one")
    @reenact.tool
    def remember():
        base.execute("insert into rows values(?)", (time.time(),))
        base.commit()
    remember()
    open("between.txt", "w").write("between")
    remember()
    print(base.execute("select count(*) from rows").fetchall())
"""


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.thorough), 2])
def test_a_forks_replay_compares_what_the_program_had_written_before_the_step(shell, step):
    shell.write("agent.py", BEFORE_ITS_STEP)
    shell.record("agent.py")
    done = shell.run("fork", "last", "--at", step, "--policy", "tool=live")
    assert done.out == "[(2,)]\n", done.err
    replay = shell.replay()
    assert (replay.status, replay.out) == (0, "[(2,)]\n"), replay.err
    assert "compared: calls, files" in replay.err
    for old, new, name in (("plan one", "plan two", "plan.txt"), ('"between")', '"beside")', "between.txt")):
        shell.write("agent.py", BEFORE_ITS_STEP.replace(old, new))
        replay = shell.replay()
        assert replay.status == 1
        assert name in replay.err, replay.err
