"""What threads ask of event loops, and pools of threads, in the recorded order."""

from __future__ import annotations

import asyncio
import ctypes
import random
import threading
import time
from multiprocessing import TimeoutError as TooLate
from multiprocessing.pool import ThreadPool
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest

import reenact


def native(seconds):
    """Work that no event of a recording is in, and whose time is another in each run."""
    ctypes.CDLL(None).usleep(round(seconds * 1e6))


@reenact.tool
def say(what):
    """An answer at once."""
    return what


def called_from_threads(work):
    async def main():
        loop, box, said = asyncio.get_running_loop(), asyncio.Queue(), []

        def produce(name):
            for number in range(4):
                time.sleep(random.random() * 0.01)
                work()
                loop.call_soon_threadsafe(box.put_nowait, f"{name}{number}")

        threads = [threading.Thread(target=produce, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        while sum(word != "late" for word in said) < 8:
            try:
                said.append(await asyncio.wait_for(box.get(), 0.004))
            except TimeoutError:
                said.append("late")
        for thread in threads:
            thread.join()
        return said

    return say(asyncio.run(main()))


def coroutines_of_threads(work):
    async def main():
        loop, said, over, ended = asyncio.get_running_loop(), [], asyncio.Event(), []

        async def part(name, number):
            said.append(f"in {name}{number}")
            await asyncio.sleep(random.random() * 0.004)
            said.append(f"out {name}{number}")

        def ask(name):
            for number in range(3):
                time.sleep(random.random() * 0.005)
                work()
                job = asyncio.run_coroutine_threadsafe(part(name, number), loop)
                if number != 1:
                    job.result()
            loop.call_soon_threadsafe(end, name)

        def end(name):
            ended.append(name)
            if len(ended) == 2:
                over.set()

        threads = [threading.Thread(target=ask, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        for _ in range(8):
            await asyncio.sleep(0.003)
            said.append("tick")
        await over.wait()
        return said + ended

    return say(asyncio.run(main()))


def pool_of_threads(work):
    said = []

    def job(number):
        time.sleep(random.random() * 0.005)
        work()
        said.append(say(number))
        return number

    with ThreadPool(3) as pool:
        found = list(pool.imap_unordered(job, range(8)))
        return say([found, said, pool.map(job, range(3))])


def pool_with_limits(work):
    said = []

    def job(number):
        time.sleep(0.005 * number)
        work()
        return number

    with ThreadPool(2) as pool:
        for result in [pool.apply_async(job, (number,)) for number in range(5)]:
            try:
                said.append(result.get(timeout=0.004))
            except TooLate:
                said.append("late")
        parts = pool.imap_unordered(job, range(3))
        while len(said) < 60:
            try:
                said.append(parts.next(timeout=0.003))
            except TooLate:
                said.append("late")
            except StopIteration:
                break
    return say(said)


def loop_of_worker_threads(work):
    async def main():
        said = []

        async def note(word):
            said.append(word)

        def job(name, number):
            time.sleep(random.random() * 0.004)
            work()
            anyio.from_thread.run(note, f"{name}{number}")
            work()
            anyio.from_thread.run_sync(said.append, f"{name}{number} again")

        async def several(name):
            for number in range(3):
                await anyio.to_thread.run_sync(job, name, number)
                said.append(f"{name}{number} is done")

        async with anyio.create_task_group() as tasks:
            for name in "abc":
                tasks.start_soon(several, name)
        return said

    return say(anyio.run(main))


PROGRAMS = [
    called_from_threads,
    coroutines_of_threads,
    loop_of_worker_threads,
    pool_of_threads,
    pool_with_limits,
]


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("slower", [0.0, 0.02])
def test_threads_do_the_same_again_where_all_is_slower(program, slower, home):
    with reenact.record("threads") as recording:
        said = program(lambda: None)
    for _ in range(3):
        with reenact.replay(recording.id) as replay:
            assert program(lambda: native(slower)) == said
        assert replay.verdict.faithful, str(replay.verdict)


def test_a_call_from_a_thread_that_is_cancelled_is_cancelled_again(home):
    def program():
        async def main():
            said, over = [], asyncio.Event()
            loop = asyncio.get_running_loop()

            def ask():
                loop.call_soon_threadsafe(said.append, "cancelled").cancel()
                loop.call_soon_threadsafe(said.append, "called")
                loop.call_soon_threadsafe(over.set)

            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()
            await over.wait()
            return said

        return say(asyncio.run(main()))

    with reenact.record("cancelled") as recording:
        assert program() == ["called"]
    with reenact.replay(recording.id) as replay:
        assert program() == ["called"]
    assert replay.verdict.faithful, str(replay.verdict)


def test_a_loop_that_is_closed_says_so(home):
    loop = asyncio.new_event_loop()
    loop.close()
    with reenact.record("closed"), pytest.raises(RuntimeError, match="closed"):
        loop.call_soon_threadsafe(print)


def test_calls_of_the_loops_own_thread_leave_no_line(home):
    async def main():
        over = asyncio.Event()
        asyncio.get_running_loop().call_soon_threadsafe(over.set)
        await over.wait()

    with reenact.record("own") as recording:
        asyncio.run(main())
    assert b"wake#" not in Path(recording.path, "events.jsonl").read_bytes()


def test_a_wait_in_vain_is_told_though_a_job_was_given_up_before(home):
    @reenact.tool
    async def search(question):
        await asyncio.sleep(60)

    async def program(patience):
        job = asyncio.ensure_future(asyncio.to_thread(time.sleep, 0.02))
        await asyncio.sleep(0.001)
        job.cancel()
        await asyncio.sleep(0.05)
        task = asyncio.ensure_future(search("long"))
        await asyncio.sleep(0.001)
        if not patience:
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    with reenact.record() as run:
        asyncio.run(program(patience=False))
    with pytest.raises(reenact.DivergenceError, match="now it waits for the answer"), reenact.replay(run.id):
        asyncio.run(program(patience=True))


def test_what_fails_because_of_a_departure_is_not_logged_again(home, caplog):
    async def ended():
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        future.set_result(None)
        try:
            say("other")
        finally:
            # The loop logs what its own callbacks raise, here while the departure is on its way.
            try:
                future.set_result(None)
            except asyncio.InvalidStateError as error:
                loop.call_exception_handler({"message": "in a callback", "exception": error})

    with reenact.record("logged") as recording:
        say("first")
    with pytest.raises(reenact.DivergenceError), reenact.replay(recording.id):
        asyncio.run(ended())
    assert not caplog.records


def test_the_main_thread_rests_where_it_waits_at_its_end_for_other_threads(shell):
    shell.write(
        "agent.py",
        """
import threading, time
import reenact
from reenact.core.boundary import current

@reenact.tool
def work(n):
    return n

def late():
    while threading.main_thread().is_alive():
        time.sleep(0.01)
    print([work(n) for n in range(3)], current().run.turnstile.strangers({0}))
    print(current().run.turnstile.others_run())

threading.Thread(target=late).start()
""",
    )
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    again = shell.replay()
    assert "False" in again.out
