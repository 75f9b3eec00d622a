"""Threads write to standard output and standard error in a replay in the recorded order."""

from __future__ import annotations

import ctypes
import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import reenact
from tests.adapters.programs import record, replay

C = ctypes.CDLL(None)
STEPS = 60


def work():
    """Native work of a length that is another one in each run, and in no recording."""
    C.usleep(C.rand() % 1000)


def run(job, count=4):
    threads = [threading.Thread(target=job, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@reenact.tool
def look(number):
    print("a tool", number)
    work()
    print("looks", number)
    return number


@reenact.tool
def unseen(number):
    """A tool that a replay answers: it reads what no recording has."""
    Path("/proc/self/stat").read_text(encoding="utf-8")
    print("a tool", number)
    work()
    print("looks", number)
    return number


def lines():
    def job(number):
        for step in range(STEPS):
            work()
            print("thread", number, "step", step)

    run(job)


def pieces():
    def job(number):
        for step in range(STEPS):
            work()
            sys.stdout.write(f"{number}")
            work()
            sys.stderr.write(f"{number} {step}\n")

    run(job)


def jobs_of_a_pool():
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda number: [work(), print("job", number)], range(90)))


def tools():
    def job(number):
        for step in range(3):
            work()
            look(10 * number + step)
            print("thread", number, "step", step)

    run(job)


@pytest.mark.parametrize("program", [lines, pieces, jobs_of_a_pool, tools])
def test_threads_write_in_the_recorded_order(program, capsys):
    _, recording = record(program)
    recorded = capsys.readouterr()
    for _ in range(3):
        _, verdict = replay(program, recording)
        assert verdict.faithful
        assert capsys.readouterr() == recorded
        assert not [rule for rule in verdict.rules if "order of lines" in rule]


def test_another_order_of_lines_is_a_difference():
    def program(last="ab"):
        run(lambda number: print("thread", number))
        for line in last:
            print(line)

    _, recording = record(program)
    _, verdict = replay(program, recording)
    assert verdict.faithful
    with pytest.raises(reenact.DivergenceError) as caught:
        replay(lambda: program("ba"), recording)
    assert caught.value.divergence.address == "main/stdout"


def test_a_tool_that_is_answered_leaves_its_turns_out(capsys):
    def program():
        def job(number):
            work()
            print("before", number)
            unseen(number)
            print("after", number)

        run(job)

    _, recording = record(program)
    recorded = capsys.readouterr().out.splitlines()
    _, verdict = replay(program, recording)
    assert verdict.faithful
    replayed = capsys.readouterr().out.splitlines()
    assert sorted(replayed) == sorted(recorded)
    kept = [[line for line in each if line.startswith("before")] for each in (recorded, replayed)]
    assert kept[0] == kept[1]


def test_a_program_without_threads_has_no_turns():
    def program():
        print("before")
        look(1)
        print("after")

    _, recording = record(program)
    assert b'"locked"' not in Path(recording.path, "events.jsonl").read_bytes()


class Printing(logging.Handler):
    """Prints while it holds the lock of a handler, which is the library's."""

    def emit(self, line):
        print(line.getMessage())


def test_a_thread_that_waits_for_the_lock_of_a_library_does_not_stop_the_others(capsys):
    logger = logging.getLogger("printing")
    logger.propagate, logger.handlers = False, [Printing()]
    logger.setLevel("INFO")

    def job(number):
        for step in range(STEPS):
            work()
            logger.info("thread %s step %s", number, step)

    _, recording = record(lambda: run(job))
    recorded = capsys.readouterr().out
    _, verdict = replay(lambda: run(job), recording)
    assert verdict.faithful
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(recorded.splitlines())


def test_a_program_that_prints_in_one_thread_less_goes_on(capsys):
    def program(writers):
        def job(number):
            for _ in range(STEPS):
                work()
                if number in writers:
                    print("thread", number)

        run(job)

    _, recording = record(lambda: program({0, 1, 2}))
    capsys.readouterr()
    with pytest.raises(reenact.DivergenceError):
        replay(lambda: program({1, 2}), recording)
    assert capsys.readouterr().out.count("thread") == 2 * STEPS
