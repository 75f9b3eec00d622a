"""Waits with a time limit end in the order in which their items left the queue."""

from __future__ import annotations

import queue
import threading

import reenact
from reenact.adapters.deadlines import any_order
from reenact.adapters.queue_ends import QueueEnds, queue_ends


def test_a_wait_ends_after_those_whose_items_moved_before():
    ends, said = QueueEnds(), []
    first, second = threading.Event(), threading.Event()

    def early():
        with any_order():
            ends.moved()
        first.set()
        second.wait()
        said.append("early")
        ends.recorded()

    def late():
        first.wait()
        with any_order():
            ends.moved()
        second.set()
        ends.await_turn()
        said.append("late")
        ends.recorded()

    threads = [threading.Thread(target=each) for each in (late, early)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == ["early", "late"]


def test_a_wait_without_a_limit_has_no_place():
    ends = QueueEnds()
    ends.moved()
    with any_order():
        ends.moved()
    ends.await_turn()
    ends.recorded()
    ends.await_turn()


def test_each_side_of_a_queue_has_its_own_order():
    box = queue.Queue()
    assert queue_ends(box, "get") is queue_ends(box, "get")
    assert queue_ends(box, "get") is not queue_ends(box, "put")
    box.put(1)
    assert box.get() == 1


def test_items_that_threads_take_within_a_limit_are_the_recorded_ones():
    def program():
        box, got, guard = queue.Queue(), [], threading.Lock()
        for number in range(12):
            box.put(number)

        def take(name):
            while True:
                try:
                    number = box.get(timeout=0.01)
                except queue.Empty:
                    return
                with guard:
                    got.append((name, number))

        threads = [threading.Thread(target=take, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return got

    with reenact.record("taken") as recording:
        said = program()
    with reenact.replay(recording.id) as replay:
        assert program() == said
    assert replay.verdict.faithful, str(replay.verdict)
