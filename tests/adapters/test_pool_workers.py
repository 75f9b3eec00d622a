"""Jobs of a pool of threads run in the same workers in a recording and its replay."""

from __future__ import annotations

import asyncio
import queue
import threading
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

import reenact
from reenact.adapters.pool_workers import WorkerQueue, worker_number
from tests.adapters.programs import record, replay


@reenact.tool
def ask(question):
    return question


def _numbered(local, number):
    """The number of a job among those of its worker, and the worker's name."""
    local.count = getattr(local, "count", 0) + 1
    return f"{number}: {local.count} of {threading.current_thread().name[-1]}"


def in_a_pool():
    local = threading.local()
    with ThreadPoolExecutor(3) as pool:
        rounds = [list(pool.map(lambda job: _numbered(local, job), range(7))) for _ in range(4)]
        return ask(str(rounds))


def with_an_initializer():
    local = threading.local()
    started = []

    def begin():
        threading.current_thread().name = f"worker {len(started)}"
        started.append(ask("begin"))

    with ThreadPoolExecutor(3, initializer=begin) as pool:
        rounds = [list(pool.map(lambda job: _numbered(local, job), range(5))) for _ in range(4)]
        return ask(f"{rounds} {started}")


async def in_threads_of_a_loop():
    local = threading.local()
    rounds = []
    for _ in range(4):
        rounds.append(await asyncio.gather(*(asyncio.to_thread(_numbered, local, job) for job in range(5))))
    return ask(str(rounds))


@pytest.mark.parametrize("program", [in_a_pool, with_an_initializer, in_threads_of_a_loop])
def test_a_job_runs_in_its_recorded_worker(program):
    for _ in range(3):
        said, recording = record(program)
        again, verdict = replay(program, recording)
        assert verdict.faithful, str(verdict)
        assert again == said


def test_a_worker_that_is_idle_is_taken_before_a_new_one_is_started():
    def program():
        with ThreadPoolExecutor(4) as pool:
            for job in range(3):
                wait([pool.submit(ask, str(job))])
            return len(pool._threads)

    assert record(program)[0] == 1


def test_a_pool_that_outlives_its_recording_goes_on():
    with reenact.record("first"):
        pool = ThreadPoolExecutor(2)
        assert pool.submit(ask, "one").result() == "one"
    assert [pool.submit(ask, str(job)).result() for job in range(5)] == list("01234")
    both = threading.Barrier(2)
    wait([pool.submit(both.wait, 10) for _ in range(2)])
    pool.shutdown()
    assert not any(thread.is_alive() for thread in pool._threads)


def test_a_callback_may_hand_in_a_job_and_wait_for_it():
    def program():
        said = []
        with ThreadPoolExecutor(2) as pool:
            hold, called = threading.Event(), threading.Event()
            first = pool.submit(hold.wait)

            def call(_):
                said.append(pool.submit(ask, "inner").result())
                called.set()

            first.add_done_callback(call)
            hold.set()
            called.wait()
        return said

    assert record(program)[0] == ["inner"]


def test_jobs_that_have_not_begun_are_cancelled_with_their_pool():
    def program():
        hold, begun = threading.Event(), threading.Event()
        pool = ThreadPoolExecutor(1)
        running = pool.submit(lambda: (begun.set(), hold.wait()))
        begun.wait()
        queued = [pool.submit(ask, str(job)) for job in range(3)]
        size = pool._work_queue.qsize()
        pool.shutdown(wait=False, cancel_futures=True)
        hold.set()
        running.result()
        return size, [future.cancelled() for future in queued]

    assert record(program)[0] == (3, [True, True, True])


def test_an_initializer_that_fails_breaks_the_pool():
    def program():
        with ThreadPoolExecutor(2, initializer=lambda: 1 / 0) as pool:
            return type(pool.submit(ask, "never").exception()).__name__

    assert record(program)[0] == "BrokenThreadPool"


def test_a_class_with_a_queue_of_its_own_keeps_it():
    class Last(ThreadPoolExecutor):
        def __init__(self, workers):
            super().__init__(workers)
            self._work_queue = queue.LifoQueue()

    def program():
        with Last(2) as pool:
            return sorted(pool.map(ask, "abc"))

    assert record(program)[0] == ["a", "b", "c"]


def test_others_than_workers_get_jobs_that_no_worker_has_begun():
    pool = ThreadPoolExecutor(1)
    jobs = WorkerQueue(pool, all_first=False)
    jobs.put("given")
    jobs.put("queued")
    assert jobs.qsize() == 2
    assert [jobs.get_nowait(), jobs.get_nowait()] == ["queued", "given"]
    assert jobs.empty()
    with pytest.raises(queue.Empty):
        jobs.get()
    pool.shutdown()


def test_a_worker_keeps_its_number_when_its_initializer_gives_it_another_name():
    local, begun = threading.local(), [threading.Event() for _ in range(3)]

    def begin():
        thread = threading.current_thread()
        local.number, thread.name = int(thread.name[-1]), "worker"
        # The last one that starts is the first one that takes a job.
        if local.number < 2:
            begun[local.number + 1].wait()
        begun[local.number].set()

    def job(_):
        return local.number, worker_number()

    def program():
        with ThreadPoolExecutor(3, initializer=begin) as pool:
            return list(pool.map(job, range(9)))

    numbers, _ = record(program)
    assert all(own == kept for own, kept in numbers)
