"""Processes that take turns by the lock of a file take the same turns in a replay."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")

PROGRAM = """
import fcntl, json, multiprocessing, os, time

def take(file):
    {take}

def work(name):
    for turn in range(4):
        with open("state.json", "r+") as file:
            take(file)
            state = json.load(file)
            state.append(f"{name}{turn}")
            file.seek(0)
            json.dump(state, file)
            file.flush()

if __name__ == "__main__":
    with open("state.json", "w") as file:
        json.dump([], file)
    processes = [multiprocessing.Process(target=work, args=(name,)) for name in "abc"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    print(open("state.json").read())
"""
TAKES = {
    "flock": "fcntl.flock(file, fcntl.LOCK_EX)",
    "lockf": "fcntl.lockf(file.fileno(), fcntl.LOCK_EX)",
    "os.lockf": "os.lockf(file.fileno(), os.F_LOCK, 0)",
    "tries": """
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.001)
""",
}


@pytest.mark.sampled
@pytest.mark.parametrize("take", TAKES)
def test_processes_that_take_turns_by_a_file_s_lock_take_them_again(shell, take):
    shell.write("agent.py", PROGRAM.replace("{take}", TAKES[take].lstrip()))
    done, recording = shell.record("agent.py")
    assert done.status == 0, done.err
    taken = [name for log in recording.logs for name, _ in log.locked if name.startswith("file:")]
    assert len(taken) == 12
    assert len(set(taken)) == 1
    for _ in range(2):
        again = shell.replay()
        assert (again.status, again.out) == (0, done.out), again.err


def test_a_lock_that_cannot_be_taken_raises_the_program_s_own_errors(shell):
    shell.write(
        "agent.py",
        """
        import fcntl, os
        file = open("x", "w")
        number = file.fileno()
        file.close()
        for thing in (number, "x", file, -1):
            for function in (fcntl.flock, fcntl.lockf):
                try:
                    function(thing, fcntl.LOCK_EX)
                except Exception as error:
                    print(type(error).__name__, error)
        """,
    )
    plain = subprocess.run(
        [sys.executable, "agent.py"], cwd=shell.folder, capture_output=True, text=True, check=True
    )
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    assert done.out.count("\n") == 8
    assert done.out == plain.stdout
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err


def test_a_lock_of_a_tool_that_is_answered_is_waited_for_by_no_process(shell):
    shell.write(
        "agent.py",
        """
        import fcntl, multiprocessing, urllib.request
        import reenact

        @reenact.tool
        def note(text):
            with open("log", "a") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.write(text)
            return len(text)

        def work():
            with open("log", "a") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.write("w")

        if __name__ == "__main__":
            note("a")
            process = multiprocessing.Process(target=work)
            process.start()
            process.join()
            print(note("b"), open("log").read())
        """,
    )
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    (shell.folder / "log").unlink()
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
