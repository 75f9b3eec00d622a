"""What arrives unasked: messages of a partner, recorded as the chunks of a stream that nobody waits for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from reenact.core.boundary.call import Call
from reenact.core.boundary.handler import Ticket


async def arrive(call: Call) -> AsyncIterator[Any]:
    """The recorded chunks of a stream, each in its turn.

    Ends where the recorded stream ended by itself. Otherwise it stays until it is cancelled, which is no waiting of
    the program's: however long it takes, nobody reads on here. Where the program has gone live, the rest of what was
    recorded is not for it: `live_now` says so, and what arrives then is recorded in its place.
    """
    answer, run = call.answer, call.scope.run
    assert answer is not None
    passed = -1

    def told(place: int) -> None:
        nonlocal passed
        if not _gone_live(call):
            passed = place
            if run.came is not None:
                run.came(answer, place)

    for place, piece in enumerate(answer.pieces):
        if not _gone_live(call):
            await run.turnstile.pass_async(piece.order, partial(told, place))
        if passed == place:
            yield call.wire.load(piece.value)
    if answer.end == "ended" and not _gone_live(call):
        await run.turnstile.pass_async(answer.end_order, partial(told, len(answer.pieces)))
        return
    try:
        await asyncio.Event().wait()
    finally:
        if answer.end is not None:
            told(len(answer.pieces))


def live_now(call: Call) -> bool:
    """Whether a stream's chunks come from the world: from its beginning, or since a fork has gone live. Such a fork
    writes them behind those that it has from its parent, as one stream.
    """
    if call.answer is not None and _gone_live(call):
        call.ticket, call.answer = Ticket(call.answer.call), None
        call.scope.run.turnstile.live_begins()
    return call.answer is None


def _gone_live(call: Call) -> bool:
    run = call.scope.run
    return not run.replaying or bool(getattr(run.handler, "gone_live", False))
