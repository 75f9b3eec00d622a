"""Futures of threads: they come in the same order in a replay, and one that was cancelled is told to its waiters."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed, wait

import pytest

import reenact


@reenact.tool
def tell(question):
    """An answer at once."""
    return question


def in_order():
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(tell, number) for number in range(8)]
        wait(jobs)
        # All are there: they come in the order of a set.
        found = [job.result() for job in as_completed(jobs)]
        return tell([found, [job.result() for job in wait(jobs).done]])


def cancelled_one_by_one():
    with ThreadPoolExecutor(1) as pool:
        jobs = [pool.submit(tell, number) for number in range(6)]
        said = [job.cancel() for job in jobs]
        done, left = wait(jobs)
        return tell([said, len(done), len(left)])


def cancelled_by_the_pool():
    pool = ThreadPoolExecutor(1)
    jobs = [pool.submit(tell, number) for number in range(6)]
    pool.shutdown(cancel_futures=True)
    return tell([job.cancelled() for job in jobs])


@pytest.mark.timeout(60)
@pytest.mark.parametrize("program", [in_order, cancelled_one_by_one, cancelled_by_the_pool])
def test_futures_of_a_pool_give_the_same_in_a_replay(program, home):
    with reenact.record("futures") as recording:
        said = program()
    with reenact.replay(recording.id) as replay:
        assert program() == said
    assert replay.verdict.faithful
