"""Processes that talk by files use them in a replay in the recorded order."""

from __future__ import annotations

import pytest

from reenact.core.model.event import FILE_USE

POLLED = """
import pathlib, subprocess, sys, time
worker = subprocess.Popen([sys.executable, "worker.py"])
looks = 0
while not pathlib.Path("ready").exists():
    time.sleep(0.05)
    looks += 1
print(looks, pathlib.Path("ready").read_text())
worker.wait()
"""
WORKER = """
import pathlib, sys, time
time.sleep(0.3)
pathlib.Path("ready").write_text("yes")
"""
STATUS = """
import json, os, subprocess, sys, time
worker = subprocess.Popen([sys.executable, "worker.py"])
seen = []
while not seen or seen[-1] < 5:
    time.sleep(0.03)
    if os.path.exists("status.json"):
        with open("status.json") as file:
            seen.append(json.load(file)["done"])
worker.wait()
print(seen)
"""
REPORTS = """
import json, os, time
for number in range(6):
    time.sleep(0.07)
    with open("status.tmp", "w") as file:
        json.dump({"done": number}, file)
    os.replace("status.tmp", "status.json")
"""
INBOX = """
import os, subprocess, sys, time
os.mkdir("inbox")
worker = subprocess.Popen([sys.executable, "worker.py"])
got = []
while len(got) < 5:
    time.sleep(0.02)
    names = sorted(os.listdir("inbox"))
    for name in names:
        path = os.path.join("inbox", name)
        got.append(open(path).read())
        os.remove(path)
    print(len(names), end=" ")
worker.wait()
print(got)
"""
SENDS = """
import os, time
for number in range(5):
    time.sleep(0.05)
    with open(f"inbox.{number}", "w") as file:
        file.write(f"message {number}")
    os.rename(f"inbox.{number}", f"inbox/{number}")
"""
BACK_AND_FORTH = """
import multiprocessing, os, time

def play(name, other):
    for turn in range(4):
        while not os.path.exists(f"{name}{turn}"):
            time.sleep(0.005)
        with open(f"{name}{turn}") as file:
            ball = int(file.read())
        with open("game.txt", "a") as file:
            file.write(f"{name} has {ball}, after {os.path.getsize('game.txt')} bytes\\n")
        following = turn if name == "a" else turn + 1
        with open("thrown", "w") as file:
            file.write(str(ball + 1))
        os.rename("thrown", f"{other}{following}")

if __name__ == "__main__":
    with open("a0", "w") as file:
        file.write("1")
    players = [multiprocessing.Process(target=play, args=pair) for pair in (("a", "b"), ("b", "a"))]
    for player in players:
        player.start()
    for player in players:
        player.join()
    print(open("game.txt").read())
"""
STOPPED = """
import os, subprocess, sys, time
worker = subprocess.Popen([sys.executable, "worker.py"])
while not os.path.exists("started"):
    time.sleep(0.01)
time.sleep(0.3)
open("stop", "w").close()
worker.wait()
print(open("beats").read())
"""
BEATS = """
import os, time
beats = 0
open("started", "w").close()
while not os.path.exists("stop"):
    beats += 1
    time.sleep(0.03)
with open("beats", "w") as file:
    file.write(str(beats))
"""
PROGRAMS = {
    "a file that appears": (POLLED, WORKER),
    "a file that is replaced": (STATUS, REPORTS),
    "a folder": (INBOX, SENDS),
    "each other's files": (BACK_AND_FORTH, ""),
    "a file that stops it": (STOPPED, BEATS),
}


def clear(folder):
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.suffix != ".py" and "home" not in path.relative_to(folder).parts[0]:
            path.rmdir() if path.is_dir() else path.unlink()


def recorded(shell, agent, worker):
    """Record a program, and remove the files that it made."""
    shell.write("agent.py", agent)
    shell.write("worker.py", worker)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    clear(shell.folder)
    return done


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("program", PROGRAMS)
def test_processes_that_look_again_and_again_see_the_same(shell, program):
    done = recorded(shell, *PROGRAMS[program])
    for _ in range(2):
        clear(shell.folder)
        again = shell.replay()
        assert (again.status, again.out) == (0, done.out), again.err


def test_a_program_without_further_processes_has_no_lines_of_uses(shell):
    shell.write("agent.py", "open('a', 'w').close()\nprint(open('a').read())")
    _, recording = shell.record("agent.py")
    assert not recording.logs[0].locked


def test_compiled_modules_are_no_files_that_processes_share(shell):
    shell.write("module.py", "NUMBER = 1")
    shell.write("worker.py", "import sys\nsys.dont_write_bytecode = False\nimport module, module2")
    shell.write("module2.py", "NUMBER = 2")
    shell.write(
        "agent.py",
        """
        import subprocess, sys
        for _ in range(2):
            subprocess.run([sys.executable, "worker.py"], check=True)
        import module
        """,
    )
    done, recording = shell.record("agent.py")
    assert done.status == 0, done.err
    assert list((shell.folder / "__pycache__").glob("module*.pyc"))
    assert not [use for log in recording.logs for use in log.locked]


@pytest.mark.thorough
def test_a_process_that_looks_for_ever_departs(shell):
    recorded(shell, POLLED, WORKER)
    shell.write("worker.py", "import time\ntime.sleep(0.3)\nopen('other', 'w').close()")
    again = shell.replay()
    assert again.status == 1
    assert "sleeps at agent.py:6, again and again" in again.err


@pytest.mark.thorough
def test_an_order_that_cannot_be_kept_is_given_up(shell):
    recorded(shell, STOPPED, BEATS)
    shell.write("worker.py", BEATS.replace("beats += 1", "beats += 1\n    os.path.exists('stop')"))
    again = shell.replay()
    assert again.status == 1
    assert "diverged" in again.out + again.err


def test_the_uses_of_a_process_with_very_many_are_not_ordered(shell):
    shell.write("agent.py", POLLED)
    shell.write(
        "worker.py", WORKER.replace("time.sleep(0.3)", "[open('mine', 'w').close() for _ in range(10_001)]")
    )
    done, recording = shell.record("agent.py")
    assert done.status == 0, done.err
    uses = [name for log in recording.logs for name, _ in log.locked if name.startswith(FILE_USE)]
    assert FILE_USE in uses
    assert len(uses) < 10_000 + 1_000
