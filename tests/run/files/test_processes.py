"""Several processes of one run that write to one file."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
