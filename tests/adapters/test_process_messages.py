"""Messages between processes: each process gets the recorded ones, in the recorded order."""

from __future__ import annotations

import subprocess
import sys

import pytest

from reenact.adapters import process_activity
from tests.adapters.changed_script import ChangedScript
from tests.soak.scripts.running import record, replay

QUEUE = """
import multiprocessing as mp, queue, random, time

def work(number, tasks, results):
    while (task := tasks.get()) is not None:
        time.sleep(random.random() * 0.003)
        results.put((number, task, random.random()))

if __name__ == "__main__":
    c = mp.get_context("METHOD")
    tasks, results = c.Queue(), c.Queue()
    workers = [c.Process(target=work, args=(number, tasks, results)) for number in range(3)]
    for worker in workers: worker.start()
    for task in [*range(9), None, None, None]: tasks.put(task)
    print([results.get() for _ in range(9)])
    try: results.get(timeout=0.01)
    except queue.Empty: print("empty", results.empty(), results.qsize())
    for worker in workers: worker.join(); print(worker.exitcode, worker.is_alive())
"""

JOINABLE = """
import multiprocessing as mp, random, time

def work(tasks, results):
    while True:
        task = tasks.get()
        time.sleep(random.random() * 0.003)
        results.put((task, random.random()))
        tasks.task_done()

if __name__ == "__main__":
    mp = mp.get_context("fork")  # a worker that is spawned may be terminated before it has begun
    tasks, results = mp.JoinableQueue(), mp.SimpleQueue()
    workers = [mp.Process(target=work, args=(tasks, results), daemon=True) for _ in range(3)]
    for worker in workers: worker.start()
    for task in range(9): tasks.put(task)
    tasks.join()
    print([results.get() for _ in range(9)], results.empty())
    for worker in workers: worker.terminate(); worker.join(); print(worker.exitcode)
"""

PIPES = """
import multiprocessing as mp, random, time
from multiprocessing.connection import wait

def work(number, end):
    time.sleep(random.random() * 0.01)
    for turn in range(3): end.send((number, turn, random.random()))
    end.recv_bytes()

if __name__ == "__main__":
    ends = []
    for number in range(3):
        mine, other = mp.Pipe()
        mp.Process(target=work, args=(number, other)).start()
        other.close()
        ends.append(mine)
    seen = 0
    while ends:
        for end in wait(ends, timeout=5):
            try: print(end.recv(), end.poll(0))
            except (EOFError, ConnectionResetError): ends.remove(end); continue
            seen += 1
            if seen == 9:
                for each in ends: each.send_bytes(b"x" * 70_000)
    for process in mp.active_children(): process.join(5)
"""

BOUNDED = """
import multiprocessing as mp, random, threading
from concurrent.futures import ThreadPoolExecutor

def produce(number, box):
    for turn in range(6): box.put((number, turn, random.random()))
    box.put(None)

if __name__ == "__main__":
    box, got = mp.Queue(maxsize=2), []
    for number in range(3): mp.Process(target=produce, args=(number, box)).start()
    def consume():
        while (item := box.get()) is not None: got.append((threading.current_thread().name, item))
    with ThreadPoolExecutor(3) as pool:
        for job in [pool.submit(consume) for _ in range(3)]: job.result()
    print(got)
"""

POOL = """
import multiprocessing as mp, random, time

def begin(start):
    global base
    base = start

def work(number):
    global base
    time.sleep(random.random() * 0.003)
    base += 1
    if number == 7: raise ValueError(f"seven {random.random()}")
    return number, base, random.random()

if __name__ == "__main__":
    seen = []
    with mp.get_context("METHOD").Pool(3, begin, (100,), maxtasksperchild=LIMIT) as pool:
        print(pool.map(work, range(5)))
        print(list(pool.imap_unordered(work, range(6))))
        jobs = [pool.apply_async(work, (n,), callback=seen.append, error_callback=seen.append) for n in range(5, 9)]
        for job in jobs:
            try: print(job.get(timeout=30))
            except ValueError as error: print(error)
    print(seen)
"""

LOOP = """
import asyncio, multiprocessing as mp, random, reenact

@reenact.tool
def look(number):
    return {"id": number, "names": ["ok", "ok", str(random.random())]}

def work(box, number):
    for turn in range(3): box.put(look(number * 10 + turn))

async def main():
    box = mp.Queue()
    workers = [mp.Process(target=work, args=(box, number)) for number in range(2)]
    for worker in workers: worker.start()
    for _ in range(6): print(await asyncio.to_thread(box.get))
    for worker in workers: await asyncio.to_thread(worker.join)

if __name__ == "__main__":
    asyncio.run(main())
"""

LOCKS = """
import multiprocessing as mp, random, time

def work(value, array, gate, condition, number):
    gate.wait()
    for turn in range(4):
        time.sleep(random.random() * 0.003)
        with value.get_lock():
            value.value = (value.value * 7 + number) % 1000003
            array[number] = value.value
    with condition:
        array[3] = number
        condition.notify_all()

if __name__ == "__main__":
    c = mp.get_context("METHOD")
    value, array, gate, condition = c.Value("q", 1), c.Array("q", 4), c.Event(), c.Condition()
    workers = [c.Process(target=work, args=(value, array, gate, condition, number)) for number in range(3)]
    for worker in workers: worker.start()
    print(gate.wait(0.01), gate.is_set())
    with condition:
        gate.set()
        print(condition.wait(60))
    for worker in workers: worker.join()
    print(value.value, array[:])
"""

TRIED = """
import multiprocessing as mp
lock, again = mp.Lock(), mp.RLock()
print(lock.acquire(timeout=1), lock.acquire(False), lock.acquire(True, 0.01), again.acquire(timeout=1))
"""

OWN_PIPES = """
import os, random, threading, time

read, write = os.pipe()
if os.fork() == 0:
    os.close(read)
    for turn in range(4):
        os.write(write, f"{turn} {time.time_ns()} ".encode())
        time.sleep(random.random() * 0.004)
    os._exit(3)
os.close(write)
while piece := os.read(read, 1000): print(len(piece), piece)
print(os.waitstatus_to_exitcode(os.wait()[1]))

read, write = os.pipe()
def send(name):
    for turn in range(3):
        time.sleep(random.random() * 0.003)
        os.write(write, f"{name} {turn} {time.time_ns()}\\n".encode())
senders = [threading.Thread(target=send, args=(name,)) for name in "abc"]
for sender in senders: sender.start()
with os.fdopen(read) as lines:
    for _ in range(9): print(lines.readline().strip())
for sender in senders: sender.join()
"""

PROGRAMS = {
    "locks": LOCKS.replace("METHOD", "fork"),
    "locks of spawned processes": LOCKS.replace("METHOD", "spawn"),
    "locks that are tried": TRIED,
    "pipes of the system": OWN_PIPES,
    "queue": QUEUE.replace("METHOD", "fork"),
    "queue of spawned processes": QUEUE.replace("METHOD", "spawn"),
    "joinable queue": JOINABLE,
    "pipes": PIPES,
    "bounded queue and threads": BOUNDED,
    "pool": POOL.replace("METHOD", "fork").replace("LIMIT", "None"),
    "pool of spawned processes": POOL.replace("METHOD", "spawn").replace("LIMIT", "None"),
    "pool with workers that end": POOL.replace("METHOD", "fork").replace("LIMIT", "2"),
    "event loop": LOOP,
}


LONG = (
    "locks of spawned processes", "queue", "joinable queue", "pool of spawned processes", "pool with workers that end",
)  # fmt: skip
"""Their parts are those of other rows: spawned processes, locks, queues, a pool."""


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    "program",
    [pytest.param(name, marks=[pytest.mark.thorough] if name in LONG else []) for name in PROGRAMS],
)
def test_each_process_gets_its_recorded_messages(program, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PROGRAMS[program])
    recorded = record(script, tmp_path / "home")
    assert recorded.status == 0, recorded.said
    assert recorded.output
    again = replay(script, tmp_path / "home")
    assert again.output == recorded.output, again.said
    assert again.status == 0, again.said


ENDED = """
import ctypes, multiprocessing as mp, random, reenact
from multiprocessing.util import Finalize

SLOW = False

@reenact.tool
def look(number):
    return random.random()

def work(number):
    return number, look(number)

def begin():
    Finalize(None, ctypes.CDLL(None).sleep, (1000 * SLOW,), exitpriority=1)

if __name__ == "__main__":
    with mp.get_context("fork").Pool(1, begin) as pool:
        print(pool.map(work, range(3)))
        if not SLOW:
            # The worker ends by itself. Else it is ended, at times while it ends by itself.
            pool.close()
            pool.join()
"""


def test_a_worker_that_its_pool_ends_behind_its_last_job_has_given_its_verdict(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(ENDED)
    recorded = record(script, tmp_path / "home")
    assert recorded.status == 0, recorded.said
    script.write_text(ENDED.replace("SLOW = False", "SLOW = True"))
    again = replay(script, tmp_path / "home")
    assert (again.status, again.output) == (0, recorded.output), again.said
    assert "3 tool calls ran again" in again.said, again.said


BEFORE_IT_BEGINS = """
import multiprocessing as mp, random
from pathlib import Path

def work(number):
    return number, random.random()

if __name__ == "__main__":
    c = mp.get_context("spawn")
    with c.Pool(1) as pool:
        print(pool.map(work, range(3)))
    slow = Path("slow.sh").absolute()
    slow.write_text("#!/bin/sh\\nexec sleep 1000\\n")
    slow.chmod(0o700)
    c.set_executable(str(slow))
    with c.Pool(1):
        print("ended")
"""


def test_a_worker_that_its_pool_ends_before_it_begins_is_no_unrecorded_program(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(BEFORE_IT_BEGINS)
    recorded = record(script, tmp_path / "home")
    assert recorded.status == 0, recorded.said
    assert "not recorded" not in recorded.said
    again = replay(script, tmp_path / "home")
    assert (again.status, again.output) == (0, recorded.output), again.said


CHANGED = """
import multiprocessing as mp, random

def work(box, number):
    for turn in range(3): box.put((number, turn, random.random()))

if __name__ == "__main__":
    box = mp.Queue()
    workers = [mp.Process(target=work, args=(box, number)) for number in range(2)]
    for worker in workers: worker.start()
    for _ in range(6): box.get()
    for worker in workers: worker.join()
"""


@pytest.fixture(scope="module")
def recorded_once(tmp_path_factory):
    """The script, and the home with its recording, which replays leave as it is."""
    return ChangedScript(tmp_path_factory.mktemp("changed"), CHANGED)


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("(number, turn, random", "(number, turn + 1, random", "a message came that no process received"),
        pytest.param("in range(3)", "in range(2 + number)", "does not come", marks=pytest.mark.thorough),
        ("in range(6)", "in range(7)", "once more than it did"),
        ("in range(6)", "in range(5)", "1 messages of other processes were received when it was recorded"),
    ],
)
def test_a_changed_message_is_found_though_the_output_is_equal(before, after, said, recorded_once):
    again = recorded_once.replay(before, after)
    assert again.status == 1, again.said
    assert said in " ".join(again.said.split())


UNORDERED = {
    "memory of multiprocessing without a lock": "mp.RawArray('q', 2)",
}


@pytest.mark.parametrize("what", UNORDERED)
def test_what_has_no_recorded_order_is_named_in_the_recording_and_in_each_verdict(what, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        f"import multiprocessing as mp\nif __name__ == '__main__':\n    {UNORDERED[what]}\n    print('done')\n"
    )
    recorded = record(script, tmp_path / "home")
    assert f"processes share {what}: which one comes first is not recorded" in recorded.said
    again = replay(script, tmp_path / "home")
    assert again.status == 0, again.said
    assert f"not compared: an order that is not recorded (processes share {what}" in " ".join(
        again.said.split()
    )


@pytest.fixture
def looks(monkeypatch):
    """Look at a process and another one for a minute, in which the other one is seen so; returns if they stand still."""
    now = [100.0]
    monkeypatch.setattr(process_activity, "monotonic", lambda: now[0])
    still = process_activity.StandStill(joined=False)

    def look(used, *states):
        found = False
        for number in range(61):
            seen = {1: (0.0, False), 2: (used * number / 60, states[number % len(states)])}
            monkeypatch.setattr(process_activity, "_seen", lambda *_, seen=seen: seen)
            found |= still.found()
            now[0] += 1
        return found

    return look


def test_processes_that_use_no_time_stand_still(looks):
    assert not looks(30, False), "the other process works"
    assert looks(0.5, False, False, True)


def test_a_process_that_is_ready_to_run_and_gets_no_processor_works(looks):
    assert not looks(0.01, True, True, False)


def test_a_process_that_works_is_seen_at_work_and_one_that_waits_is_not():
    command = [sys.executable, "-c", "print(flush=True)\nwhile True: pass"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as works:
        with subprocess.Popen(
            [sys.executable, "-c", "print(flush=True); input()"], stdin=-1, stdout=-1
        ) as waits:
            works.stdout.read(1), waits.stdout.read(1)
            seen = process_activity._seen(0)
            while seen[waits.pid][1]:
                seen = process_activity._seen(0)
            assert process_activity._seen(0)[works.pid][1]
            waits.stdin.close()
        works.kill()
