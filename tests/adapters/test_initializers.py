"""Initializers of pools of threads: their effects are recorded, in each worker."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import reenact
from reenact.errors import Departure, DivergenceError

JOBS, WORKERS = 4, 2


@reenact.tool
def ask(what: str) -> str:
    """An answer at once."""
    return what


def program(told: str = "begin", workers: int = WORKERS) -> list[str]:
    mine = threading.local()

    def begin(word: str) -> None:
        mine.word = ask(word)

    def work(number: int) -> str:
        return f"{mine.word} {number}"

    with ThreadPoolExecutor(workers, initializer=begin, initargs=(told,)) as pool:
        return list(pool.map(work, range(JOBS)))


def test_each_worker_of_a_pool_has_a_recorded_initializer(home):
    with reenact.record() as recording:
        said = program()
    assert sorted(step.call.address for step in recording.load()) == [
        f"main/thread:initializer:program.begin.{number}/tool:ask#0" for number in range(WORKERS)
    ]
    for _ in range(3):
        with reenact.replay(recording.id) as replay:
            assert program() == said
        assert replay.verdict.faithful, str(replay.verdict)


def test_a_changed_question_of_an_initializer_is_found(home):
    with reenact.record() as recording:
        program()
    with pytest.raises(DivergenceError) as found, reenact.replay(recording.id):
        program(told="changed")
    assert found.value.divergence.kind is Departure.CHANGED
    assert "/thread:initializer:" in found.value.divergence.address


def test_a_worker_less_is_found(home):
    with reenact.record() as recording:
        program()
    with pytest.raises(DivergenceError) as found, reenact.replay(recording.id):
        program(workers=1)
    assert found.value.divergence.kind is Departure.MISSING


def test_a_clock_that_an_initializer_reads_is_recorded(home):
    def timed() -> list[float]:
        read: list[float] = []
        with ThreadPoolExecutor(1, "named", lambda: read.append(time.time())) as pool:
            pool.submit(ask, "job").result()
        return read

    with reenact.record() as recording:
        then = timed()
    with reenact.replay(recording.id) as replay:
        assert timed() == then
    assert replay.verdict.faithful, str(replay.verdict)
