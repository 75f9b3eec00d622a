"""A time limit that was over when it was set is so in a replay, and one that was not is not, whatever the clock says."""

from __future__ import annotations

import asyncio
import ctypes

import anyio
import anyio.lowlevel
import pytest

import reenact

LIMIT = 0.01


def stall():
    """Let the limit pass, in native code, which no recording has."""
    ctypes.CDLL(None).usleep(round(5 * LIMIT * 1e6))


async def with_asyncio(stalled):
    limit = asyncio.timeout(LIMIT)
    if stalled:
        stall()
    try:
        async with limit:
            await asyncio.sleep(0)
            return "in time"
    except TimeoutError:
        return "late"


async def with_anyio(stalled):
    limit = anyio.move_on_after(LIMIT)
    if stalled:
        stall()
    with limit:
        await anyio.lowlevel.checkpoint()
    return "late" if limit.cancelled_caught else "in time"


@pytest.fixture(params=[with_asyncio, with_anyio], ids=["asyncio", "anyio"])
def program(request):
    return request.param


def run(program, stalled):
    return asyncio.run(program(stalled))


@pytest.mark.parametrize("stalled", [True, False])
def test_a_replay_ends_the_block_where_it_was_recorded_however_long_its_own_code_takes(
    program, stalled, tmp_path
):
    with reenact.record("limits", home=tmp_path) as recording:
        recording.output = run(program, stalled)
    for again in (True, False):
        with reenact.replay(recording.id, home=tmp_path) as replay:
            replay.output = run(program, again)
        assert replay.output == ("late" if stalled else "in time")
        assert replay.verdict.faithful, str(replay.verdict)


def test_a_limit_of_no_time_ends_the_block_as_without_a_recording(tmp_path):
    async def main():
        try:
            async with asyncio.timeout(0):
                await asyncio.sleep(0)
                return "in time"
        except TimeoutError:
            return "late"

    plain = asyncio.run(main())
    with reenact.record("none", home=tmp_path) as recording:
        assert asyncio.run(main()) == plain == "late"
    with reenact.replay(recording.id, home=tmp_path) as replay:
        assert asyncio.run(main()) == plain
    assert replay.verdict.faithful, str(replay.verdict)


def test_a_limit_that_is_set_anew_keeps_its_state(tmp_path):
    async def main():
        async with asyncio.timeout(None) as limit:
            limit.reschedule(asyncio.get_running_loop().time() + 1000)
            inner = limit.when() is not None
            limit.reschedule(None)
            await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="finished"):
            limit.reschedule(1.0)
        return inner, limit.when(), limit.expired()

    with reenact.record("anew", home=tmp_path) as recording:
        assert asyncio.run(main()) == (True, None, False)
    with reenact.replay(recording.id, home=tmp_path) as replay:
        assert asyncio.run(main()) == (True, None, False)
    assert replay.verdict.faithful, str(replay.verdict)
