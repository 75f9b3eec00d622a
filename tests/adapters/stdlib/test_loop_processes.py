"""Commands that an event loop starts are effects: a replay answers them without a start, in the recorded order."""

from __future__ import annotations

import asyncio
import gc
import subprocess
from pathlib import Path

import pytest

import reenact
from reenact.errors import DivergenceError

PIPE = asyncio.subprocess.PIPE
NOTED = "printf x >> starts; "


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch, home):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    Path("starts").touch()


def starts():
    """How often a command of these programs ran for real."""
    return len(Path("starts").read_text(encoding="utf-8"))


async def shell(line, **pipes):
    return await asyncio.create_subprocess_shell(NOTED + line, **pipes)


async def communicated():
    command = await shell("cat; date +%N; date +%N >&2; exit 3", stdin=PIPE, stdout=PIPE, stderr=PIPE)
    return await command.communicate(b"given "), command.returncode


async def lines():
    command = await shell("for i in 1 2 3; do date +%N; done", stdout=PIPE)
    said = [line async for line in command.stdout]
    return said, await command.wait()


async def dialogue():
    said = []
    command = await shell("while read line; do echo $line $(date +%N); done", stdin=PIPE, stdout=PIPE)
    for line in (b"one\n", b"two\n"):
        command.stdin.write(line)
        await command.stdin.drain()
        said.append(await command.stdout.readline())
    command.stdin.close()
    await command.stdin.wait_closed()
    return said, await command.wait()


async def several():
    said = []

    async def one(number):
        command = await asyncio.create_subprocess_shell(
            f"for i in 1 2 3; do sleep 0.0{number}; echo {number} $i; done", stdout=PIPE
        )
        async for line in command.stdout:
            said.append(line)
        said.append(await command.wait())

    await asyncio.gather(shell("true"), *(one(number) for number in (3, 1, 2)))
    return said


async def stopped():
    command = await shell("exec sleep 60")
    try:
        await asyncio.wait_for(command.wait(), 0.2)
    except TimeoutError:
        command.kill()
    return await command.wait()


async def over_before_it_is_asked():
    command = await shell("true")
    code = await command.wait()
    try:
        command.terminate()
    except ProcessLookupError:
        return code, "over"
    # The loop has not noticed the end yet.
    return code, "asked"


async def into_a_file():
    with open("log", "w", encoding="utf-8") as file:  # noqa: ASYNC230
        command = await shell("date +%N", stdout=file, stderr=asyncio.subprocess.STDOUT)
        await command.wait()
    return Path("log").read_text(encoding="utf-8")  # noqa: ASYNC240


async def much():
    command = await shell("cat", stdin=PIPE, stdout=PIPE)
    output, _ = await command.communicate(b"x" * 1_000_000)
    return len(output)


async def nothing_reads_its_input():
    command = await shell("exit 0", stdin=PIPE)
    return await command.wait()


async def not_there():
    await (await shell("true")).wait()
    try:
        await asyncio.create_subprocess_exec("no-such-command")
    except FileNotFoundError as error:
        return error.errno


class Collecting(asyncio.SubprocessProtocol):
    """A protocol of the program's own."""

    def __init__(self):
        self.heard = []
        self.over = asyncio.get_running_loop().create_future()

    def pipe_data_received(self, fd, data):
        self.heard.append((fd, data))

    def process_exited(self):
        self.heard.append("exited")

    def connection_lost(self, exc):
        self.over.set_result(None)


async def a_protocol_of_its_own():
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_shell(
        Collecting, f"{NOTED}date +%N; date +%N >&2", stdin=subprocess.DEVNULL
    )
    await protocol.over
    code = transport.get_returncode()
    transport.close()
    return protocol.heard, code


PROGRAMS = [
    communicated, lines, dialogue, several, stopped, over_before_it_is_asked, into_a_file, much, nothing_reads_its_input,
    not_there, a_protocol_of_its_own,
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS, ids=[program.__name__ for program in PROGRAMS])
def test_a_command_of_a_loop_is_answered_without_a_start(program):
    with reenact.record("command") as recording:
        said = asyncio.run(program())
    assert starts() == 1
    with reenact.replay(recording.id) as replay:
        assert asyncio.run(program()) == said
    assert replay.verdict.faithful, str(replay.verdict)
    assert starts() == 1, "the command ran again"


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.__name__ for program in PROGRAMS])
def test_a_command_of_a_loop_without_a_recording_does_what_it_does(program):
    assert asyncio.run(program()) is not None
    assert starts() == 1


def test_a_changed_command_of_a_loop_is_found():
    async def work(option):
        command = await asyncio.create_subprocess_exec("git", option, stdout=PIPE)
        return await command.communicate()

    with reenact.record("command") as recording:
        asyncio.run(work("--version"))
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording.id):
        asyncio.run(work("--help"))
    assert "args.command[1]" in str(caught.value)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_changed_input_of_a_command_of_a_loop_is_found():
    # The divergence leaves the program no time to close its end of the pipe, which asyncio says when it is collected.
    async def work(text):
        command = await asyncio.create_subprocess_exec("cat", stdin=PIPE, stdout=PIPE)
        return await command.communicate(text)

    with reenact.record("command") as recording:
        asyncio.run(work(b"yes"))
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording.id):
        asyncio.run(work(b"no"))
    assert "process:cat input" in str(caught.value)
    del caught
    gc.collect()


def test_with_live_process_a_command_of_a_loop_runs_for_real():
    with reenact.record("command") as recording:
        asyncio.run(communicated())
    with reenact.replay(recording.id, live=["process"], policy=["sh=live"]) as replay:
        asyncio.run(communicated())
    assert starts() == 2
    assert replay.verdict.live
