"""The pumps of the loops: any thread may begin one while others go through them."""

from __future__ import annotations

import asyncio
import threading

import pytest

from reenact.core.boundary.turnstile.replaying_turns import ReplayingTurnstile


@pytest.mark.usefixtures("quick_switches")
def test_a_loop_may_begin_while_another_thread_wakes_the_loops():
    turnstile, raised, ended = ReplayingTurnstile(0), [], threading.Event()

    def wake():
        try:
            while not ended.is_set():
                turnstile.blocks()
                turnstile.unblocks()
        except RuntimeError as error:
            raised.append(error)

    async def wait():
        await turnstile.pass_async(None, None)

    threads = [threading.Thread(target=wake) for _ in range(3)]
    for thread in threads:
        thread.start()
    loops = [asyncio.new_event_loop() for _ in range(100)]
    for loop in loops:
        loop.run_until_complete(wait())
    ended.set()
    for thread in threads:
        thread.join()
    for loop in loops:
        loop.close()
    assert raised == []


def test_a_loop_that_is_closed_is_let_go():
    turnstile = ReplayingTurnstile(0)

    async def wait():
        await turnstile.pass_async(None, None)

    for _ in range(5):
        asyncio.run(wait())
    assert len(turnstile._pumps) == 1
