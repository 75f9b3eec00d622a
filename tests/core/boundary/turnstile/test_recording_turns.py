"""A recording is certain of its order: a thread that waits, or is about to run, is not taken for one that runs on."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import reenact
from reenact.core.boundary.turnstile import recording_turns
from reenact.core.boundary.turnstile.recording_turns import RecordingTurnstile
from tests.adapters.programs import record


@reenact.tool
def ask(question):
    return question


# -- programs ------------------------------------------------------------------------------------------------


def a_lock_with_a_time_limit():
    lock, taken, coming = threading.Lock(), threading.Event(), threading.Event()

    def hold():
        with lock:
            taken.set()
            coming.wait()
            ask("with the lock")

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    coming.set()
    assert lock.acquire(timeout=600)
    thread.join()


def a_loop_that_waits_for_its_pool():
    gate = threading.Event()

    def job():
        gate.wait()
        ask("in the pool")

    async def main():
        asyncio.get_running_loop().run_in_executor(None, job)
        for _ in range(100):
            await asyncio.sleep(0)

    with asyncio.Runner() as runner:
        runner.run(main())
        gate.set()


def a_loop_that_has_made_a_sync_call():
    async def main():
        loop, gate = asyncio.get_running_loop(), threading.Event()
        done = loop.create_future()

        def job():
            gate.wait()
            ask("in the thread")
            loop.call_soon_threadsafe(done.set_result, None)

        thread = threading.Thread(target=job)
        thread.start()
        for _ in range(100):
            await asyncio.sleep(0)
        gate.set()
        ask("in the loop")
        await done
        thread.join()

    asyncio.run(main())


@pytest.mark.parametrize(
    "program", [a_lock_with_a_time_limit, a_loop_that_waits_for_its_pool, a_loop_that_has_made_a_sync_call]
)
def test_a_thread_that_waits_does_not_make_the_order_uncertain(program):
    for _ in range(5):
        _, recording = record(program)
        assert not recording.logs[0].sealed.get("uncertain")


# -- the turnstile by itself ---------------------------------------------------------------------------------


@pytest.fixture
def turnstile(monkeypatch):
    """The turnstile of a recording, which gives up on a thread that lacks a processor only after an hour."""
    monkeypatch.setattr(recording_turns, "_LONGEST", 3600.0)
    return RecordingTurnstile()


def test_threads_that_wait_for_their_turn_do_not_wait_for_each_other(turnstile):
    both, passed = threading.Barrier(3), []

    def pass_often():
        turnstile.unblocks()
        both.wait()
        for _ in range(50):
            turnstile.pass_sync(None, lambda: passed.append(threading.get_ident()))
        turnstile.settle()

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(pass_often) for _ in range(3)]:
            done.result()
    assert len(passed) == 150
    assert not turnstile.uncertain


def test_a_thread_that_starts_another_one_is_waited_for_until_it_is_up(turnstile):
    may_be_up, order = threading.Event(), []

    class Slow(threading.Thread):
        """A thread that has no processor when it is started."""

        def _set_native_id(self):
            may_be_up.wait()
            super()._set_native_id()

    def start():
        turnstile.unblocks()
        started.set()
        Slow(target=order.append, args=("up",)).start()
        order.append("started")
        turnstile.settle()

    def pass_once():
        started.wait()
        turnstile.pass_sync(None, lambda: order.append("passed"))

    started = threading.Event()
    threads = [threading.Thread(target=target) for target in (start, pass_once)]
    for thread in threads:
        thread.start()
    # The threads that wait look on in the meantime, as often as makes them give up on others.
    threads[1].join(10 * recording_turns.GRACE)
    may_be_up.set()
    for thread in threads:
        thread.join()
    assert order.index("started") < order.index("passed")
    assert not turnstile.uncertain
