"""The times that a program gives to sleeps and waits: a changed one is named at the end of a replay."""

from __future__ import annotations

import asyncio
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import anyio
import pytest

import reenact

SECONDS = 0.01


def sleeps(seconds: float) -> None:
    time.sleep(seconds)


def waits_for_an_event(seconds: float) -> None:
    threading.Event().wait(seconds)


def waits_for_a_job(seconds: float) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result(timeout=seconds)


def waits_for_a_message(seconds: float) -> None:
    with suppress(queue.Empty):
        queue.Queue[int]().get(timeout=seconds)


def waits_for_a_lock(seconds: float) -> None:
    threading.Lock().acquire(timeout=seconds)


def starts_a_timer(seconds: float) -> None:
    timer = threading.Timer(seconds, int)
    timer.start()
    timer.join()


def sleeps_in_a_task(seconds: float) -> None:
    async def main() -> None:
        await asyncio.gather(asyncio.sleep(seconds), asyncio.sleep(0))

    asyncio.run(main())


def limits_a_coroutine(seconds: float) -> None:
    async def main() -> None:
        await asyncio.wait_for(asyncio.sleep(0), seconds)

    asyncio.run(main())


def limits_a_task(seconds: float) -> None:
    async def main() -> None:
        await asyncio.gather(asyncio.wait_for(asyncio.sleep(0), seconds))

    asyncio.run(main())


def limits_a_block(seconds: float) -> None:
    async def main() -> None:
        async with asyncio.timeout(seconds):
            await asyncio.sleep(0)

    asyncio.run(main())


def limits_many(seconds: float) -> None:
    async def main() -> None:
        await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0)) for _ in range(2)], timeout=seconds)

    asyncio.run(main())


def calls_later(seconds: float) -> None:
    async def main() -> None:
        done = asyncio.Event()
        asyncio.get_running_loop().call_later(seconds, done.set)
        await done.wait()

    asyncio.run(main())


def limits_a_block_of_anyio(seconds: float) -> None:
    async def main() -> None:
        with anyio.fail_after(seconds):
            await anyio.lowlevel.checkpoint()

    anyio.run(main)


def moves_on_in_anyio(seconds: float) -> None:
    async def main() -> None:
        with anyio.move_on_after(seconds, shield=True):
            await anyio.lowlevel.checkpoint()

    anyio.run(main)


def sleeps_in_anyio(seconds: float) -> None:
    async def main() -> None:
        await anyio.sleep(seconds)

    anyio.run(main)


@pytest.mark.skipif(sys.platform == "win32", reason="no alarms there")
def test_another_time_of_an_alarm_is_named(home: str) -> None:
    def program(seconds: float) -> None:
        rings = threading.Event()
        before = signal.signal(signal.SIGALRM, lambda *_: rings.set())
        signal.setitimer(signal.ITIMER_REAL, seconds)
        rings.wait()
        signal.signal(signal.SIGALRM, before)

    with reenact.record() as run:
        program(SECONDS)
    assert not notes(run.id, program, SECONDS)
    [found] = notes(run.id, program, 2 * SECONDS)
    assert found.endswith("gave its sleeps and time limits 0.02 s in all, and 0.01 s when it was recorded")


PROGRAMS = [
    sleeps, waits_for_an_event, waits_for_a_job, waits_for_a_message, waits_for_a_lock, starts_a_timer, sleeps_in_a_task,
    limits_a_coroutine, limits_a_task, limits_a_block, limits_many, calls_later,
    limits_a_block_of_anyio, moves_on_in_anyio, sleeps_in_anyio,
]  # fmt: skip


def notes(id: str, program: Callable[[float], None], seconds: float) -> tuple[str, ...]:
    with reenact.replay(id) as replay:
        program(seconds)
    return replay.verdict.notes


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_another_time_than_recorded_is_named(home: str, program: Callable[[float], None]) -> None:
    with reenact.record() as run:
        program(SECONDS)
    assert not notes(run.id, program, SECONDS)
    [found] = notes(run.id, program, 2 * SECONDS)
    assert found.endswith("gave its sleeps and time limits 0.02 s in all, and 0.01 s when it was recorded")


def test_times_that_depend_on_the_clock_of_a_loop_do_not_count(home: str) -> None:
    def program(seconds: float) -> None:
        async def main() -> None:
            loop = asyncio.get_running_loop()
            until = loop.time() + seconds
            await asyncio.sleep(0.001)
            await asyncio.sleep(max(until - loop.time(), 0.001))

        asyncio.run(main())

    with reenact.record() as run:
        program(SECONDS)
    assert not notes(run.id, program, SECONDS)


def test_a_recording_of_an_older_version_has_no_times_and_is_faithful(home: str) -> None:
    with reenact.record() as run:
        sleeps(SECONDS)
    recording = run.load()
    sealed = recording.logs[0].sealed
    assert sealed is not None
    recording.logs[0].sealed = {name: value for name, value in sealed.items() if name != "times"}
    with reenact.replay(recording) as replay:
        sleeps(2 * SECONDS)
    assert replay.verdict.faithful
