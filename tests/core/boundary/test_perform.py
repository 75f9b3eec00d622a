"""A thread that runs a tool's own code is not at rest: no other thread goes on in the middle of it."""

from __future__ import annotations

import ctypes
import os
import queue
import sys
import threading

import pytest

import reenact


def retried():
    """Three threads with a tool that counts its attempts in a table which all of them report."""
    attempts, found, jobs, lock = {}, [], queue.Queue(), threading.Lock()

    @reenact.tool
    def fetch(number):
        for _ in range(20_000):
            pass
        attempts[number] = attempts.get(number, 0) + 1
        if number * attempts[number] % 3 == 1:
            raise LookupError(f"{number}, attempt {attempts[number]}")
        return number

    def work():
        while (number := jobs.get()) is not None:
            for _ in range(3):
                try:
                    result = fetch(number)
                except LookupError as error:
                    result = str(error)
                else:
                    break
            with lock:
                found.append([result, sorted(attempts.items())])

    for number in [*range(8), None, None, None]:
        jobs.put(number)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.usefixtures("quick_switches")
def test_tools_that_change_what_threads_share_replay(home):
    told = 0
    for _ in range(6):
        with reenact.record("retried") as recording:
            recording.output = retried()
        if recording.load().logs[0].sealed.get("uncertain"):
            continue
        told += 1
        with reenact.replay(recording.id) as replay:
            replay.output = retried()
        assert replay.verdict.faithful, replay.verdict
    assert told


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system does not say where a thread waits")
def test_a_tool_that_waits_in_native_code_lets_others_go_first(home):
    libc = ctypes.CDLL(None)

    @reenact.tool
    def wait(number):
        return libc.read(number, ctypes.create_string_buffer(1), 1)

    @reenact.tool
    def look(number):
        return number

    reading, writing = os.pipe()
    with reenact.record("native") as recording:
        thread = threading.Thread(target=wait, args=(reading,))
        thread.start()
        for number in range(5):
            look(number)
        os.write(writing, b".")
        thread.join()
    for number in (reading, writing):
        os.close(number)
    assert recording.load().logs[0].sealed.get("uncertain") is None
