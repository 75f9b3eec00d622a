"""Signals to processes that are not of the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import reenact
from reenact.core import system

pytestmark = pytest.mark.skipif(not system.LINUX, reason="who started a process is read in /proc")

ENDS = "import signal, sys; signal.sigwait({signal.SIGUSR1}); print('got it', flush=True); signal.sigwait({signal.SIGUSR1})"


@pytest.fixture
def stranger():
    """A process that no run has started: it ends its shell first. It waits for one signal, and for a second."""
    text = (
        "import signal, subprocess, sys\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})\n"
        "started = subprocess.Popen([sys.executable, '-c', sys.argv[1]], start_new_session=True)\n"
        "print(started.pid, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", text, ENDS], stdout=subprocess.PIPE, text=True) as shell:
        number = int(shell.stdout.readline())
        # While its shell lives, it is a process of the program.
        shell.wait()
        yield number, shell.stdout
        os.kill(number, signal.SIGKILL)


@pytest.mark.parametrize("send", [os.kill, os.killpg])
def test_a_replay_sends_no_second_signal_to_a_stranger(home, stranger, send):
    number, output = stranger
    with reenact.record("signal") as recording:
        send(number, signal.SIGUSR1)
    assert output.readline() == "got it\n"
    with reenact.replay(reenact.load(recording.id)) as again:
        send(number, signal.SIGUSR1)
    assert again.verdict.faithful
    os.kill(number, 0)


def test_another_signal_is_a_departure(home, stranger):
    number, _ = stranger
    with reenact.record("signal") as recording:
        os.kill(number, signal.SIGUSR1)
    with pytest.raises(reenact.DivergenceError, match="kill"), reenact.replay(reenact.load(recording.id)):
        os.kill(number, signal.SIGKILL)
    os.kill(number, 0)


def test_a_process_of_the_program_gets_its_signal_in_a_replay_too(shell):
    shell.write(
        "agent.py",
        """
import multiprocessing, os, signal

def wait(ready):
    signal.signal(signal.SIGTERM, lambda *_: os._exit(7))
    ready.set()
    while True:
        signal.pause()

if __name__ == "__main__":
    ready = multiprocessing.Event()
    child = multiprocessing.Process(target=wait, args=(ready,))
    child.start()
    ready.wait()
    os.kill(child.pid, signal.SIGTERM)
    child.join()
    print("ended with", child.exitcode)
""",
    )
    done, _ = shell.record("agent.py")
    assert "ended with 7" in done.out
    done = shell.replay("--json")
    assert done.status == 0, done.out
