"""Go on with a recording that was cut off: answered from it first, then live, in one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reenact.core.boundary import Answer, Scope, Ticket
from reenact.core.boundary.turnstile.resumption import ResumingTurnstile
from reenact.core.model import codec
from reenact.core.model.event import Effect, Outcome
from reenact.core.model.log import RESUMED, CallRecord, Log
from reenact.core.record.recorder import Recorder
from reenact.core.replay.acts import act_of
from reenact.core.replay.replayer import Replayer
from reenact.core.replay.rulings import ActionGuard
from reenact.run.fork.event_lines import EventLines
from reenact.run.fork.handler import Forker
from reenact.run.fork.sharing import Sharing

IN_FLIGHT = "it was in flight when the run was cut off, and may have happened"
OTHERWISE = "its caller was in flight when the run was cut off, and had made this call with other arguments"


_FILES = "file:"
"""The first part of the sources of a file's status."""


class _Noticed(Sharing):
    """Notes recorded events that happen again, without writing: the file has them already."""

    def question(self, number: int) -> None:
        self.written[number] = None


class Resumer(Forker):
    """Answers what was recorded, then lets everything go live.

    Args:
        replayer: Answers; its turnstile is a `ResumingTurnstile`.
        recorder: Writes the new events.
        lines: The line numbers of the file.
        log: The recorded process.
        guard: Decides which calls in flight are made again, and about new calls that the user's rules name.
        release: Lets the writer write.
        lives: Called when calls run for real from here on.
    """

    def __init__(
        self,
        replayer: Replayer,
        recorder: Recorder,
        lines: EventLines,
        log: Log,
        *,
        guard: ActionGuard,
        release: Callable[[], None],
        lives: Callable[[], None],
    ) -> None:
        super().__init__(replayer, recorder, lines, log, at=None, edit=None, share=_nothing, guard=guard)
        self.sharing = _Noticed(recorder, lines, log, _nothing)
        replayer.tools.withheld = _nowhere
        self._unfinished = {call.number for call in log.calls.values() if _unfinished(call)}
        replayer.opened |= self._unfinished
        for number in self._unfinished:
            replayer.cursor.loosen(log.calls[number])
        self._release = release
        self._checked = False
        assert isinstance(self.turnstile, ResumingTurnstile)
        self.turnstile.on_end = self._go_live
        self._lives = lives

    # -- the handler -----------------------------------------------------------------------------------------

    def enter(self, effect: Effect, scope: Scope, ordinal: int) -> Answer | Ticket:
        self._check()
        if not self.gone_live and self.turnstile.over_all():
            self._go_live()
        inside = scope.call in self._unfinished
        if not self.gone_live and (not inside or self._equal(effect, scope)):
            decision = self.replayer.enter(effect, scope, ordinal)
            if decision.call is not None and decision.call not in self._unfinished:
                with self._lock:
                    self.sharing.question(decision.call)
                return decision
            if isinstance(decision, Ticket) and decision.call is not None:
                return self._asked_again(effect, scope, decision)
        if not self.gone_live and not inside:
            self._reach_end()
        call = self._recorded(effect, scope, ordinal)
        if call is not None:
            return self._asked_again(effect, scope, Ticket(call.number))
        self._begins()
        return self._new(effect, scope, ordinal)

    def step(self, decision: Answer | Ticket) -> int | None:
        # The recorded calls keep their steps.
        return (
            self.replayer.step(decision) if decision.call in self._log.calls else self.recorder.step(decision)
        )

    def leave(self, ticket: Ticket, outcome: Outcome) -> None:
        if not ticket.again:
            # The inside of a call that was made again may be partly of the first time, and after a refusal it is not
            # recorded: it is left out. The outcome is written even if another thread was stopped: a call that has been
            # made must not be repeated.
            begun = ticket.call in self._log.calls and self._lines.inside(ticket.call)
            partly = ticket.tool is not None and bool(begun or self._ends())
            self.recorder.leave(replace(ticket, tool=None) if partly else ticket, outcome)

    def end(self, ticket: Ticket, how: str | BaseException) -> None:
        self.recorder.end(ticket, how)

    def ran_again(self, ticket: Ticket, outcome: Outcome) -> Answer | None:
        return self.replayer.ran_again(ticket, outcome)

    def passed(self, answer: Answer, piece: int | None) -> None:
        if answer.call is None or self.replayer.poison is not None:
            return
        with self._lock:
            self.replayer.passed(answer, piece)
            self.sharing.came(answer, answer.call, piece)

    def fire(self, scope: Scope, name: str) -> None:
        if not self._ends():
            super().fire(scope, name)

    def locked(self, scope: Scope, lock: str, count: int | None) -> None:
        if not self._ends():
            super().locked(scope, lock, count)

    def printed(self, scope: Scope, text: str) -> None:
        if not self._ends():
            super().printed(scope, text)

    def draw(self, scope: Scope, source: str, live: Callable[[], Any]) -> Any:
        if self._ends():
            return live()
        if source.startswith(_FILES) and scope.call in self._unfinished:
            # A call that is made again sees the present files; its keys and random numbers stay.
            return live()
        with self._lock:
            key = self.replayer.terms.name(scope.path), source
            recorded = self._log.draws.get(key, [])
            place = self._drawn[key] = self._drawn.get(key, -1) + 1
            if place >= len(recorded):
                return self.recorder.draw(scope, source, self._clocks.onward(source, live))
            value = codec.rebuild(recorded[place])
            self._clocks.read_on(source, value)
            return value

    def due(self, scope: Scope, name: str) -> int | None:
        return None if self.gone_live else self.replayer.due(scope, name)

    def act(self, effect: Effect, scope: Scope) -> None:
        self._check()
        if self.gone_live:
            self._begins()
            if self.gate.guard.policy.rule(act_of(effect)) is not None:
                self.gate.act(effect, scope)

    def lost(self) -> CallRecord | None:
        """Return the first recorded answer that the program has not asked for, or None.

        A call that is made again need not repeat all questions: the world may have changed.
        """
        missing = self.replayer.cursor.missing()
        return next((c for c in missing if not _unfinished(c) and c.within not in self._unfinished), None)

    # -- within ----------------------------------------------------------------------------------------------

    def _ends(self) -> bool:
        """Return True if the program only ends here, because a call was refused.

        Threads that the refusal ends release joins and locks: the next resumption would wait for these in vain.
        """
        return self.stop is not None or self.replayer.poison is not None

    def _recorded(self, effect: Effect, scope: Scope, ordinal: int) -> CallRecord | None:
        """Return the recorded call in flight that a question repeats, or None."""
        terms, cursor = self.replayer.terms, self.replayer.cursor
        path = terms.name(scope.path)
        call = cursor.by_address.get((path, effect.label, ordinal))
        if call is None or call.number in cursor.asked:
            call = cursor.next_in(path)
            if call is None or _overlapped(cursor.by_scope[path]):
                return None
        args = terms.args(effect)
        terms.clean_args(args)
        if call.label == effect.label and cursor.equal(call, effect.label, args):
            cursor.take(call)
            return call
        step = self.replayer.step_of(call.number)
        if scope.call not in self._unfinished:
            self._refused(
                f"the program is not the recorded one, or no longer: it asks {effect.label} where it had asked "
                f"{call.label} (step {step}) when it was cut off"
            )
        alike = next(cursor.unasked(path, effect.label), None)
        if alike is not None and (ruling := self.gate.guard.rule_again(effect, scope.call)).mode != "live":
            step = self.replayer.step_of(alike.number)
            self._refused(self.gate.guard.refusal(ruling, step, f"{OTHERWISE} ({ruling.basis})"))
        return None

    def _new(self, effect: Effect, scope: Scope, ordinal: int) -> Answer | Ticket:
        """Let a question that is not recorded run for real, unless the user's rules refuse it."""
        if self.gate.guard.policy.rule(act_of(effect)) is not None:
            return self._ask(effect, scope, ordinal)
        ticket = self.recorder.question(effect, scope, ordinal)
        self._live_steps += 1
        if not self.gone_live:
            # It is inside of a call that is made again: its outcome comes after all that is recorded.
            ticket.order = len(self._log.times)
            ticket.code = _runs_code(effect)
        return ticket

    def _equal(self, effect: Effect, scope: Scope) -> bool:
        """Return True if a question is recorded in that scope, and has not been asked again yet."""
        terms, cursor = self.replayer.terms, self.replayer.cursor
        args = terms.args(effect)
        terms.clean_args(args)
        return any(
            cursor.equal(call, effect.label, args)
            for call in cursor.unasked(terms.name(scope.path), effect.label)
        )

    def _asked_again(self, effect: Effect, scope: Scope, ticket: Ticket) -> Ticket:
        """Make a call again that was in flight, if its policy allows it."""
        call = self._log.calls[ticket.call or 0]
        ruling = self.gate.guard.rule_again(effect, scope.call)
        if ruling.mode != "live":
            step = self.replayer.step_of(call.number)
            self._refused(self.gate.guard.refusal(ruling, step, f"{IN_FLIGHT} ({ruling.basis})"))
        if not self.gone_live and not any(each.within == call.number for each in self._log.calls.values()):
            # Its changes of files, as its outcome, come after all that is recorded.
            self.turnstile.reach_end()
        self._begins()
        text = f"{call.label} was in flight and was asked again"
        self.recorder.note(RESUMED, text, call=call.number)
        with self._lock:
            self.sharing.question(call.number)
        if ticket.order is None and not self.gone_live:
            ticket.order = len(self._log.times)
        self.gate.again(ruling, ticket, "")
        ticket.code = _runs_code(effect)
        return ticket

    def _reach_end(self) -> None:
        """Let other threads take their recorded answers first; then calls run for real."""
        self.turnstile.reach_end()
        if not self.turnstile.over_all() and (call := self.lost()) is not None:
            step = self.replayer.step_of(call.number)
            self._refused(
                f"the program is not the recorded one, or no longer: it did not ask step {step}, {call.label}, again"
            )
        self._go_live()

    def _go_live(self) -> None:
        self.replayer.state.go_live()
        self._lives()

    def _kept_snapshots(self) -> Counter[str]:
        """Count all snapshots: the file also has those before calls in flight."""
        return Counter({name: len(taken) for name, taken in self._log.snapshots.items()})

    def _begins(self) -> None:
        """Go on with the recording: something goes live."""
        if self.gone_live and not self._checked:
            self._checked = True
            if (call := self.lost()) is not None:
                step = self.replayer.step_of(call.number)
                self._refused(
                    "the program is not the recorded one, or no longer: it did not ask "
                    f"step {step}, {call.label}, again"
                )
            self._settle()
        self._release()


def _unfinished(call: CallRecord) -> bool:
    """Return True if a call was in flight, or its stream had not ended."""
    if call.outcome is None:
        return True
    return bool(call.outcome.get("stream")) and call.end is None


def _overlapped(calls: list[CallRecord]) -> bool:
    """Return True if several calls were in flight: only their addresses distinguish them."""
    return sum(map(_unfinished, calls)) > 1


def _runs_code(effect: Effect) -> bool:
    """Return True if the program's own code answers, which does not itself wait for the world."""
    return effect.source is not None and not effect.leaf


def _nowhere(effect: Effect, call: CallRecord) -> str:
    """Return no reason against running a tool again."""
    return ""


def _nothing(line: int) -> bool:
    """Write nothing: the file has the line."""
    return True
