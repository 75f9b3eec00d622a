"""Record messages that a partner sends without a request, as the chunks of one stream."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from reenact.core.boundary.answer import Ticket
from reenact.core.boundary.call import Call
from reenact.core.boundary.running_loop import this_loop


async def arrive(call: Call) -> AsyncIterator[Any]:
    """Yield the recorded chunks of a stream, each in its turn.

    Ends if the recorded stream ended by itself. Otherwise it stays open until it is cancelled; this does not count
    as waiting by the program. After the run has gone live, the remaining recorded chunks are dropped: `live_now` is
    then true, and new chunks are recorded in their place.
    """
    answer, run = call.answer, call.scope.run
    assert answer is not None
    passed = -1

    def note_passed(place: int) -> None:
        nonlocal passed
        if not _gone_live(call):
            passed = place
            run.handler.passed(answer, place)

    for place, piece in enumerate(answer.pieces):
        if not _gone_live(call):
            await run.turnstile.pass_async(piece.order, partial(note_passed, place))
        if passed == place:
            yield call.wire.load(piece.value)
    if answer.end == "ended" and not _gone_live(call):
        await run.turnstile.pass_async(answer.end_order, partial(note_passed, len(answer.pieces)))
        return
    try:
        await this_loop().create_future()
    finally:
        if answer.end is not None:
            note_passed(len(answer.pieces))


def live_now(call: Call) -> bool:
    """Return True if a stream's chunks come from the world, not from the recording.

    This holds from the beginning of a live stream, and from the moment a fork goes live. Such a fork appends its
    chunks to those of its parent, as one stream.
    """
    if call.answer is not None and _gone_live(call):
        call.ticket, call.answer = Ticket(call.answer.call), None
        call.scope.run.turnstile.live_begins()
    return call.answer is None


def _gone_live(call: Call) -> bool:
    run = call.scope.run
    return not run.replaying or run.handler.gone_live
