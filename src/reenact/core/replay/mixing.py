"""Answer from two recordings of one program, to try one run's answers in the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import field
from typing import Any

from reenact.core.boundary import Answer, Scope, Ticket
from reenact.core.dataclass import dataclass
from reenact.core.model import codec
from reenact.core.model.log import CallRecord, Log
from reenact.core.replay.answers import answer_of
from reenact.core.replay.counterparts import QuestionReader, align, asked
from reenact.core.replay.question import Question
from reenact.core.replay.replayer import Replayer
from reenact.core.replay.watch import edit_of
from reenact.errors import Departure, Divergence

OWN = "a different question; it got its answer from this recording"
OTHER = "not in this recording; it got its answer from the other recording"
OTHERS_LIKE = "a different question; it got its answer from the other recording"
NEITHER = "not in either of the two recordings"


@dataclass(frozen=True, slots=True)
class Mix:
    """The parts to take from the other run.

    Attributes:
        other: The same process in the other run.
        swap: The calls with answers from there: this run's number by the other's.
        reads: The clocks, entropies and variables with values from there, as (scope path, source).
        exact: Answer only exactly equal questions. Otherwise a question that differs in its history alone gets the
            answer of its counterpart, first of this run, then of the other.
    """

    other: Log
    swap: Mapping[int, int] = field(default_factory=dict)
    reads: Collection[tuple[str, str]] = ()
    exact: bool = False


class Mixing(Replayer):
    """Answers from one process's recording, partly from another run of the same program.

    If the program asks a question that its own recording does not have, as an answer was different, the other
    recording answers if it can. Otherwise the replay ends there: the answer is unknown.

    Args:
        log: The recorded process.
        redactor: As for any replay.
        mix: The parts to take from the other run.
        more: As for any replay. A departure is named, and the replay continues.
    """

    def __init__(self, log: Log, redactor: Any, *, mix: Mix, **more: Any) -> None:
        super().__init__(log, redactor, **{**more, "policy": "realign", "inserted": "refuse"})
        self._mix = mix
        self._questions = QuestionReader()
        self._counterpart = align(log, mix.other)
        self._counterpart |= mix.swap
        self._used: set[int] = set()
        self._own = {call.number: asked(log, call) for call in log.calls.values()}
        self._others = {call.number: asked(mix.other, call) for call in mix.other.calls.values()}
        for number, other in mix.swap.items():
            edit = edit_of(mix.other, mix.other.calls[other])
            if edit is not None:
                self.edits[number] = edit

    def draw(self, scope: Scope, source: str, live: Callable[[], Any]) -> Any:
        key = (self.terms.name(scope.path), source)
        if key not in self._mix.reads:
            return super().draw(scope, source, live)
        with self.state.lock:
            return self.reads.next(scope, key, self._mix.other.draws.get(key, []), live)

    def _take(self, call: CallRecord) -> None:
        super()._take(call)
        other = self._counterpart.get(call.number)
        if other is not None:
            self._use(self._mix.other.calls[other])

    def _departs(self, question: Question) -> CallRecord | Ticket | Answer:
        effect = question.effect
        if self.real.lets(effect.kind, effect.label):
            return self.real.new(question)
        what = self._questions.asked(question)
        if not self._mix.exact:
            for call in self._log.calls.values():
                if call.number not in self.cursor.asked and self._own[call.number].news == what.news:
                    self._take(call)
                    self.divergences.append(self._departures.at(Departure.CHANGED, call, detail=OWN))
                    return call
        given = self._other_answer(question, what.whole, OTHER)
        if given is None and not self._mix.exact:
            given = self._other_answer(question, what.news, OTHERS_LIKE)
        if given is None:
            raise self.state.halt(Divergence(Departure.EXTRA, question.address, detail=NEITHER), question)
        return given

    def _other_answer(self, question: Question, what: bytes, detail: str) -> Answer | None:
        """Return the other run's answer to a question, or None."""
        for call in self._mix.other.calls.values():
            known = self._others[call.number]
            if call.number in self._used or what != (known.whole if detail == OTHER else known.news):
                continue
            edit = edit_of(self._mix.other, call)
            if edit is None or codec.flaw([edit.value, *(edit.pieces or ())]) is not None:
                continue
            self._use(call)
            self.divergences.append(Divergence(Departure.EXTRA, question.address, detail=detail))
            return answer_of(edit, len(self._log.times))
        return None

    def _use(self, call: CallRecord) -> None:
        """Mark the other run's call as used, with everything that happened inside it."""
        self._used.add(call.number)
        for inner in self._mix.other.calls.values():
            if inner.within == call.number and inner.number not in self._used:
                self._use(inner)
