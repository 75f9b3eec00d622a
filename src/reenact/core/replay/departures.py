"""Name a replay's divergence from its recording: the kind, the step, and a hint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reenact.core.boundary import Answer, Scope
from reenact.core.boundary.turnstile.replaying_turns import ReplayingTurnstile
from reenact.core.model.log import CallRecord, Log
from reenact.core.replay import match
from reenact.core.replay.cursor import Cursor
from reenact.core.replay.question import Question
from reenact.errors import Departure, Divergence

ALIKE = 0.6
"""The likeness, from 0 to 1, from which one question counts as a change of another."""

HINT = "was the program edited on purpose? on_divergence='realign' gives other calls their own answers"
FORK_HINT = "up to its step a fork needs the program that was recorded: record the changed one, and fork that"


class Departures:
    """Names the fault of a question that has no counterpart.

    Args:
        log: The recorded process.
        cursor: The calls that have been asked for.
        steps: The step number of each call.
        turnstile: The position in the recorded order.
    """

    def __init__(
        self, log: Log, cursor: Cursor, steps: Mapping[int, int], turnstile: ReplayingTurnstile
    ) -> None:
        self._log = log
        self._cursor = cursor
        self._steps = steps
        self._turnstile = turnstile
        self.skipped: dict[int, CallRecord] = {}
        """The calls that were overtaken in their scope, and have not been asked for since."""

    def first(self, question: Question, there: CallRecord | None) -> Divergence:
        """Return the first divergence that a question without a counterpart shows.

        That is the question itself, or an earlier call that was left out. `there` is the call recorded at its
        address.
        """
        found = self._changed(question, there)
        return self._left_out(found, question.scope, there) or found

    def at(self, kind: Departure, call: CallRecord, *, detail: str = "", hint: str = "") -> Divergence:
        """Return a divergence at a recorded call."""
        return Divergence(kind, call.address, self._steps[call.number], detail=detail, hint=hint)

    def read_on(self, call: CallRecord, answer: Answer) -> Divergence:
        """Return the divergence of a program that reads past the recorded end of a stream."""
        detail = (
            "the recording ends here: its run was cut off in this call"
            if answer.order is not None and answer.order == answer.cut
            else "the program reads more of the stream than it did when it was recorded"
            if answer.end == "closed"
            else f"the recording ends in the middle of this stream, after {len(answer.pieces)} chunks"
        )
        return self.at(Departure.EXTRA, call, detail=detail)

    def stuck(self, call: CallRecord) -> Divergence:
        """Return the divergence of a program that waits for a recorded cancellation."""
        detail = "the program cancelled this call when it was recorded; now it waits for the answer"
        return self.at(Departure.CHANGED, call, detail=detail)

    def never_asked(self, call: CallRecord) -> Divergence:
        """Return the divergence of a recorded call that the program never made."""
        detail = (
            "the program did not make this call" if self.skipped else "the program ended without this call"
        )
        return self.at(Departure.MISSING, call, detail=detail)

    def led_to(self, call: CallRecord, found: Divergence) -> Divergence:
        """Return the divergence of a left out call that has caused `found`."""
        then = replace(found, hint="")
        return self.at(Departure.MISSING, call, detail=f"left out or moved; then: {then}", hint=HINT)

    def overtook(self, call: CallRecord, found: Divergence) -> Divergence | None:
        """Return the divergence of a call left out before `call`, which showed `found`; or None.

        A tool that runs again in the place of another one is answered as that one was.
        """
        skipped = [c for c in self.skipped.values() if c.scope == call.scope and c.number < call.number]
        left = [c for c in skipped if c.number not in self._cursor.asked]
        return self.led_to(min(left, key=lambda c: c.number), found) if left else None

    def unknown(self, question: Question, address: str) -> Divergence:
        """Return the divergence of a question that resembles no recorded call here."""
        due = self._due(question.scope, self._turnstile.position)
        here = self._cursor.next_in(question.scope.path)
        if due is not None and (here is None or due.number < here.number):
            detail = f"the next recorded step is {self._steps[due.number]}, {due.address}"
            return Divergence(Departure.EXTRA, address, self._steps[due.number], detail=detail, hint=HINT)
        if here is not None:
            detail = f"the next recorded step here is {self._steps[here.number]}, {here.label}"
            return Divergence(Departure.EXTRA, address, self._steps[here.number], detail=detail, hint=HINT)
        if self._log.sealed is None or self._interrupted:
            return self.cut_off(address)
        last = self._cursor.last
        after = self._steps[last.number] + 1 if last is not None else 1
        detail = "the recording has no further call here"
        return Divergence(Departure.EXTRA, address, after, detail=detail, hint=HINT)

    def cut_off(self, address: str) -> Divergence:
        """Return the divergence of a question after the point where the recorded run was cut off."""
        after = max(self._steps.values(), default=0)
        how = "interrupted (KeyboardInterrupt)" if self._interrupted else "cut off"
        detail = f"the recording ends after step {after}: its run was {how}"
        return Divergence(Departure.EXTRA, address, after + 1, detail=detail)

    @property
    def _interrupted(self) -> bool:
        error = (self._log.sealed or {}).get("error")
        return isinstance(error, dict) and error.get("type") == "builtins:KeyboardInterrupt"

    def _left_out(self, found: Divergence, scope: Scope, there: CallRecord | None) -> Divergence | None:
        """Return the divergence of an earlier call that should have come by now, or None.

        Its absence is then the first divergence, and `found` a consequence.
        """
        passed = self._turnstile.position
        absent = [*self.skipped.values(), *self._cursor.passed_over()]
        if there is not None:
            absent += self._cursor.before(there)
            absent += self._cursor.earlier(there) if self._turnstile.over(there.place) else []
        elif (due := self._due(scope, passed - 1)) is not None:
            absent.append(due)
        # An outcome after a question passes only when all threads rest: by then they have asked it.
        absent += [c for c in self._log.calls.values() if c.place < passed]
        first = min(
            (c for c in absent if c.number not in self._cursor.asked), key=lambda c: c.number, default=None
        )
        if first is None or (found.step is not None and self._steps[first.number] >= found.step):
            return None
        then = replace(found, hint="")
        return self.at(
            Departure.MISSING,
            first,
            detail=f"left out or moved; then the program asked: {then}",
            hint=found.hint,
        )

    def _changed(self, question: Question, there: CallRecord | None) -> Divergence:
        scope, address = question.scope, question.address
        moved = self._cursor.in_siblings(scope.path, question.label, question.args)
        if moved is not None:
            place = f"recorded at {moved.address}" if moved.scope != scope.path else "recorded later"
            due = self._due(scope, self._turnstile.position) or moved
            step = self._steps[there.number if there is not None else min(due.number, moved.number)]
            hint = "if the order of siblings does not matter: ignore=['order']"
            return Divergence(
                Departure.REORDERED, address, step, detail=f"this question is {place}", hint=hint
            )
        if there is not None and there.number not in self._cursor.asked:
            recorded = self._log.args(there)
            differing = tuple(match.mismatches(question.label, recorded, question.args, self._cursor.rules))
            unlike = match.likeness(recorded, question.args) < ALIKE
            detail = "a very different question; perhaps a call was inserted here" if unlike else ""
            known = self._log.remark_on(there.number)
            detail = f"{known}; {detail}" if known and detail else known or detail
            return Divergence(Departure.CHANGED, address, self._steps[there.number], differing, detail, HINT)
        return self.unknown(question, address)

    def _due(self, scope: Scope, position: int) -> CallRecord | None:
        """Return the call that was recorded to come before the outcome at `position`.

        It belongs to the same thread, or to another thread if none of those can ask any more.
        """
        found = self._cursor.due(scope.path, position)
        return found or (self._cursor.due(None, position) if self._turnstile.over(position) else None)
