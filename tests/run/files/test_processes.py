"""Several processes of one run that write to one file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reenact.core.model import codec
from reenact.core.model.event import name_of
from reenact.core.store.local import load
from reenact.core.store.writer import Writer
from reenact.run.files.recorded_changes import RecordedChanges

CHILD = """
    import random, sys
    with open("log.txt", "a") as file:
        file.write(f"{sys.argv[1]} {random.random()}\\n")
"""
ONE_AFTER_THE_OTHER = """
    import random, subprocess, sys
    def note():
        with open("log.txt", "a") as file:
            file.write(f"main {random.random()}\\n")
    note()
    for name in "ab":
        subprocess.run([sys.executable, "child.py", name], check=True)
        note()
    print(open("log.txt").read())
"""
AT_ONCE = """
    import multiprocessing, random
    def work(name, lock, met):
        for turn in range(3):
            met.wait()
            with lock, open("log.txt", "a") as file:
                file.write(f"{name} {turn} {random.random()}\\n")
    if __name__ == "__main__":
        lock, met = multiprocessing.Lock(), multiprocessing.Barrier(3)
        processes = [multiprocessing.Process(target=work, args=(name, lock, met)) for name in "abc"]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        print(open("log.txt").read())
"""
WITHOUT_A_LOCK = AT_ONCE.replace("with lock, open", "with open").replace("print(", "len(")


@pytest.fixture
def recorded(shell):
    """Record a program that uses `child.py`, in a folder without its file."""

    def record(program):
        shell.write("child.py", CHILD)
        shell.write("agent.py", program)
        done, _ = shell.record("agent.py")
        assert done.status == 0, done.err
        (shell.folder / "log.txt").unlink()
        return done

    return record


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("program", [ONE_AFTER_THE_OTHER, AT_ONCE])
def test_a_file_of_several_processes_is_the_same_again(shell, recorded, program):
    done = recorded(program)
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
    assert "order of the lines" not in again.err


def test_a_file_of_the_pythons_of_a_shell_is_compared_when_the_last_one_has_ended(shell):
    shell.write("child.py", CHILD)
    command = f"{sys.executable} child.py one; {sys.executable} child.py two"
    assert shell.run("record", "--", "sh", "-c", command).status == 0
    again = shell.replay("--", "sh", "-c", command)
    assert again.status == 0, again.err
    other = shell.replay("--", "sh", "-c", command.replace("two", "three"))
    assert other.status == 1
    assert "log.txt at the end is not the recorded one" in other.err


def test_lines_of_processes_without_a_lock_are_compared_without_their_order(shell, recorded):
    recorded(WITHOUT_A_LOCK)
    again = shell.replay()
    assert again.status == 0, again.err


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("program", [ONE_AFTER_THE_OTHER, WITHOUT_A_LOCK])
def test_another_line_of_one_process_is_found(shell, recorded, program):
    recorded(program)
    shell.write("child.py", CHILD.replace("{sys.argv[1]}", "{sys.argv[1]}!"))
    shell.write("agent.py", program.replace("{name}", "{name}!"))
    again = shell.replay()
    assert again.status == 1, again.err
    assert "log.txt at the end is not the recorded one" in again.err


def test_a_file_of_a_process_that_was_killed_is_not_called_changed(shell):
    shell.write(
        "agent.py",
        """
        import multiprocessing as mp, os, signal

        def work():
            with open("made.txt", "w") as file:
                file.write("x")
            os.kill(os.getpid(), signal.SIGKILL)

        if __name__ == "__main__":
            process = mp.Process(target=work)
            process.start()
            process.join()
            print(process.exitcode)
        """,
    )
    done, _ = shell.record("agent.py")
    assert done.out == "-9\n"
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
    assert "made.txt: a process that used it was killed" in " ".join(again.err.split())


def test_a_forked_process_is_redirected_once(shell):
    shell.write("text", "1")
    shell.write(
        "agent.py",
        """
        import multiprocessing, os, sys
        def opener(path, flags):
            frame, names = sys._getframe(), []
            while frame is not None:
                names.append(frame.f_code.co_filename.rpartition("/")[2])
                frame = frame.f_back
            assert names.count("redirect.py") <= 2, names
            return os.open(path, flags)
        def read():
            with open("text", opener=opener) as file:
                file.read()
        if __name__ == "__main__":
            process = multiprocessing.get_context("fork").Process(target=read)
            process.start()
            process.join()
            print(open("text").read(), process.exitcode)
        """,
    )
    shell.record("agent.py")
    again = subprocess.run(
        [sys.executable, "-m", "reenact", "replay", "last"],
        cwd=shell.folder, env={**shell.environ, "REENACT_PORTABLE": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 0\n" in again.stdout, again.stderr
    assert "AssertionError" not in again.stderr


BESIDE = """
    import multiprocessing, os, subprocess
    def make(begun, done):
        begun.get()
        with open("by hand", "x") as file:
            file.write("1")
        os.mkdir("folder")
        os.remove("old")
        done.put(True)
    if __name__ == "__main__":
        open("old", "w").close()
        begun, done = multiprocessing.Queue(), multiprocessing.Queue()
        process = multiprocessing.Process(target=make, args=(begun, done))
        process.start()
        command = subprocess.Popen(["sh", "-c", "echo 1 > 'by command'; while [ -e old ]; do sleep 0.01; done"])
        begun.put(True)
        command.wait()
        print(done.get(), sorted(os.listdir(".")))
        process.join()
"""


def test_what_another_process_does_beside_a_command_is_not_brought_with_it(shell):
    shell.write("agent.py", BESIDE)
    done, recording = shell.record("agent.py")
    assert done.status == 0, done.err
    changes = RecordedChanges(recording, recording.logs[0])
    found = {
        path.name: changes.is_of_other_process(path, number)
        for number, change in enumerate(changes.all)
        for path in change.states
        if change.how == "command"
    }
    assert found == {"by command": False, "by hand": True, "folder": True, "old": True}
    for _ in range(3):
        replay = shell.replay()
        assert (replay.status, replay.out) == (0, done.out), replay.err


def of_processes(folder, *logs):
    """Return a recording of several processes, each with its files' events."""
    for number, events in enumerate(logs):
        name = "main" if number == 0 else f"main/proc:work.{number - 1}"
        writer = Writer(folder / ("events.jsonl" if number == 0 else f"events.{number}.jsonl"))
        opened = {"event": "opened", "format": 2, "id": "abcdefghij", "process": name}
        for event in ({**opened, "offset": 0.0}, *events):
            writer.append(codec.dumps(event))
        writer.close()
    return load(folder)


def seen(how, text, t, **more):
    state = (
        {"kind": "none"} if text is None else {"kind": "file", "mode": 0o644, "size": len(text), "text": text}
    )
    return {
        "event": "files",
        "how": how,
        "call": None,
        "root": "/w",
        "states": {"log": state},
        "t": t,
        **more,
    }


def opened(t):
    lock = f"{name_of('/w/log')}=1:w"
    return {"event": "locked", "at": "main/proc:work.0", "in": None, "lock": lock, "count": int(t * 1e6)}


def asked(t):
    called = {
        "event": "called",
        "call": 1,
        "in": None,
        "at": "main",
        "kind": "tool",
        "name": "f",
        "n": 0,
        "args": {},
    }
    return [{**called, "t": t}, {"event": "returned", "call": 1, "value": None, "t": t}]


@pytest.mark.parametrize(
    ("looked", "other", "of_other"),
    [
        pytest.param([seen("command", "", 2.0)], [], True, id="empty, while the other makes it"),
        pytest.param([seen("command", "a", 3.5)], [], True, id="as the other has left it"),
        pytest.param([seen("change", "a", 3.5)], [], True, id="seen again by a process that watches it"),
        pytest.param([seen("command", "b", 3.5)], [], False, id="as only the command can have left it"),
        pytest.param([seen("change", "a", 3.5, within=None)], [], False, id="the process's own change"),
        pytest.param(
            [seen("command", "ab", 6.0)],
            [seen("change", "ab", 5.0, within=None), seen("first", "a", 5.5, since=4.0)],
            True,
            id="a walk has seen the state before",
        ),
        pytest.param(
            [seen("command", "a", 6.0)],
            [seen("change", "ab", 5.5), seen("change", "ab", 7.0, within=None)],
            True,
            id="a look that began earlier has seen the next state",
        ),
        pytest.param([seen("command", "a", 2.5), seen("command", "b", 4.0)], [], True, id="seen before its maker saw it"),
        pytest.param(
            [seen("command", "a", 6.0)],
            [seen("change", "b", 5.0, within=None)],
            False,
            id="the command has undone another change",
        ),
        pytest.param(
            [seen("command", "a", 6.0)], [seen("command", "b", 5.0)], False, id="the command has undone another command"
        ),
        pytest.param(
            [seen("command", "b", 5.0), seen("end", "b", 6.0, within=None)],
            [*asked(6.5), seen("change", "b", 7.0, within=None)],
            False,
            id="another process writes the same later",
        ),
        pytest.param(
            [seen("command", "ab", 5.0)],
            [opened(4.5), seen("change", "abc", 7.0, within=None)],
            True,
            id="the other has opened it, and sees it later",
        ),
        pytest.param(
            [seen("command", "ab", 5.0), *asked(5.2)],
            [opened(5.5), seen("change", "abc", 7.0, within=None)],
            False,
            id="the other opens it after the next event",
        ),
    ],
)  # fmt: skip
def test_a_look_beside_a_command_is_told_from_a_change_by_another_process(tmp_path, looked, other, of_other):
    made = [seen("first", None, 1.0, within=None), seen("change", "a", 3.0, within=None)]
    recording = of_processes(tmp_path, looked, [*made, *other])
    found = RecordedChanges(recording, recording.logs[0])
    assert found.is_of_other_process(Path("/w/log"), 0) is of_other


POOL = """
    import concurrent.futures, subprocess
    def work(number):
        name = f"out{number % 2}"
        with open(name, "a") as file:
            file.write(f"{number}\\n")
        return int(subprocess.run(["wc", "-l", name], capture_output=True, text=True).stdout.split()[0]) > 0
    if __name__ == "__main__":
        with concurrent.futures.ProcessPoolExecutor(3) as pool:
            print(list(pool.map(work, range(9))))
"""


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("turn", range(3))
def test_files_that_the_workers_of_a_pool_write_beside_their_commands_are_the_same_again(shell, turn):
    shell.write("agent.py", POOL)
    done, _ = shell.record("agent.py")
    for name in ("out0", "out1"):
        (shell.folder / name).unlink()
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err


INTO_A_DATABASE = """
    import multiprocessing, sqlite3
    def insert(number):
        with sqlite3.connect("app.db", timeout=60) as database:
            database.execute("insert into t(text) values (?)", (f"row {number}",))
    if __name__ == "__main__":
        with sqlite3.connect("app.db") as database:
            database.execute("create table t(id integer primary key autoincrement, text)")
        with multiprocessing.Pool(3) as pool:
            pool.map(insert, range(9), chunksize=1)
        with sqlite3.connect("app.db") as database:
            print(sorted(text for (text,) in database.execute("select text from t")))
"""


def test_rows_that_several_processes_insert_are_compared_without_their_order(shell):
    shell.write("agent.py", INTO_A_DATABASE)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    (shell.folder / "app.db").unlink()
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
    shell.write(
        "agent.py", INTO_A_DATABASE.replace("row {number}", "row {number % 8}").replace("text for", "'' for")
    )
    other = shell.replay("--ignore", "stdout")
    assert other.status == 1
    assert "app.db at the end is not the recorded one" in other.err
