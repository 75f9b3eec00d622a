"""Sockets and pipes between threads: what was ready, and what was read, comes again in a replay."""

from __future__ import annotations

import ctypes
import os
import select
import selectors
import socket
import threading
import time
from pathlib import Path

import pytest

import reenact
from reenact.errors import DivergenceError


def native(seconds):
    """Work that no event of a recording is in, and whose time is another in each run."""
    ctypes.CDLL(None).usleep(round(seconds * 1e6))


@reenact.tool
def say(what):
    """An answer at once."""
    return what


def written(send, pause):
    """Start a thread that sends two words, with a pause before each, and `end` behind them."""

    def write():
        for word in (b"one", b"two", b"end"):
            pause()
            send(word)

    thread = threading.Thread(target=write)
    thread.start()
    return thread


def with_selector(pause, limit):
    mine, other = socket.socketpair()
    said = []
    with mine, other, selectors.DefaultSelector() as selector:
        selector.register(other, selectors.EVENT_WRITE, "mine")
        selector.register(mine, selectors.EVENT_READ, "other")
        selector.unregister(other)
        thread = written(other.sendall, pause)
        while not (said and said[-1].endswith("end")):
            found = selector.select(limit)
            said += [key.fileobj.recv(99).decode() for key, _ in found] or ["idle"]
        thread.join()
    return say(said)


def with_select(pause, limit):
    mine, other = socket.socketpair()
    said = []
    with mine, other:
        thread = written(other.sendall, pause)
        while not (said and said[-1].endswith("end")):
            reading, _, _ = select.select([mine], [], [], limit)
            said += [each.recv(99).decode() for each in reading] or ["idle"]
        thread.join()
    return say(said)


def with_timeouts(pause, limit):
    mine, other = socket.socketpair()
    said = []
    with mine, other:
        mine.settimeout(limit)
        thread = written(other.sendall, pause)
        while not (said and said[-1].endswith("end")):
            try:
                said.append(mine.recv(99).decode())
            except TimeoutError:
                said.append("late")
        thread.join()
    return say(said)


def with_pipe(pause, limit):
    reading, writing = os.pipe()
    said = []
    thread = written(lambda word: os.write(writing, word), pause)
    while not (said and said[-1].endswith("end")):
        said.append(os.read(reading, 99).decode())
    thread.join()
    os.close(reading)
    os.close(writing)
    return say(said)


PROGRAMS = [with_selector, with_select, with_timeouts, with_pipe]
programs = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)


@pytest.mark.sampled
@programs
@pytest.mark.parametrize("slower", [0.0, 0.05])
def test_a_reader_reads_again_what_it_has_read(program, slower, home):
    with reenact.record("read") as recording:
        said = program(lambda: time.sleep(0.02), 0.007)
    for _ in range(3):
        with reenact.replay(recording.id) as replay:
            assert program(lambda: (time.sleep(0.02), native(slower)), 0.007) == said
        assert replay.verdict.faithful, str(replay.verdict)


def test_a_wait_for_several_things_ends_with_those_that_were_ready(home):
    def program():
        said = []
        pairs = [socket.socketpair() for _ in range(3)]

        def client(number):
            time.sleep(0.005 * (number % 2))
            pairs[number][0].sendall(b"%d" % number)

        threads = [threading.Thread(target=client, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        left = [pair[1] for pair in pairs]
        while left:
            for each in select.select(left, [], [])[0]:
                said.append(each.recv(9).decode())
                left.remove(each)
        for thread in threads:
            thread.join()
        for pair in pairs:
            for end in pair:
                end.close()
        return said

    with reenact.record("clients") as recording:
        said = program()
    with reenact.replay(recording.id) as replay:
        assert program() == said
    assert replay.verdict.faithful, str(replay.verdict)


def test_a_wait_for_what_is_no_longer_written_is_a_departure(home):
    def program(comes):
        mine, other = socket.socketpair()
        with mine, other:
            thread = threading.Thread(target=lambda: comes and other.sendall(b"word"))
            thread.start()
            found = select.select([mine], [], [], 0.05)[0]
            thread.join()
            return len(found)

    with reenact.record("comes") as recording:
        assert program(comes=True)
    with (
        pytest.raises(DivergenceError, match="select was in time when it was recorded"),
        reenact.replay(recording.id),
    ):
        program(comes=False)


def test_files_and_event_loops_leave_no_line(home, tmp_path):
    import asyncio

    (tmp_path / "file").write_text("text")

    async def waits():
        await asyncio.sleep(0.001)

    with reenact.record("plain") as recording:
        number = os.open(tmp_path / "file", os.O_RDONLY)
        assert os.read(number, 9) == b"text"
        os.close(number)
        asyncio.run(waits())
    assert b"limit:" not in Path(recording.path, "events.jsonl").read_bytes()


def test_what_was_ready_is_read_with_care():
    from reenact.adapters.readiness import _parsed

    assert _parsed("0:1,2:4") == [(0, 1), (2, 4)]
    assert _parsed("x:1,1:,:,-1:2,1:²,99999999999:1") == []
    assert _parsed(None) == []
    assert len(_parsed("1:1," * 100_000)) <= 4096
