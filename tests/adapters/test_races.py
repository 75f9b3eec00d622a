"""Threads that change one object without a lock: one runs at a time, or the race is named."""

from __future__ import annotations

import ctypes
import queue
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import reenact
from tests.adapters.programs import record, replay

C = ctypes.CDLL(None)
LONG = 40_000
"""Microseconds of native work: longer than a recording waits for a thread."""


@reenact.tool
def say(what):
    """An answer at once."""
    return what


@pytest.fixture(autouse=True)
def _switching():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def recorded_until(found, program, monkeypatch):
    """Record a program with longer and longer native work, until something is found in the recording.

    On a busy machine a thread may get a processor only when another one has ended its native work.
    """
    for factor in (1, 5, 25, 125):
        monkeypatch.setattr(sys.modules[__name__], "LONG", LONG * factor)
        _, recording = record(program)
        monkeypatch.undo()
        if found(recording):
            break
    return recording


def started(job, count=4):
    threads = [threading.Thread(target=job, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    return threads


def run(job, count=4):
    for thread in started(job, count):
        thread.join()


def work():
    """Python code that takes about as long as a switch between threads, many times."""
    return sum(range(3000))


# -- programs: one call wakes several threads ------------------------------------------------------------------


def after_an_event():
    gate, seen = threading.Event(), []

    def job(number):
        gate.wait()
        for _ in range(5):
            work()
            seen.append(number)

    threads = started(job)
    say("go")
    gate.set()
    for thread in threads:
        thread.join()
    return seen


def after_a_barrier():
    gate, seen = threading.Barrier(4), []

    def job(number):
        for _ in range(3):
            gate.wait()
            for _ in range(3):
                work()
                seen.append(number)

    run(job)
    return seen


def after_a_condition():
    gate, open_, seen = threading.Condition(), [], []

    def job(number):
        with gate:
            gate.wait_for(lambda: open_)
        for _ in range(5):
            work()
            seen.append(number)

    threads = started(job)
    say("go")
    with gate:
        open_.append(True)
        gate.notify_all()
    for _ in range(5):
        work()
        seen.append("main")
    for thread in threads:
        thread.join()
    return seen


def behind_a_queue():
    jobs, done, seen = queue.Queue(), queue.Queue(), []

    def job(number):
        while (item := jobs.get()) is not None:
            for _ in range(3):
                work()
                seen.append((number, item))
            done.put(item)

    threads = started(job)
    say("go")
    for item in range(12):
        jobs.put(item)
    got = [done.get() for _ in range(12)]
    for _ in threads:
        jobs.put(None)
    for thread in threads:
        thread.join()
    return seen, got


def behind_a_lock():
    lock, seen = threading.Lock(), []

    def job(number):
        for step in range(3):
            with lock:
                say([number, step])
            for _ in range(5):
                work()
                seen.append((number, step))

    run(job)
    return seen


def behind_futures():
    seen = []

    def job(number):
        for _ in range(4):
            work()
            seen.append(number)
        return number

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(job, number) for number in range(8)]
        for future in futures:
            seen.append(("main", future.result()))
            work()
    return seen


def behind_joins():
    seen = []

    def job(number):
        say(number)
        for _ in range(4):
            work()
            seen.append(number)

    for thread in started(job):
        thread.join()
        seen.append("joined")
        work()
    return seen


def counted():
    box = {"count": 0}

    def job(number):
        say(number)
        for _ in range(2000):
            count = box["count"]
            box["count"] = count + 1

    run(job)
    return box


SERIAL = [
    after_an_event,
    after_a_barrier,
    after_a_condition,
    behind_a_queue,
    behind_a_lock,
    behind_futures,
    behind_joins,
    counted,
]


@pytest.mark.sampled
@pytest.mark.parametrize("program", SERIAL, ids=lambda program: program.__name__)
def test_threads_run_one_at_a_time_from_one_wait_to_the_next(program):
    for _ in range(5):
        first, recording = record(program)
        if recording.logs[0].sealed.get("uncertain"):
            continue  # on a machine this busy, the race is another test's
        again, verdict = replay(program, recording)
        assert again == first
        assert verdict.faithful


# -- programs: one thread is not waited for --------------------------------------------------------------------


def appended():
    seen = []

    def job(number):
        for _ in range(3):
            C.usleep(LONG)
            seen.append(number)

    run(job, 2)
    return len(seen)


class Account:
    """An object with state."""

    def __init__(self):
        self.balance = 0

    def pay(self, amount):
        C.usleep(LONG)
        self.balance = self.balance * 2 + amount


def paid():
    account = Account()

    def job(number):
        for _ in range(3):
            account.pay(number)

    run(job, 2)
    say("end")


def advanced():
    numbers = iter(range(6))

    def job(number):
        for _ in numbers:
            C.usleep(LONG)

    run(job, 2)


def rebound():
    total = 0

    def job(number):
        nonlocal total
        for _ in range(3):
            C.usleep(LONG)
            total = total * 2 + number

    run(job, 2)


def polled():
    state = {"done": False, "looks": 0}

    def job(number):
        C.usleep(LONG)
        state["done"] = True

    threads = started(job, 1)
    while not state["done"]:
        state["looks"] += 1
    threads[0].join()


RACES = [
    (appended, "seen", 1),
    (paid, "self", None),
    (advanced, "numbers", 1),
    (rebound, "total", 1),
    (polled, "state", 2),
]


@pytest.mark.parametrize(("program", "name", "lines"), RACES, ids=[race[0].__name__ for race in RACES])
def test_a_race_is_named_with_its_lines(program, name, lines, capfd, monkeypatch):
    recording = recorded_until(lambda recording: recording.races, program, monkeypatch)
    (race,) = [race for race in recording.races if f" {name}" in race][:1]
    # Where it may be either, it depends on the moment.
    lines = lines or race.count("test_races.py:")
    how = "ran the same line at the same time" if lines == 1 else "ran at the same time"
    assert race.startswith(f"two threads {how}: test_races.py:")
    assert race.count("test_races.py:") == lines
    assert race in recording.sources
    which = "it" if lines == 1 else "both lines"
    assert f"{race}: which comes first is not recorded; a lock around {which} makes" in capfd.readouterr().err


def test_a_replay_says_which_order_it_does_not_have(monkeypatch):
    recording = recorded_until(lambda recording: recording.races, appended, monkeypatch)
    _, verdict = replay(appended, recording)
    assert any(
        text.startswith("an order that is not recorded (two threads ran") for text in verdict.uncompared
    )


def guarded():
    lock, seen = threading.Lock(), []

    def job(number):
        for _ in range(3):
            C.usleep(LONG)
            with lock:
                seen.append(number)

    run(job, 2)


def apart():
    def job(number):
        seen = []
        for _ in range(3):
            C.usleep(LONG)
            seen.append(number)
        say(seen)

    run(job, 2)


@pytest.mark.parametrize("program", [guarded, apart], ids=lambda program: program.__name__)
def test_no_race_is_named_under_a_lock_or_on_objects_of_one_thread(program, monkeypatch):
    recording = recorded_until(
        lambda recording: recording.logs[0].sealed.get("uncertain"), program, monkeypatch
    )
    assert recording.logs[0].sealed.get("uncertain")
    assert recording.races == ()
