"""Replay an edited program: tell inserted, removed and changed calls apart.

All other calls keep their own answers.
"""

from __future__ import annotations

from collections.abc import Mapping

from reenact.core.align import nearest
from reenact.core.model.log import CallRecord, Log
from reenact.core.replay import match
from reenact.core.replay.cursor import Cursor
from reenact.core.replay.departures import ALIKE
from reenact.core.replay.question import Question
from reenact.errors import Departure, Divergence


class Realignment:
    """Collects the questions without a counterpart; the end of the run shows the kind of each.

    Args:
        log: The recorded process.
        cursor: The calls that have been asked for.
        steps: The step number of each call.
        live: Answer inserted calls live; otherwise refuse them.
    """

    def __init__(self, log: Log, cursor: Cursor, steps: Mapping[int, int], *, live: bool) -> None:
        self._log = log
        self._cursor = cursor
        self._steps = steps
        self._live = live
        self._unmatched: list[tuple[Question, int | None]] = []
        self._given: dict[int, Question] = {}

    def counterpart(self, question: Question) -> CallRecord | None:
        """Return the recorded call that this question seems to change, if its answer is to be given."""
        nearest = self._nearest(question)
        self._unmatched.append((question, nearest.number if nearest is not None else None))
        if self._live or nearest is None:
            return None
        self._given[nearest.number] = question
        return nearest

    def given_away(self, question: Question) -> Divergence | None:
        """Return the departure if this question's own answer was given to another question.

        The other one looked like a change of it, but was an insertion.
        """
        for number, other in self._given.items():
            call = self._log.calls[number]
            if call.label == question.label and self._cursor.equal(call, question.label, question.args):
                step = self._steps[number]
                detail = f"an inserted call was taken for a change of step {step} and got its answer"
                return Divergence(
                    Departure.EXTRA,
                    other.place,
                    step,
                    detail=detail,
                    hint="to run it for real: inserted='live'",
                )
        return None

    def pair_up(self) -> list[Divergence]:
        """Tell changed calls from inserted ones at the end, by the unasked calls of their scope."""
        found = [self._named(question, number) for question, number in self._unmatched]
        self._unmatched.clear()
        return found

    def _named(self, question: Question, number: int | None) -> Divergence:
        call = self._log.calls.get(number or 0)
        if call is None or (call.number in self._cursor.asked and call.number not in self._given):
            call = self._nearest(question)
        if call is None:
            here = self._cursor.next_in(question.scope.path)
            step = self._steps[here.number] if here is not None else None
            detail = f"an inserted call of {question.label}, answered live"
            return Divergence(Departure.EXTRA, question.place, step, detail=detail)
        self._cursor.asked.add(call.number)
        self._cursor.asked.update(inner.number for inner in self._cursor.inside.get(call.number, ()))
        recorded = self._log.args(call)
        differing = tuple(match.mismatches(question.label, recorded, question.args, self._cursor.rules))
        how = "answered live" if self._live else "answered from the recording"
        return Divergence(Departure.CHANGED, call.address, self._steps[call.number], differing, detail=how)

    def _nearest(self, question: Question) -> CallRecord | None:
        unasked = self._cursor.unasked(question.scope.path, question.label)
        return nearest(unasked, lambda call: match.likeness(self._log.args(call), question.args), ALIKE)
