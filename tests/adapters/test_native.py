"""Native work in threads: a replay waits for it as long as it takes."""

from __future__ import annotations

import asyncio
import ctypes
import hashlib
import threading
import time

import pytest

import reenact


@reenact.tool
def done(what):
    return what


def sleeps():
    """Longer than a replay's patience with a thread that does nothing."""
    ctypes.CDLL(None).usleep(1_200_000)


def computes():
    start = time.thread_time()
    while time.thread_time() - start < 1.2:
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", 200_000)


async def beside(work):
    """Native work in a thread, and a request: answered behind the work while recording, at once in a replay."""
    order = []
    over = asyncio.Event()

    async def worked():
        await asyncio.to_thread(work)
        order.append(done("worked"))
        over.set()

    async def asked():
        answer = reenact.effect("request", "slow").aperform(over.wait)
        order.append("answered" if await answer else "")

    await asyncio.gather(worked(), asked())
    return order


@pytest.mark.parametrize("work", [sleeps, computes])
def test_work_that_came_before_an_answer_does_so_again_however_long_it_takes(work, home):
    with reenact.record("native work") as recording:
        said = asyncio.run(beside(work))
    assert said == ["worked", "answered"]
    with reenact.replay(recording.id) as replay:
        assert asyncio.run(beside(work)) == said
    assert replay.verdict.faithful, str(replay.verdict)


def in_threads(work):
    """Work without any event in one thread, and a sleep in another one that ends later."""
    order = []
    threads = [
        threading.Thread(target=lambda: (work(), order.append(done("worked")))),
        threading.Thread(target=lambda: (time.sleep(4), order.append(done("slept")))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return order


@pytest.mark.thorough
def test_work_in_a_thread_comes_before_the_sleep_of_another_one_again(home):
    with reenact.record("native work") as recording:
        said = in_threads(sleeps)
    assert said == ["worked", "slept"]
    with reenact.replay(recording.id) as replay:
        assert in_threads(sleeps) == said
    assert replay.verdict.faithful, str(replay.verdict)
