"""uvloop is replaced in a run; a loop that cannot be, and trio, are refused in one sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
import trio
import trio.lowlevel
import uvloop

import reenact


@reenact.tool
async def ask(question: int) -> int:
    """Answer the greater ones later."""
    await asyncio.sleep(0.002 * question)
    return question * question


async def agent() -> list[int]:
    done: list[int] = []

    async def one(question: int) -> None:
        done.append(await ask(question))

    await asyncio.gather(*(one(question) for question in (3, 1, 2)))
    return done


def with_a_runner() -> list[int]:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(agent())


def with_the_policy() -> list[int]:
    before = asyncio.get_event_loop_policy()
    uvloop.install()
    try:
        return asyncio.run(agent())
    finally:
        asyncio.set_event_loop_policy(before)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("program", [lambda: uvloop.run(agent()), with_a_runner, with_the_policy])
def test_a_program_on_uvloop_replays_on_the_loop_of_asyncio(
    tmp_path: Path, program: Callable[[], list[int]]
) -> None:
    with reenact.record(home=tmp_path) as recording:
        recorded = program()
    assert any("uvloop" in source for source in recording.load().sources)
    with reenact.replay(recording.id, home=tmp_path) as replay:
        assert program() == recorded
    assert replay.verdict.faithful, str(replay.verdict)


def test_uvloop_is_itself_outside_of_a_run() -> None:
    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert isinstance(uvloop.run(loop()), uvloop.Loop)


def test_a_block_inside_a_running_uvloop_says_that_its_order_is_not_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def program() -> str:
        with reenact.record(home=tmp_path) as recording:
            await agent()
        with (
            pytest.raises(reenact.ReenactError, match="a replay needs the event loop of asyncio"),
            reenact.replay(recording.id, home=tmp_path),
        ):
            pass
        return recording.id

    id = uvloop.run(program())
    assert "uvloop.Loop" in capsys.readouterr().err
    assert any("uvloop.Loop" in note for note in reenact.load(id, home=tmp_path).notes)


def test_trio_is_named_while_recording_and_refused_in_a_replay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def nothing() -> int:
        await trio.lowlevel.checkpoint()
        return 5

    with reenact.record(home=tmp_path) as recording:
        assert trio.run(nothing) == 5
    assert "trio's tasks are not recorded" in capsys.readouterr().err
    with (
        pytest.raises(reenact.DivergenceError, match="trio's tasks are not recorded"),
        reenact.replay(recording.id, home=tmp_path),
    ):
        trio.run(nothing)
    assert trio.run(nothing) == 5
