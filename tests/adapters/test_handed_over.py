"""What threads hand to each other comes in the recorded order: jobs of one pool, items of one queue."""

from __future__ import annotations

import queue
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import pytest

import reenact


@reenact.tool
def ask(question):
    time.sleep(random.random() * 0.01)
    return random.random()


def in_threads(*works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def queued():
    box, seen = queue.SimpleQueue(), []

    def put(who):
        for _ in range(3):
            box.put((who, ask("item")))

    in_threads(*(lambda who=who: put(who) for who in range(3)))
    while not box.empty():
        seen.append(box.get())
    return ask(seen), seen


def pooled():
    rows = []
    with ThreadPoolExecutor(2) as inner:

        def outer(who):
            jobs = [inner.submit(ask, f"{who}") for _ in range(2)]
            rows.append((who, [job.result() for job in as_completed(jobs)]))
            ask(rows)

        in_threads(*(lambda who=who: outer(who) for who in range(3)))
    return rows


def beside_a_sleeper():
    threading.Thread(target=sleeps_for_ever, daemon=True).start()
    return [ask("one"), ask("two")]


def sleeps_for_ever():
    while not over.is_set():
        time.sleep(0.02)


over = threading.Event()


@pytest.mark.sampled
@pytest.mark.parametrize("program", [queued, pooled, beside_a_sleeper])
def test_it_comes_in_the_recorded_order(program, home):
    for _ in range(3):
        over.clear()
        with reenact.record("handed over") as recording:
            said = program()
        over.set()
        time.sleep(0.05)
        over.clear()
        with reenact.replay(recording.id) as replay:
            assert program() == said
        over.set()
        assert replay.verdict.faithful, str(replay.verdict)


def test_libraries_get_the_queue_in_c(home):
    with reenact.record("queues") as recording:
        made = queue.SimpleQueue()
    assert recording.id
    assert isinstance(made, queue.SimpleQueue)
    assert isinstance(ThreadPoolExecutor(1)._work_queue, queue.SimpleQueue)
    with pytest.raises(queue.Empty):
        made.get_nowait()
