"""Waits of threads with a time limit: a recorded outcome comes again in a replay, on a fast and on a slow machine."""

from __future__ import annotations

import ctypes
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from pathlib import Path

import pytest

import reenact
from reenact.adapters import executors, locks, waits
from reenact.core.boundary.given_times import GivenTimes
from reenact.errors import DivergenceError
from tests.adapters.programs import record, replay

SHORT, LONG = 0.01, 30.0


@reenact.tool
def say(question):
    """An answer at once."""
    return question


def native(seconds):
    """Work that no event of a recording is in, and whose time is another in each run."""
    ctypes.CDLL(None).usleep(round(seconds * 1e6))


def result(start, limit):
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(start)
        try:
            return say(["in time", job.result(timeout=limit), job.done()])
        except TimeoutError:
            return say(["late", job.done(), str(job.exception(timeout=LONG))])


def several(start, limit):
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(say, "at once"), pool.submit(start)]
        jobs[0].result()
        found = wait(jobs, timeout=limit)
        return say([sorted(jobs.index(job) for job in part) for part in found])


def in_order(start, limit):
    said = []
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(start), pool.submit(say, "at once")]
        try:
            said.extend(jobs.index(job) for job in as_completed(jobs, timeout=limit))
        except TimeoutError as error:
            said.append(str(error))
    return say(said)


def mapped(start, limit):
    with ThreadPoolExecutor(2) as pool:
        try:
            return say(list(pool.map(lambda _: start(), range(2), timeout=limit)))
        except TimeoutError:
            return say("late")


def queued(start, limit, kind=queue.Queue):
    box = kind()
    thread = threading.Thread(target=lambda: (start(), box.put(1)))
    thread.start()
    try:
        said = [box.get(timeout=limit)]
    except queue.Empty:
        said = ["empty"]
    thread.join()
    return say(said)


def queued_in_c(start, limit):
    return queued(start, limit, queue.SimpleQueue)


def full(start, limit):
    box = queue.Queue(1)
    box.put(0)
    thread = threading.Thread(target=lambda: (start(), box.get()))
    thread.start()
    try:
        said = [box.put(1, timeout=limit)]
    except queue.Full:
        said = ["full"]
    thread.join()
    return say(said)


def event(start, limit):
    over = threading.Event()
    thread = threading.Thread(target=lambda: (start(), over.set()))
    thread.start()
    said = [over.wait(limit), over.is_set()]
    thread.join()
    return say([*said, over.is_set()])


def joined(start, limit):
    thread = threading.Thread(target=start)
    thread.start()
    thread.join(limit)
    said = [thread.is_alive()]
    thread.join()
    return say([*said, thread.is_alive()])


def condition(start, limit):
    changed = threading.Condition()

    def change():
        start()
        with changed:
            changed.notify()

    thread = threading.Thread(target=change)
    with changed:
        thread.start()
        said = changed.wait(limit)
    thread.join()
    return say(said)


def condition_for(start, limit):
    changed, seen = threading.Condition(), []

    def change():
        start()
        with changed:
            seen.append(1)
            changed.notify()

    thread = threading.Thread(target=change)
    thread.start()
    with changed:
        said = changed.wait_for(lambda: bool(seen), limit)
    thread.join()
    return say(said)


def semaphore(start, limit):
    free = threading.Semaphore(0)
    thread = threading.Thread(target=lambda: (start(), free.release()))
    thread.start()
    said = free.acquire(timeout=limit)
    thread.join()
    return say(said)


def barrier(start, limit):
    both, said = threading.Barrier(2), []

    def meet():
        start()
        try:
            both.wait()
        except threading.BrokenBarrierError:
            said.append("broken")

    thread = threading.Thread(target=meet)
    thread.start()
    try:
        both.wait(limit)
    except threading.BrokenBarrierError:
        said.append("late")
    thread.join()
    return say([*said, both.broken])


def timer(start, limit):
    said = []
    thread = threading.Timer(limit, said.append, ["fired"])
    thread.start()
    start()
    thread.cancel()
    thread.join()
    return say(said)


PROGRAMS = [
    result, several, in_order, mapped, queued, queued_in_c, full, event, joined, condition, condition_for, semaphore,
    barrier, timer,
]  # fmt: skip
programs = pytest.mark.parametrize("program", PROGRAMS, ids=[program.__name__ for program in PROGRAMS])


@pytest.mark.sampled
@programs
def test_a_wait_that_was_late_is_late_again_where_all_is_faster(program, home):
    with reenact.record("late") as recording:
        said = program(lambda: native(0.15), SHORT)
    with reenact.replay(recording.id) as replay:
        assert program(lambda: None, SHORT) == said
    assert replay.verdict.faithful, str(replay.verdict)


@pytest.mark.sampled
@programs
def test_a_wait_that_was_in_time_is_so_again_where_all_is_slower(program, home):
    limit = 0.3
    with reenact.record("in time") as recording:
        said = program(lambda: None, limit)
    with reenact.replay(recording.id) as replay:
        assert program(lambda: native(0.5), limit) == said
    assert replay.verdict.faithful, str(replay.verdict)


@pytest.mark.sampled
@programs
def test_a_late_answer_of_a_tool_is_late_again(program, home):
    @reenact.tool
    def slow():
        time.sleep(0.1)
        return "slow"

    with reenact.record("slow tool") as recording:
        said = program(slow, SHORT)
    with reenact.replay(recording.id) as replay:
        assert program(slow, SHORT) == said
    assert replay.verdict.faithful, str(replay.verdict)


def test_an_error_of_a_job_is_no_time_limit(home):
    def fails():
        raise TimeoutError("of the job")

    def program():
        with ThreadPoolExecutor(1) as pool, pytest.raises(TimeoutError, match="of the job"):
            pool.submit(fails).result(timeout=LONG)
        return say("over")

    with reenact.record("error") as recording:
        program()
    with reenact.replay(recording.id) as replay:
        program()
    assert replay.verdict.faithful, str(replay.verdict)


def test_a_wait_for_a_thread_that_has_departed_from_the_recording_ends(home):
    def program(question):
        box = queue.Queue()
        thread = threading.Thread(target=lambda: box.put(say(question)), daemon=True)
        thread.start()
        return box.get(timeout=LONG)

    with reenact.record("departs") as recording:
        program("one")
    with pytest.raises(DivergenceError, match="recorded 'one', actual 'two'"), reenact.replay(recording.id):
        program("two")


def test_a_wait_in_time_for_what_no_longer_comes_is_a_departure(home):
    def program(comes):
        over = threading.Event()
        thread = threading.Thread(target=lambda: comes and over.set())
        thread.start()
        said = over.wait(0.05)
        thread.join()
        return said

    with reenact.record("comes") as recording:
        assert program(comes=True)
    with (
        pytest.raises(DivergenceError, match="event was in time when it was recorded"),
        reenact.replay(recording.id),
    ):
        program(comes=False)


def test_a_wait_that_had_not_ended_when_the_recording_did_comes_after_all_else(home):
    def program(work):
        thread = threading.Thread(target=lambda: threading.Event().wait(0.2) or say("late"), daemon=True)
        thread.start()
        work()
        say("first")

    with reenact.record("unended") as recording:
        program(lambda: None)
    with reenact.replay(recording.id) as replay:
        program(lambda: native(0.5))
    assert replay.verdict.faithful, str(replay.verdict)


def test_a_timer_of_a_library_leaves_no_line(home):
    with reenact.record("library") as recording:
        code = compile("timer.start()", threading.__file__.replace("threading", "sched"), "exec")
        timer = threading.Timer(SHORT, say, ["fired"])
        exec(code, {"timer": timer, "__name__": "sched_like"})
        timer.join()
    assert b"limit:event" not in Path(recording.path, "events.jsonl").read_bytes()


def test_a_wait_that_is_itself_the_target_of_a_thread_is_recorded(home):
    with reenact.record("target") as recording:
        box = queue.Queue()
        thread = threading.Thread(target=box.get, kwargs={"timeout": LONG})
        thread.start()
        box.put(1)
        thread.join()
    assert b"limit:get" in Path(recording.path, "events.jsonl").read_bytes()


def test_a_recording_without_outcomes_of_waits_replays_with_the_time_limits_of_the_program(home, monkeypatch):
    with monkeypatch.context() as older, reenact.record("old") as recording:
        older.setattr(waits, "deadline", lambda *_, **__: None)
        older.setattr(executors, "deadline", lambda *_, **__: None)
        older.setattr(GivenTimes, "sums", lambda _: {"main": round(LONG * 1e6)})
        said = result(lambda: None, LONG)
    assert b"limit:" not in Path(recording.path, "events.jsonl").read_bytes()
    with reenact.replay(recording.id) as replay:
        assert result(lambda: None, LONG) == said
    assert replay.verdict.faithful, str(replay.verdict)


def test_a_condition_made_before_the_recording_began_waits_within_a_time_limit():
    def program():
        condition = threading.Condition(locks.allocate_lock())
        with condition:
            return condition.wait_for(lambda: True, timeout=600)

    said, recording = record(program)
    assert said is True
    again, verdict = replay(program, recording)
    assert again is True
    assert verdict.faithful, str(verdict)
