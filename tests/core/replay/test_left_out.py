"""A call that was left out is named, and not the question of another thread that follows from it."""

from __future__ import annotations

import asyncio

import pytest

import reenact
from reenact.errors import Departure, DivergenceError


@reenact.tool
async def answer_late() -> str:
    """Answer when it no longer matters."""
    await asyncio.sleep(30)
    return "late"


@reenact.tool
def ask(seen: list[str]) -> int:
    """Count what was seen."""
    return len(seen)


def program(*, waits: bool) -> None:
    """Wait for a tool that is cancelled; then ask in a thread."""

    async def first() -> None:
        if waits:
            await answer_late()

    async def main() -> None:
        seen: list[str] = []
        try:
            await asyncio.wait_for(first(), 0.001)
        except TimeoutError:
            seen.append("nothing")
        await asyncio.gather(*(asyncio.to_thread(ask, [*seen, name]) for name in "ab"))

    asyncio.run(main())


def test_a_cancelled_call_that_is_left_out_comes_before_the_changed_question_of_a_thread(home: str) -> None:
    with reenact.record() as recording:
        program(waits=True)
    with pytest.raises(DivergenceError) as found, reenact.replay(recording.id):
        program(waits=False)
    assert (found.value.divergence.kind, found.value.divergence.step) == (Departure.MISSING, 1)
