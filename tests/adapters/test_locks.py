"""Threads take the program's locks in a replay in the recorded order, on any machine."""

from __future__ import annotations

import ctypes
import pickle
import queue
import random
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock as EarlyLock

import pytest

import reenact
from reenact.adapters import locks
from reenact.errors import DivergenceError
from tests.adapters.programs import record, replay

C = ctypes.CDLL(None)
STEPS = 8


@reenact.tool
def say(what):
    """An answer at once."""
    return what


def work():
    """Native work of a length that is another one in each run, and in no recording."""
    C.usleep(C.rand() % 1000)


def run(*jobs):
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def many(job, count=4):
    run(*[lambda number=number: [job(number, step) for step in range(STEPS)] for number in range(count)])


# -- programs ------------------------------------------------------------------------------------------------


def shared_list(made=None):
    lock, seen = (made or threading.Lock)(), []

    def job(number, step):
        work()
        with lock:
            seen.append((number, step))

    many(job)
    return say(seen)


def reentrant():
    lock, seen = threading.RLock(), []

    def job(number, step):
        work()
        with lock:
            seen.append(number)
            with lock:
                seen.append(-number)
        say([number, step])

    many(job)
    return say(seen)


def two_locks():
    first, second, seen, others = threading.Lock(), threading.Lock(), [], []

    def job(number, step):
        work()
        with first:
            seen.append(("first", number))
            with second:
                others.append(("both", number, say(len(seen))))
        with second:
            others.append(("second", number))

    many(job)
    return seen + others


def tried():
    lock, seen = threading.Lock(), []

    def job(number, step):
        if lock.acquire(blocking=False):
            work()
            seen.append((number, step))
            lock.release()
        else:
            say(["busy", number, step])
            work()

    many(job)
    return say(seen)


def within_a_limit():
    lock, seen = threading.Lock(), []

    def job(number, step):
        if lock.acquire(timeout=0.0004):
            work()
            seen.append((number, step))
            lock.release()
        else:
            say(["late", number, step])

    many(job)
    return say(seen)


def consumers():
    box, taken = queue.Queue(2), {number: [] for number in range(3)}

    def fill():
        for step in range(STEPS * 2):
            work()
            box.put(step)
        for _ in taken:
            box.put(None)

    def empty(number):
        while (item := box.get()) is not None:
            taken[number].append(item)
            work()

    run(fill, *[lambda number=number: empty(number) for number in taken])
    return say(taken)


def consumers_within_a_limit():
    box, seen = queue.Queue(), []

    def fill():
        for step in range(STEPS):
            work()
            box.put(step)

    def empty():
        while len([item for item in seen if item != "empty"]) < STEPS:
            try:
                seen.append(box.get(timeout=0.0006))
            except queue.Empty:
                seen.append("empty")

    run(fill, empty)
    return say(seen)


def buffer():
    changed, waiting, seen = threading.Condition(), [], []

    def fill(number):
        for step in range(STEPS):
            work()
            with changed:
                while len(waiting) > 1:
                    changed.wait()
                waiting.append((number, step))
                changed.notify_all()

    def empty():
        for _ in range(3 * STEPS):
            with changed:
                while not waiting:
                    changed.wait()
                seen.append(waiting.pop(0))
                changed.notify_all()
            if len(seen) % 5 == 0:
                say(seen[-1])

    run(empty, *[lambda number=number: fill(number) for number in range(3)])
    return say(seen)


def watched():
    changed, seen = threading.Condition(threading.Lock()), []

    def job(number, step):
        work()
        with changed:
            seen.append(number)
            changed.notify_all()

    def watch():
        with changed:
            for count in range(1, 4 * STEPS, 3):
                limit = random.choice([0.0005, 30])
                in_time = changed.wait_for(lambda count=count: len(seen) >= count, timeout=limit)
                seen.append(("watched", in_time))
                if not in_time:
                    changed.wait(timeout=0.0008)

    run(watch, *[lambda number=number: [job(number, step) for step in range(STEPS)] for number in range(4)])
    return say(seen)


def permits():
    permit, lock, seen = threading.Semaphore(2), threading.Lock(), []

    def job(number, step):
        with permit:
            work()
            with lock:
                seen.append(number)

    many(job)
    return say(seen)


def in_step():
    barrier, lock, seen = threading.Barrier(3), threading.Lock(), []

    def job(number, step):
        work()
        place = barrier.wait()
        with lock:
            seen.append((step, number, place))

    many(job, 3)
    return say(seen)


def pool():
    lock, seen = threading.Lock(), []

    def job(number):
        work()
        with lock:
            seen.append(number)
            return len(seen)

    with ThreadPoolExecutor(3) as workers:
        found = list(workers.map(job, range(2 * STEPS)))
    return say([seen, found])


PROGRAMS = [
    shared_list, reentrant, two_locks, tried, within_a_limit, consumers, consumers_within_a_limit, buffer, watched,
    permits, in_step, pool,
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_threads_take_locks_in_the_recorded_order(program):
    found, recording = record(program)
    for _ in range(3):
        again, verdict = replay(program, recording)
        assert again == found
        assert verdict.faithful, verdict


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.thorough
def test_threads_take_locks_in_the_recorded_order_with_tiny_switch_intervals(program):
    interval = sys.getswitchinterval()
    found, recording = record(program)
    try:
        for interval_of_this in (1e-6, 1e-3, 0.1):
            sys.setswitchinterval(interval_of_this)
            again, verdict = replay(program, recording)
            assert (again, verdict.faithful) == (found, True)
    finally:
        sys.setswitchinterval(interval)


def test_a_lock_that_was_imported_by_name_is_ordered():
    found, recording = record(lambda: shared_list(EarlyLock))
    assert replay(lambda: shared_list(EarlyLock), recording)[0] == found


def test_a_lock_taken_by_one_thread_leaves_one_line():
    def program():
        lock = threading.Lock()
        for _ in range(1000):
            with lock:
                pass
        return say(1)

    _, recording = record(program)
    assert Path(recording.path, "events.jsonl").read_bytes().count(b'"event":"locked"') == 1


# -- programs that have changed --------------------------------------------------------------------------------


def done(_):
    return "done"


def of_threads(count, says=len):
    def program():
        lock, seen = threading.Lock(), []

        def job(number):
            work()
            with lock:
                seen.append(number)

        run(*[lambda number=number: job(number) for number in range(count)])
        return say(says(seen))

    return program


def test_a_replay_goes_on_where_the_next_thread_no_longer_comes():
    _, recording = record(of_threads(4, says=done))
    result, verdict = replay(of_threads(2, says=done), recording)
    assert (result, verdict.faithful) == ("done", True)


def test_a_replay_goes_on_where_a_thread_takes_a_lock_once_more():
    _, recording = record(of_threads(2, says=done))
    result, _ = replay(of_threads(4, says=done), recording)
    assert result == "done"


def test_what_a_changed_thread_asks_is_found():
    _, recording = record(of_threads(3))
    with pytest.raises(DivergenceError):
        replay(of_threads(2), recording)


def test_a_thread_that_takes_no_lock_any_more_is_not_waited_for_for_ever():
    def program(locked):
        lock, seen = threading.Lock(), []

        def first():
            work()
            if locked:
                with lock:
                    seen.append(1)
            say("first")

        def second():
            time.sleep(0.01)
            with lock:
                seen.append(2)

        run(first, second)
        return say("done")

    _, recording = record(lambda: program(locked=True))
    assert replay(lambda: program(locked=False), recording)[0] == "done"


# -- as a lock -------------------------------------------------------------------------------------------------


def test_libraries_get_plain_locks():
    with reenact.record("test"):
        assert type(queue.Queue().mutex) is locks.OrderedLock
        assert type(threading.Event()._cond._lock) is type(locks.allocate_lock())
        assert type(ThreadPoolExecutor(1)._shutdown_lock) is type(locks.allocate_lock())


@pytest.mark.parametrize("kind", ["Lock", "RLock"])
def test_an_ordered_lock_behaves_like_a_plain_one(kind):
    with reenact.record("test"):
        lock = getattr(threading, kind)()
    assert type(lock) is getattr(locks, f"Ordered{kind}")
    assert lock.acquire()
    if kind == "RLock":
        assert lock.acquire(blocking=False)
        lock.release()
    else:
        assert lock.locked()
        assert not lock.acquire(blocking=False)
        assert not lock.acquire(timeout=0.001)
    lock.release()
    with pytest.raises(RuntimeError):
        lock.release()
    with pytest.raises(ValueError, match="timeout"):
        lock.acquire(blocking=False, timeout=1)
    with pytest.raises(ValueError, match="timeout"):
        lock.acquire(timeout=-2)
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(lock)
    with lock:
        pass


def test_a_reentrant_lock_is_given_back_whole_in_a_wait():
    def program():
        changed, seen = threading.Condition(), []

        def wake():
            with changed:
                seen.append("woken")
                changed.notify()

        with changed, changed:
            thread = threading.Thread(target=wake)
            thread.start()
            changed.wait()
            seen.append("on")
        thread.join()
        return say(seen)

    found, recording = record(program)
    assert replay(program, recording)[0] == found == ["woken", "on"]
