"""Search for the recorded call that a question asks for."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from reenact.core.boundary import Answer, Scope
from reenact.core.model.event import Value
from reenact.core.model.log import CallRecord
from reenact.core.replay import match
from reenact.core.replay.cursor import Cursor
from reenact.core.replay.departures import Departures
from reenact.core.replay.question import Question
from reenact.core.replay.real_runs import RealRuns
from reenact.core.replay.replay_state import ReplayState
from reenact.core.replay.terms import Terms
from reenact.errors import Departure, Divergence

if TYPE_CHECKING:
    from reenact.core.replay.realignment import Realignment


class CallSearch:
    """Finds recorded calls, by address and by content.

    Args:
        steps: The step number of each call.
        cursor: The calls that have been asked for.
        terms: Puts arguments into the recording's terms.
        state: The replay's state.
        departures: Names the departures of calls that are taken out of order, or not found.
        real: The effects that run for real.
    """

    def __init__(
        self,
        steps: Mapping[int, int],
        cursor: Cursor,
        terms: Terms,
        state: ReplayState,
        *,
        departures: Departures,
        real: RealRuns,
    ) -> None:
        self._log = cursor.log
        self._steps = steps
        self._cursor = cursor
        self._terms = terms
        self._state = state
        self._departures = departures
        self._real = real
        self._realignment: Realignment | None = None
        if state.policy == "realign":
            from reenact.core.replay import realignment  # noqa: PLC0415 - most replays stop where they depart

            live = state.inserted == "live"
            self._realignment = realignment.Realignment(cursor, steps, live=live)

    def find(self, question: Question) -> CallRecord | Answer | None:
        """Return the recorded call of a question, or None.

        Where the recording was cut off before the question, return an answer that comes last.
        """
        scope, label = question.scope, question.label
        call = self._cursor.by_address.get((scope.path, label, question.ordinal))
        if call is None or call.number in self._cursor.asked:
            self._terms.clean_args(question.args)
            call = self._elsewhere(question)
        elif not self._asks(call, question):
            call = self._elsewhere(question)
        if call is None and self._after_cut(scope):
            last = len(self._log.times)
            return Answer(Value(self._departures.cut_off(question.address)), last, cut=last)
        return call

    def take(self, call: CallRecord) -> None:
        """Mark a recorded call as the asked one; calls that it overtakes are departures, or will be."""
        skipped, known = self._cursor.take(call), self._departures.skipped
        if call.number in known and not self._cursor.rules.order:
            del known[call.number]
            if self._cursor.overtaken(call, threading.get_ident()):
                detail = "it was requested later than recorded"
                self._state.depart(self._departures.at(Departure.REORDERED, call, detail=detail))
            return
        self._cursor.taken(call, threading.get_ident())
        for other in skipped:
            known[other.number] = other
        if skipped and self._state.policy == "raise" and self._real:
            detail = f"step {self._steps[call.number]} was requested in its place"
            self._state.depart(self._departures.at(Departure.MISSING, skipped[0], detail=detail))

    def counterpart(self, question: Question) -> CallRecord | None:
        """Return the recorded call that a question changes; None for an inserted one that may run."""
        assert self._realignment is not None
        nearest, sure = self._realignment.counterpart(question)
        if nearest is None:
            if self._state.inserted == "refuse":
                raise self._state.halt(self._departures.unknown(question, question.place), question)
        elif sure:
            self.take(nearest)
        else:
            # A guess overtakes nothing: earlier calls may still come.
            self._cursor.asked.add(nearest.number)
        return nearest

    def depart(self, question: Question) -> None:
        """Name the departure that a question without a recorded call shows."""
        there = self._cursor.by_address.get((question.scope.path, question.label, question.ordinal))
        self._state.depart(self._departures.first(question, there), question)

    def pair_up(self) -> list[Divergence]:
        """Return the divergences of all questions that had no counterpart, at the end of a replay."""
        return self._realignment.pair_up() if self._realignment is not None else []

    def _after_cut(self, scope: Scope) -> bool:
        """Return True if a question may come after the point where the recorded run was cut off.

        In that case all other recorded outcomes are released first.
        """
        if self._log.sealed is not None or self._state.policy != "raise" or self._real:
            return False
        return self._cursor.next_in(scope.path) is None

    def _asks(self, call: CallRecord, question: Question) -> bool:
        recorded, label, args = self._log.args(call), question.label, question.args
        if recorded.keys() == args.keys():
            # Usually one argument has secrets (a request's headers), and another one is long.
            differing = list(match.differing(recorded, args))
            if differing:
                self._terms.clean_args(args, differing)
            if not differing or not any(match.differing(recorded, {name: args[name] for name in differing})):
                question.equal = True
                return True
        self._terms.clean_args(args)
        if self._cursor.equal(call, label, args):
            return True
        if not self._terms.recognise(match.differences(recorded, args)):
            return False
        self._terms.clean_args(args)
        return self._cursor.equal(call, label, args)

    def _elsewhere(self, question: Question) -> CallRecord | None:
        """Return an equal recorded call at another place: calls were removed or moved."""
        realigns = self._realignment is not None
        if self._state.policy == "raise" and self._real:
            return None
        path, label, args = question.scope.path, question.label, question.args
        for call in self._cursor.unasked(path, label):
            if self._cursor.equal(call, label, args):
                return call
        if self._realignment is not None and (taken := self._realignment.given_away(question)) is not None:
            return taken
        return self._cursor.in_siblings(path, label, args) if realigns or self._cursor.rules.order else None
