"""Futures of threads: they come in the same order in a replay, and one that was cancelled is told to its waiters."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed, wait

import pytest

import reenact


@reenact.tool
def tell(question):
    """An answer at once."""
    return question


def held(hold):
    hold.wait()


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


def the_first_answer_wins():
    with ThreadPoolExecutor(2) as pool:
        jobs = {pool.submit(tell, number): number for number in range(8)}
        found = []
        for job in as_completed(jobs):
            found.append((jobs[job], job.cancelled()))
            for other in jobs:
                other.cancel()
        return tell(found)


def those_that_run_come_before_the_cancelled():
    hold = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(held, hold) for _ in range(2)] + [
            pool.submit(tell, number) for number in range(4)
        ]
        for job in jobs[2:]:
            job.cancel()
        early = wait(jobs, timeout=0.001)
        hold.set()
        found = [jobs.index(job) for job in as_completed(jobs)]
        return tell([len(early.done), found])


def cancelled_by_the_pool_behind_others():
    hold, said = threading.Event(), []
    pool = ThreadPoolExecutor(1)
    jobs = [pool.submit(held, hold)] + [pool.submit(tell, number) for number in range(9)]
    for number, job in enumerate(jobs):
        job.add_done_callback(lambda job, number=number: said.append((number, job.cancelled())))
    jobs[4].cancel()
    pool.shutdown(wait=False, cancel_futures=True)
    # No worker comes by: those who wait are not told.
    early = wait(jobs[1:], timeout=0.001)
    hold.set()
    jobs[0].result()
    return tell([len(early.done), said])


def all_wait(ready, count):
    while len(ready._cond._waiters) < count:
        time.sleep(0.001)


def jobs_that_are_waits():
    ready, found = threading.Event(), []
    with ThreadPoolExecutor(8) as pool:
        for _ in range(6):
            jobs = [pool.submit(ready.wait) for _ in range(8)]
            all_wait(ready, len(jobs))
            ready.set()
            found.append([jobs.index(job) for job in as_completed(jobs)])
            ready.clear()
    return tell(found)


def waits_in_threads_of_a_loop():
    ready, found = threading.Event(), []

    async def one(number):
        await asyncio.to_thread(ready.wait)
        found.append(number)

    async def main():
        for _ in range(6):
            tasks = [asyncio.create_task(one(number)) for number in range(4)]
            await asyncio.to_thread(all_wait, ready, len(tasks))
            ready.set()
            await asyncio.gather(*tasks)
            ready.clear()

    asyncio.run(main())
    return tell(found)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "program",
    [
        in_order,
        cancelled_one_by_one,
        cancelled_by_the_pool,
        the_first_answer_wins,
        those_that_run_come_before_the_cancelled,
        cancelled_by_the_pool_behind_others,
        jobs_that_are_waits,
        waits_in_threads_of_a_loop,
    ],
)
def test_futures_of_a_pool_give_the_same_in_a_replay(program, home):
    with reenact.record("futures") as recording:
        said = program()
    with reenact.replay(recording.id) as replay:
        assert program() == said
    assert replay.verdict.faithful
