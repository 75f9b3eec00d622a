"""Order the recorded answers for a program in another process, seen only by its requests.

Inside of a Python program, every task has a name, and the turnstile finds out when its loop is quiet. Here there is
neither. So requests are matched by content, equal ones by their order of arrival. An answer is sent when all requests
have come that came before it in the recording, and a request is answered when all answers have been sent that were sent
before it. Events that were concurrent may come in any order.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Iterator
from time import monotonic
from typing import Any

from reenact.core.align import nearest
from reenact.core.boundary.turnstile.forking_turns import ForkingTurnstile
from reenact.core.boundary.turnstile.replaying_turns import ReplayingTurnstile
from reenact.core.model.log import CallRecord, Log
from reenact.core.replay import counterparts, match
from reenact.core.replay.cursor import Cursor
from reenact.core.replay.question import Question

PATIENCE = 3.0
"""Seconds for a due event, besides its recorded duration."""

_APART = 0.005
"""Seconds between answers of two exchanges, for the program to take them in that order."""

ARRIVAL = "match equal questions that were asked at once by their order of arrival"
"""The rule under which one of two such questions got its answer."""


class Turns(ReplayingTurnstile):
    """The turnstile of a replay whose program runs in another process.

    Args:
        log: The recorded process.
    """

    def __init__(self, log: Log) -> None:
        super().__init__(len(log.times))
        self._times = log.times
        self._calls = sorted(log.calls.values(), key=lambda call: (call.place, call.number))
        self._came = 0
        self._owner = _owners(log)
        self._last: int | None = None
        self._waiters: list[asyncio.Future[None]] = []
        self._loop = asyncio.get_running_loop()
        self.cursor: Cursor | None = None
        """The calls that have been asked for."""
        self.on_hurry: Callable[[str], object] = len
        """Called when the replay continues without an earlier recorded event."""

    # -- for requests ----------------------------------------------------------------------------------------

    async def reached(self, call: CallRecord) -> bool:
        """Wait until all earlier recorded answers have gone out. Return False if they do not."""
        self._moved()
        return await self._until(lambda: self._open or self.position >= call.place, call.place)

    def arrived(self) -> None:
        """Note that a request has come, an answer has gone out, or the program has left."""
        self._progress = monotonic()
        self._moved()

    # -- for answers -----------------------------------------------------------------------------------------

    def passes_now(self, order: int | None, loop: asyncio.AbstractEventLoop) -> bool:
        return False

    async def await_turn(
        self, order: int | None, loop: asyncio.AbstractEventLoop, write: Callable[[], None] | None
    ) -> None:
        if order is not None and not await self._until(lambda: self._due(order), order):
            waited = self.unasked(order)
            if waited is not None:
                self.on_hurry(
                    f"an answer was sent before {waited.address} was requested, which was recorded first"
                )
        if order is not None and order < len(self._owner):
            await self._keep_apart(order)
        if write is not None:
            write()
        self._mark(order)

    def hang(self, stuck: Callable[[], BaseException]) -> Awaitable[None]:
        return _leaving(self._times, stuck)

    def rest(self) -> None:
        """Do nothing: the other threads are not in this process."""

    def over(self, place: int) -> bool:
        return False

    def abandon(self, orders: Iterable[int]) -> None:
        super().abandon(orders)
        self.arrived()

    # -- within ----------------------------------------------------------------------------------------------

    async def _keep_apart(self, order: int) -> None:
        owner = self._owner[order]
        if owner != self._last and self._last is not None and not self._open:
            before = self._times[order - 1] if order else 0.0
            await asyncio.sleep(min(_APART, max(0.0, self._times[order] - before)))
        self._last = owner
        if self._pace is not None:
            await asyncio.to_thread(self._pace, order)

    def _mark(self, order: int | None) -> None:
        super()._mark(order)
        self.arrived()

    def _due(self, order: int) -> bool:
        return self._open or (order <= self.position and self.unasked(order) is None)

    def unasked(self, order: int) -> CallRecord | None:
        """Return the first call recorded before that place that has not been asked for."""
        asked = self.cursor.asked if self.cursor is not None else set()
        while self._came < len(self._calls) and self._calls[self._came].number in asked:
            self._came += 1
        found = self._calls[self._came] if self._came < len(self._calls) else None
        return found if found is not None and found.place <= order else None

    async def _until(self, ready: Callable[[], bool], place: int) -> bool:
        while not ready():
            before = self._times[self.position - 1] if 0 < self.position <= len(self._times) else 0.0
            due = self._times[place] if place < len(self._times) else before
            left = self._progress + PATIENCE + max(0.0, due - before) - monotonic()
            if left <= 0:
                return False
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._waiters.append(waiter)
            await asyncio.wait({waiter}, timeout=left)
        return True

    def _moved(self) -> None:
        def wake() -> None:
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)

        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(wake)


def _owners(log: Log) -> list[int | None]:
    """Return the call that each place in the order belongs to."""
    found: list[int | None] = [None] * len(log.times)
    for call in log.calls.values():
        for place in (call.order, call.end_order, *(order for order, _, _ in call.pieces)):
            if place is not None:
                found[place] = call.number
    return found


class Forks(ForkingTurnstile):
    """The turnstile of a fork whose program runs in another process.

    Args:
        log: The recorded process.
    """

    def __init__(self, log: Log) -> None:
        super().__init__(len(log.times))
        self._times = log.times

    def hang(self, stuck: Callable[[], BaseException]) -> Awaitable[None]:
        return _leaving(self._times, stuck)


async def _leaving(times: list[float], stuck: Callable[[], BaseException]) -> None:
    """Wait until the program leaves, as it did: on its own clock."""
    await asyncio.sleep(PATIENCE + (times[-1] if times else 0.0))
    raise stuck()


class RequestMatcher:
    """Finds the recorded call for a request.

    Args:
        log: The recorded process.
        cursor: The calls that have been asked for.
        rules: The parts that are not compared; used rules are noted here.
    """

    def __init__(self, log: Log, cursor: Cursor, rules: match.Rules) -> None:
        self._log = log
        self._cursor = cursor
        self._rules = rules
        self._claimed: set[int] = set()
        self._used: dict[str, set[int]] = {}

    def claim(self, question: Question) -> CallRecord | None:
        """Return the first unclaimed call that asks the same, or None."""
        body = question.args.get("body")
        # Mostly, equal questions have identical bodies: other parts are compared only without one.
        alike = (call for call in self._open(question) if self._log.args(call).get("body") == body)
        for call in itertools.chain(alike, self._open(question)):
            if self._cursor.equal(call, question.label, question.args):
                self._take(call)
                return call
        return None

    def nearest(self, question: Question, position: int) -> CallRecord | None:
        """Return the unclaimed call to name a departure by: the most similar of those due."""
        calls = list(self._open(question))
        due = [call for call in calls if call.place <= position] or calls[:1]
        body = {"body": question.args.get("body")}
        return nearest(
            due, lambda call: match.likeness({"body": self._log.args(call).get("body")}, body), above=-1
        )

    def next_ordinal(self, label: str) -> int:
        """Return the ordinal of a question that the recording does not have."""
        used = self._used.setdefault(label, set())
        return next(number for number in range(len(used) + 1) if number not in used)

    def use(self, label: str, ordinal: int) -> None:
        """Note that an ordinal is used."""
        self._used.setdefault(label, set()).add(ordinal)

    def _open(self, question: Question) -> Iterator[CallRecord]:
        calls = self._cursor.unasked(question.scope.path, question.label)
        return (call for call in calls if call.number not in self._claimed)

    def _take(self, call: CallRecord) -> None:
        self._claimed.add(call.number)
        self.use(call.label, call.ordinal)
        others = (c for c in self._log.calls.values() if c is not call and c.label == call.label)
        for other in others:
            if _together(call, other) and self._twins(call, other):
                self._rules.applied[ARRIVAL] = None

    def _twins(self, one: CallRecord, other: CallRecord) -> bool:
        """Return True if two calls ask the same and have different answers."""
        equal = self._cursor.equal(one, other.label, self._log.args(other))
        return equal and counterparts.answer(self._log, one) != counterparts.answer(self._log, other)


def _together(one: CallRecord, other: CallRecord) -> bool:
    """Return True if both calls overlapped in time."""
    ends: list[Any] = [
        call.began + call.duration if call.duration is not None else 1e18 for call in (one, other)
    ]
    return bool(one.began < ends[1] and other.began < ends[0])
