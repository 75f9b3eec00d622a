"""A command at a terminal of the program is an effect: a replay answers what it says, and starts nothing."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from pexpect import replwrap

import reenact
from reenact.errors import DivergenceError

pytestmark = pytest.mark.usefixtures("home")

TIME = ["sh", "-c", "date +%N; exit 4"]


def drained(number):
    found = b""
    try:
        while piece := os.read(number, 1000):
            found += piece
    except OSError as error:
        return found, error.errno
    return found, 0


def a_forked_terminal():
    child, ours = pty.fork()
    if child == 0:
        os.execvp(TIME[0], TIME)
    said = drained(ours)
    os.close(ours)
    return said, os.waitpid(child, 0)[1]


def a_terminal_for_popen():
    ours, theirs = pty.openpty()
    words = "tty > /dev/null && date +%N; read word; echo got $word"
    command = subprocess.Popen(["sh", "-c", words], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.write(ours, b"hello\n")
    late, found = 0, b""
    while True:
        ready, _, _ = select.select([ours], [], [], 0.01)
        late += not ready
        if ready:
            piece = read_or_nothing(ours)
            if not piece:
                break
            found += piece
    os.close(ours)
    return found, late, command.wait()


def read_or_nothing(number):
    try:
        return os.read(number, 1000)
    except OSError:
        return b""


def a_shell_of_pexpect():
    environment = {**os.environ, "PS1": "$ "}
    shell = pexpect.spawn("sh", env=environment, encoding="utf-8", timeout=60)
    shell.expect_exact("$ ")
    said = []
    for line in ("date +%N", "sleep 0.1; echo $$", "stty size", "exit 3"):
        shell.sendline(line)
        shell.expect_exact(["$ ", pexpect.EOF])
        said.append(shell.before)
    shell.close()
    return said, shell.exitstatus


def a_run_of_pexpect():
    return pexpect.run("date +%N", withexitstatus=True)


def a_wrapped_shell():
    shell = replwrap.bash()
    return shell.run_command("date +%N"), shell.run_command("cd /; pwd")


def a_time_limit():
    command = pexpect.spawn("sh -c 'sleep 100'", timeout=0.1)
    with pytest.raises(pexpect.TIMEOUT):
        command.expect("never")
    command.close(force=True)
    return command.isalive(), command.signalstatus


def an_echo():
    command = pexpect.spawn("cat", timeout=60)
    echo = command.getecho()
    command.setecho(False)
    command.sendline("hello")
    command.expect("hello")
    command.kill(9)
    command.wait()
    return echo, command.signalstatus


def a_command_that_is_not_there():
    with pytest.raises(pexpect.ExceptionPexpect):
        pexpect.spawn("/no/such/command")


@pytest.mark.sampled
@pytest.mark.parametrize(
    "work",
    [
        a_forked_terminal,
        a_terminal_for_popen,
        a_shell_of_pexpect,
        a_run_of_pexpect,
        a_wrapped_shell,
        a_time_limit,
        an_echo,
        a_command_that_is_not_there,
    ],
)
def test_a_terminal_is_answered(twice, work):
    recorded, replayed, verdict = twice(work)
    assert replayed == recorded
    assert verdict.faithful, verdict


def test_no_command_of_a_terminal_runs_in_a_replay(tmp_path: Path):
    made = tmp_path / "made"

    def work() -> bytes:
        child, ours = pty.fork()
        if child == 0:
            os.execvp("sh", ["sh", "-c", f"echo run >> {made}"])
        said = drained(ours)
        os.close(ours)
        os.waitpid(child, 0)
        return said

    with reenact.record("once") as recording:
        work()
    with reenact.replay(recording.id):
        work()
    assert made.read_text() == "run\n"


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("start", ["fork", "pexpect"])
def test_another_command_at_a_terminal_is_a_departure_before_it_runs(tmp_path: Path, start: str):
    made = tmp_path / "made"

    def work(command: list[str]) -> None:
        if start == "pexpect":
            pexpect.spawn(command[0], command[1:]).expect(pexpect.EOF)
            return
        child, ours = pty.fork()
        if child == 0:
            os.execvp(command[0], command)
        drained(ours)

    with reenact.record("other") as recording:
        work(["true"])
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording.id):
        work(["touch", str(made)])
    assert "process:touch" in str(caught.value)
    assert not made.exists()


def test_another_line_for_a_shell_is_a_departure():
    def work(line: str) -> None:
        shell = pexpect.spawn("cat", timeout=60)
        shell.sendline(line)
        shell.expect(line)
        shell.close()

    with reenact.record("line") as recording:
        work("yes")
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording.id):
        work("no")
    assert "process:cat input" in str(caught.value)


def test_a_fork_that_goes_on_in_a_terminal_is_named_and_refused_before_it_runs(tmp_path: Path):
    made = tmp_path / "made"

    def work() -> None:
        child, ours = pty.fork()
        if child == 0:
            with made.open("a", encoding="utf-8") as file:
                file.write("run\n")
            os.kill(os.getpid(), 9)
        drained(ours)
        os.close(ours)
        os.waitpid(child, 0)

    with reenact.record("fork") as recording:
        work()
    assert "goes on in a terminal" in (Path(recording.path) / "events.jsonl").read_text()
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording.id):
        work()
    assert "a fork of the program goes on in a terminal" in str(caught.value)
    assert made.read_text() == "run\n"


def test_a_terminal_that_an_event_loop_watches_is_refused_in_a_replay():
    async def work() -> bytes:
        loop, seen = asyncio.get_running_loop(), asyncio.Event()
        ours, theirs = pty.openpty()
        command = subprocess.Popen(["echo", "hello"], stdout=theirs)  # noqa: ASYNC220
        loop.add_reader(ours, seen.set)
        await seen.wait()
        loop.remove_reader(ours)
        command.wait()
        return os.read(ours, 100)

    with reenact.record("watched") as recording:
        asyncio.run(work())
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording.id):
        asyncio.run(work())
    assert "an event loop watches its terminal" in str(caught.value)


def test_a_python_at_a_terminal_is_a_command_too(twice):
    def work() -> str:
        command = pexpect.spawn(
            sys.executable, ["-c", "import time; print(time.time_ns())"], encoding="utf-8"
        )
        command.expect(pexpect.EOF)
        return command.before

    recorded, replayed, _ = twice(work)
    assert replayed == recorded
