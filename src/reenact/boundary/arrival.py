"""What arrives unasked: messages of a partner, recorded as the chunks of a stream that nobody waits for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from reenact.boundary.call import Call


async def arrive(call: Call) -> AsyncIterator[Any]:
    """The recorded chunks of a stream, each in its turn.

    Ends where the recorded stream ended by itself. Otherwise it stays until it is cancelled, which is no waiting of
    the program's: however long it takes, nobody reads on here. A fork that has gone live hears no more of what its
    parent was told, and writes none of it down.
    """
    answer, run = call.answer, call.scope.run
    assert answer is not None
    passed = -1

    def told(place: int) -> None:
        nonlocal passed
        if run.replaying:
            passed = place
            if run.came is not None:
                run.came(answer, place)

    for place, piece in enumerate(answer.pieces):
        if run.replaying:
            await run.turnstile.pass_async(piece.order, partial(told, place))
        if passed == place:
            yield call.wire.load(piece.value)
    if answer.end == "ended" and run.replaying:
        await run.turnstile.pass_async(answer.end_order, partial(told, len(answer.pieces)))
        return
    try:
        await asyncio.Event().wait()
    finally:
        if answer.end is not None:
            told(len(answer.pieces))
