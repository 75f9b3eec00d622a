"""`reenact resume` and files: the resumed run ends with the files of one that was never cut off."""

import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

from tests.run.files.byhand import tree

AGENT = """
    import os, pathlib, shutil, signal, sqlite3, subprocess, tempfile
    import reenact

    def kill_at(place):
        if place == "KILLED" and not os.path.exists("../spare"):
            os.kill(os.getpid(), signal.SIGKILL)

    @reenact.tool
    def pay(number):
        kill_at(f"in {number}")
        pathlib.Path(f"paid{number}.txt").write_text(str(number))
        return number

    print(pathlib.Path("given.txt").read_text())
    log = open("log.txt", "a")
    log.write("begin\\n")
    log.flush()
    for number in range(6):
        pay(number)
        ACT
        log.write(f"line {number}\\n")
        log.flush()
        kill_at(f"behind {number}")
    pathlib.Path("given.txt").write_text("taken")
    kill_at("end")
    print(sorted(path.name for path in pathlib.Path(".").glob("*.txt")), pathlib.Path("memory.txt").read_text())
"""
ACTS = {
    "a file": "pathlib.Path('memory.txt').write_text(f'{number}' * number)",
    "a file in steps": "pathlib.Path('memory.txt').open('a').write(str(number))",
    "a new folder": "os.mkdir(f'made-{number}'); pathlib.Path(f'made-{number}/x').write_text('x'); "
    "pathlib.Path('memory.txt').write_text(str(sorted(os.listdir('.'))))",
    "a renamed folder": "shutil.rmtree('to', ignore_errors=True); os.makedirs('from/in'); os.rename('from', 'to'); "
    "pathlib.Path('to/in/memory').write_text(str(number)); shutil.copy('to/in/memory', 'memory.txt')",
    "a link": "os.path.lexists('link') and os.remove('link'); os.symlink(f'paid{number}.txt', 'link'); "
    "pathlib.Path('memory.txt').write_text(os.readlink('link'))",
    "a removed file": "pathlib.Path('memory.txt').write_text(str(os.path.exists('old.txt'))); "
    "pathlib.Path('old.txt').unlink(missing_ok=True)",
    "a database": "base = sqlite3.connect('base.db'); base.execute('create table if not exists a(b)'); "
    "base.execute('insert into a values(?)', (number,)); base.commit(); base.close(); "
    "pathlib.Path('memory.txt').write_text('m')",
    "a database with a log": "base = sqlite3.connect('base.db'); base.execute('pragma journal_mode=wal'); "
    "base.execute('create table if not exists a(b)'); base.execute('insert into a values(?)', (number,)); "
    "base.commit(); pathlib.Path('memory.txt').write_text('m')",
    "a command": "subprocess.run(['sh', '-c', f'echo {number} >> memory.txt; mkdir -p d; cp memory.txt d/{number}'])",
    "a temporary folder": "folder = tempfile.mkdtemp(); pathlib.Path(folder, 'x').write_text(str(number)); "
    "os.rename(f'{folder}/x', 'memory.txt'); os.rmdir(folder)",
}
PLACES = ["in 3", "in 0", "behind 3", "end"]


@pytest.fixture
def begun(shell):
    """Return a function that records the agent until it is killed, and gives its folder."""

    def begin(act, place):
        folder = shell.folder / "work"
        folder.mkdir()
        (folder / "given.txt").write_text("given")
        (folder / "old.txt").write_text("old")
        shell.write("work/agent.py", AGENT.replace("ACT", ACTS[act]).replace("KILLED", place))
        shell.record("agent.py", cwd=folder)
        (shell.folder / "spare").touch()
        return folder

    return begin


def content(folder):
    """The files of a folder, databases by their rows."""
    found = tree(folder)
    for name in [name for name in found if name.startswith("base.db")]:
        del found[name]
    if (folder / "base.db").exists():
        with sqlite3.connect(folder / "base.db") as base:
            found["rows"] = base.execute("select b from a").fetchall()
    return found


def uninterrupted(shell, act):
    """Return what the agent prints, and its files, when it is never cut off: without Reenact."""
    folder = shell.folder / "whole"
    folder.mkdir()
    (folder / "given.txt").write_text("given")
    (folder / "old.txt").write_text("old")
    shutil.copy(shell.folder / "work/agent.py", folder)
    words = [sys.executable, "agent.py"]
    environ = {name: value for name, value in os.environ.items() if name != "REENACT_HOME"}
    done = subprocess.run(words, cwd=folder, env=environ, capture_output=True, text=True, check=True)
    return done.stdout, content(folder)


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(("act", "place"), [(act, place) for act in ACTS for place in PLACES])
def test_a_resumed_run_ends_with_the_files_of_one_that_was_never_cut_off(shell, begun, act, place):
    folder = begun(act, place)
    done = shell.run("resume", "last", "--policy", "pay=live", cwd=folder)
    assert done.status == 0, done.err
    printed, files = uninterrupted(shell, act)
    assert done.out == printed
    assert content(folder) == files
    for path in folder.glob("*.txt"):
        path.write_text("changed since")
    again = shell.replay("--json", cwd=folder)
    assert again.status == 0, again.err
    assert "files" in again.json["verdict"]["compared"]


def test_a_run_without_files_goes_on_without_them(shell):
    (shell.folder / "given.txt").write_text("given")
    shell.write("agent.py", AGENT.replace("ACT", ACTS["a file"]).replace("KILLED", "in 3"))
    shell.run("record", "--files", "off", "--", sys.executable, "agent.py")
    (shell.folder.parent / "spare").touch()
    assert shell.run("resume", "last", "--policy", "pay=live").status == 0
    assert not any(log.files for log in shell.last().logs)


def test_a_resumed_run_with_live_files_writes_a_line_once_more(shell, begun):
    folder = begun("a file", "in 3")
    done = shell.run("resume", "last", "--policy", "pay=live", "--files", "live", cwd=folder)
    assert done.status == 0, done.err
    assert (folder / "log.txt").read_text().count("begin") == 2
    assert shell.replay(cwd=folder).status == 0


@pytest.mark.parametrize("words", [("resume", "last"), ("fork", "last", "--at", "1"), ("replay", "last")])
def test_a_mistyped_kind_of_files_is_refused_in_one_line(shell, begun, words):
    folder = begun("a file", "in 3")
    done = shell.run(*words, "--files", "life", cwd=folder)
    assert (done.status, done.ours) == (2, ["reenact: --files life: it is one of recorded, live"])


def copies_of(shell):
    return shell.home / "recordings" / shell.last().id / "set-back"


@pytest.mark.sampled
@pytest.mark.parametrize("act", ["a database", "a renamed folder", "a link"])
def test_files_are_as_before_when_a_call_in_flight_is_refused(shell, begun, act):
    folder = begun(act, "in 3")
    before = tree(folder)
    done = shell.run("resume", "last", cwd=folder)
    assert done.status == 3
    assert tree(folder) == before
    assert not copies_of(shell).exists()
    assert shell.run("resume", "last", "--policy", "pay=live", cwd=folder).status == 0


def test_files_are_as_before_when_the_program_is_another_one(shell, begun):
    folder = begun("a file in steps", "in 3")
    shell.write("work/agent.py", (folder / "agent.py").read_text().replace("pay(number)", "pay(number + 1)"))
    before = tree(folder)
    done = shell.run("resume", "last", cwd=folder)
    assert (done.status, len(done.ours)) == (2, 1)
    assert tree(folder) == before


def test_a_changed_file_that_the_run_had_changed_too_is_copied_before_it_is_set_back(shell, begun):
    folder = begun("a file", "in 3")
    (folder / "log.txt").write_text("notes of the user")
    done = shell.run("resume", "last", "--policy", "pay=live", cwd=folder)
    assert done.status == 0, done.err
    assert "log.txt had changed after the last recorded step; copies are in" in done.err
    kept = [path for path in copies_of(shell).rglob("*") if path.is_file()]
    assert [path.name for path in kept] == ["log.txt"]
    assert kept[0].read_text() == "notes of the user"
    assert content(folder) == uninterrupted(shell, "a file")[1]


def test_a_changed_file_that_the_run_had_only_read_stays_as_it_is(shell, begun):
    folder = begun("a file", "in 3")
    (folder / "given.txt").write_text("another prompt")
    done = shell.run("resume", "last", "--policy", "pay=live", cwd=folder)
    assert done.status == 0, done.err
    assert "given.txt not set back: something else has changed it since the run was cut off" in done.err
    assert done.out.startswith("another prompt\n")


BOOKED = """
    import os, pathlib, signal, sqlite3
    import reenact

    @reenact.tool
    def price(number):
        return number

    base = sqlite3.connect("base.db")
    base.execute("create table if not exists a(b)")
    for number in range(4):
        base.execute("insert into a values(?)", (price(number),))
        base.commit()
    base.execute("pragma cache_size=1")
    base.execute("begin")
    for number in range(4, 5000):
        base.execute("insert into a values(?)", (number,))
    if not os.path.exists("spare"):
        os.kill(os.getpid(), signal.SIGKILL)
    base.commit()
    print(base.execute("select count(*) from a").fetchone())
"""


TWO = """
    import os, pathlib, signal, subprocess, sys
    import reenact

    def note(text):
        with open("log.txt", "a") as log:
            log.write(text + "\\n")

    @reenact.tool
    def ask(number):
        return number

    note("before the block")
    with reenact.record("shop"):
        note("begin")
        ask(1)
        subprocess.run([sys.executable, "-c", "print('other', file=open('log.txt', 'a'))"], check=True)
        ask(2)
        note("middle")
        if not os.path.exists("spare"):
            os.kill(os.getpid(), signal.SIGKILL)
        ask(3)
        note("end")
"""


def test_a_block_with_another_python_is_resumed_on_the_files_of_its_beginning(shell):
    shell.write("agent.py", TWO)
    with pytest.raises(subprocess.CalledProcessError):
        shell.plain("agent.py")
    (shell.folder / "spare").touch()
    (shell.folder / "log.txt").write_text("")
    done = shell.run("resume", "last")
    assert done.status == 0, done.err
    assert (shell.folder / "log.txt").read_text() == "before the block\nbegin\nother\nmiddle\nend\n"


def test_a_file_whose_bytes_are_not_recorded_is_not_set_back_and_named(shell):
    folder = shell.folder
    (folder / ".gitignore").write_text("log.txt\n")
    (folder / "log.txt").write_text("old\n")
    (folder / "given.txt").write_text("given")
    (folder / ".git").mkdir()
    shell.write("agent.py", AGENT.replace("ACT", ACTS["a file"]).replace("KILLED", "in 3").replace("../", ""))
    shell.record("agent.py")
    (folder / "spare").touch()
    done = shell.run("resume", "last", "--policy", "pay=live")
    assert done.status == 0, done.err
    assert "log.txt not set back: its bytes are not recorded" in done.err
    assert (folder / "log.txt").read_text().startswith("old\nbegin\n")


STATE = """
    import os, signal
    import reenact

    kept = []

    @reenact.tool
    def note(number):
        kept.append(number)
        with open("notes.txt", "a") as notes:
            notes.write(f"{number}\\n")

    for number in range(4):
        note(number)
        if number == 2 and not os.path.exists("spare"):
            os.kill(os.getpid(), signal.SIGKILL)
    print(kept, open("notes.txt").read().split())
"""


@pytest.mark.parametrize(
    ("program", "printed"),
    [
        pytest.param(BOOKED, "(5000,)\n", id="a transaction that was cut off"),
        pytest.param(
            STATE, "[0, 1, 2, 3] ['0', '1', '2', '3']\n", id="a tool that writes files and changes a list"
        ),
    ],
)
def test_a_killed_program_ends_as_one_that_was_never_cut_off(shell, program, printed):
    (shell.folder / "base.db").write_bytes(b"")
    shell.write("agent.py", program)
    shell.record("agent.py")
    assert (shell.folder / "base.db-journal").exists() == (program is BOOKED)
    (shell.folder / "spare").touch()
    done = shell.run("resume", "last")
    assert (done.status, done.out) == (0, printed), done.err
    assert shell.replay().status == 0


TOGETHER = """
    import os, signal, threading
    import reenact

    asked, looked = threading.Event(), threading.Event()

    def note(text):
        with open("notes.txt", "a") as notes:
            notes.write(text + "\\n")

    @reenact.tool(writes=True)
    def pay():
        note("pay")
        asked.set()
        looked.wait()
        if not os.path.exists("../spare"):
            os.kill(os.getpid(), signal.SIGKILL)

    @reenact.tool(writes=False)
    def look(number):
        note(f"look {number}")

    paying = threading.Thread(target=pay)
    paying.start()
    asked.wait()
    for number in range(3):
        look(number)
    looked.set()
    paying.join()
    print(sorted(open("notes.txt").read().splitlines()))
"""


def test_a_call_in_flight_changes_a_file_behind_the_recorded_calls_of_other_threads(shell):
    folder = shell.folder / "work"
    folder.mkdir()
    shell.write("work/agent.py", TOGETHER)
    shell.record("agent.py", cwd=folder)
    (shell.folder / "spare").touch()
    assert shell.run("resume", "last", cwd=folder).status == 3
    done = shell.run("resume", "last", "--policy", "pay=live", cwd=folder)
    assert (done.status, done.out) == (0, "['look 0', 'look 1', 'look 2', 'pay']\n"), done.err
