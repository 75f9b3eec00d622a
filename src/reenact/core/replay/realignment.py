"""Replay an edited program: tell inserted, removed and changed calls apart.

All other calls keep their own answers.
"""

from __future__ import annotations

from collections.abc import Mapping

from reenact.core.align import nearest
from reenact.core.model import codec
from reenact.core.model.log import CallRecord
from reenact.core.replay import match
from reenact.core.replay.counterparts import QuestionReader
from reenact.core.replay.counterparts import asked as recorded
from reenact.core.replay.cursor import Cursor
from reenact.core.replay.departures import ALIKE
from reenact.core.replay.question import Question
from reenact.errors import Departure, Divergence


class Realignment:
    """Collects the questions without a counterpart; the end of the run shows the kind of each.

    Args:
        cursor: The calls that have been asked for.
        steps: The step number of each call.
        live: Answer inserted calls live; otherwise refuse them.
    """

    def __init__(self, cursor: Cursor, steps: Mapping[int, int], *, live: bool) -> None:
        self._log = cursor.log
        self._cursor = cursor
        self._steps = steps
        self._live = live
        self._unmatched: list[tuple[Question, int | None]] = []
        self._given: dict[int, Question] = {}
        self._inserted: dict[int, int] = {}
        self._questions = QuestionReader()
        self._news: dict[int, bytes] = {}

    def counterpart(self, question: Question) -> tuple[CallRecord | None, bool]:
        """Return the recorded call that this question changes, if its answer is to be given.

        The second value is True if both have the same new part (a chat's last messages): then only the history
        before it differs. Otherwise the call is a guess, by likeness.
        """
        news = self._news_of(question)
        for call in self._cursor.unasked(question.scope.path, question.label):
            if self._news_of(call) == news:
                self._unmatched.append((question, call.number))
                self._given[call.number] = question
                return call, True
        nearest = self._nearest(question)
        self._unmatched.append((question, nearest.number if nearest is not None else None))
        if self._live or nearest is None:
            return None, False
        self._given[nearest.number] = question
        return nearest, False

    def given_away(self, question: Question) -> CallRecord | None:
        """Return the recorded call of this question if its answer was given to an inserted question.

        The inserted one looked like a change of it.
        """
        for number, other in self._given.items():
            call = self._log.calls[number]
            if call.label != question.label or number in self._inserted.values():
                continue
            news = self._news_of(call)
            if self._news_of(question) == news and self._news_of(other) != news:
                self._inserted[id(other)] = number
                self._given[number] = question
                self._unmatched.append((question, number))
                return call
        return None

    def _news_of(self, asked: Question | CallRecord) -> bytes:
        """Return a digest of the new part of a question, without the history that it repeats."""
        known = self._news.get(id(asked))
        if known is None:
            if isinstance(asked, CallRecord):
                args, found = self._log.args(asked), recorded(self._log, asked)
            else:
                args, found = asked.trees, self._questions.asked(asked)
            if found.news == found.whole:
                # No known model call: of a list, mostly a history, the last item is new.
                args = {name: tree[-1:] if isinstance(tree, list) else tree for name, tree in args.items()}
                known = codec.packed(args)
            else:
                known = found.news
            self._news[id(asked)] = known
        return known

    def pair_up(self) -> list[Divergence]:
        """Tell changed calls from inserted ones at the end, by the unasked calls of their scope."""
        found = [self._named(question, number) for question, number in self._unmatched]
        self._unmatched.clear()
        return [divergence for divergence in found if divergence is not None]

    def _named(self, question: Question, number: int | None) -> Divergence | None:
        if (inserted := self._inserted.get(id(question))) is not None:
            taken = self._steps[inserted]
            detail = f"an inserted call of {question.label}, which got the answer of step {taken}"
            hint = "to run it for real: inserted='live'"
            return Divergence(Departure.EXTRA, question.place, taken, detail=detail, hint=hint)
        call = self._log.calls.get(number or 0)
        given = self._given.get(number or 0) is question
        if call is None or (call.number in self._cursor.asked and not given):
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
        if not differing:
            return None
        how = "answered from the recording" if given else "answered live"
        return Divergence(Departure.CHANGED, call.address, self._steps[call.number], differing, detail=how)

    def _nearest(self, question: Question) -> CallRecord | None:
        unasked = self._cursor.unasked(question.scope.path, question.label)
        return nearest(unasked, lambda call: match.likeness(self._log.args(call), question.args), ALIKE)
