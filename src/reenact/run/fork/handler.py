"""The handler of a fork: answered from the parent up to a step, then live; all is recorded.

An answer of the parent is written as a reference to the parent's line, in the order of the fork.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from reenact.adapters.thread_pools import NEVER
from reenact.core.boundary import NO_ORDER, Answer, Handler, LockOrder, Run, Scope, Ticket
from reenact.core.boundary.turnstile.forking_turns import ForkingTurnstile
from reenact.core.model.event import Cancelled, Effect, Outcome, Tree
from reenact.core.model.log import CallRecord, Log
from reenact.core.record.recorder import Recorder
from reenact.core.record.sidecar import SidecarFile
from reenact.core.replay.acts import act_of
from reenact.core.replay.replayer import Replayer
from reenact.core.replay.rulings import ActionGuard, Ruling
from reenact.core.replay.watch import Edit
from reenact.errors import Divergence, ForkStop, Halt
from reenact.run.fork import absence
from reenact.run.fork.clocks import SteadyClocks
from reenact.run.fork.event_lines import EventLines
from reenact.run.fork.reruns import Reruns
from reenact.run.fork.sharing import Sharing
from reenact.run.fork.started import around
from reenact.run.gate import LiveGate


class Forker(Handler):
    """Answers from the parent up to a call, then lets everything go live.

    Args:
        replayer: Answers from the parent; its turnstile is a `ForkingTurnstile`.
        recorder: Writes the new events.
        lines: The line numbers of the parent's file.
        log: The parent's process.
        at: The call; None: there is no such step.
        edit: Its answer instead of the recorded one; None to let it go live.
        share: Writes a reference to a line of the parent's.
        guard: Decides what may run for real.
    """

    def __init__(
        self,
        replayer: Replayer,
        recorder: Recorder,
        lines: EventLines,
        log: Log,
        *,
        at: CallRecord | None,
        edit: Edit | None,
        share: Callable[[int], bool],
        guard: ActionGuard,
    ) -> None:
        self.replayer = replayer
        replayer.asks_own_server = False
        # A fork's own recording has the parent's chunks.
        replayer.tools.streams = False
        self.recorder = recorder
        self.reached = False
        """True if the program has asked the question of the step."""
        self.stop: ForkStop | None = None
        """The reason that the fork could not go on, if any."""
        self.on_stop: Callable[[], None] = lambda: None
        self.on_live: Callable[[], None] = lambda: None
        """Called once, when calls run for real from here on."""
        self.before_live: Callable[[], Divergence | None] = lambda: None
        """Called before the step: waits for processes, and returns their departure, if any."""
        self.model: str | None = None
        self.run: Run | None = None
        self.refused_elsewhere: Callable[[], str] = lambda: ""
        """Returns the refusal of a process that the fork has started; empty without one."""
        self.gate = LiveGate(guard, recorder, replayer, log, step=self._step, stop=self._refused)
        self._lines, self._log = lines, log
        self._at, self._edit = at, edit
        self.sharing = Sharing(recorder, lines, log, share)
        self.reruns = Reruns(replayer, self.sharing, log, at)
        self._lock = threading.RLock()
        self._live = False
        self._drawn: dict[tuple[str, str], int] = {}
        self._clocks = SteadyClocks()
        self._asking: set[int | None] = set()
        self._answered = False
        self._live_steps = 0
        # Calls that were in flight when the parent was cut off have no answer: they are made again.
        replayer.opened |= {call.number for call in log.calls.values() if call.outcome is None}
        if at is not None:
            self._prepare(at)

    def _prepare(self, at: CallRecord) -> None:
        """Let the step be asked, or be answered with the edit; refer to the notes before it."""
        self.replayer.opened |= around(self._log, at)
        if self._edit is None:
            self.replayer.opened.add(at.number)
        else:
            self.replayer.edits[at.number] = self._edit
        for line in self._lines.noted:
            if line < self._lines.called[at.number]:
                self.sharing.share(line)

    # -- the handler -----------------------------------------------------------------------------------------

    def enter(self, effect: Effect, scope: Scope, ordinal: int) -> Answer | Ticket:
        self._check()
        if self.gone_live:
            return self._ask(effect, scope, ordinal)
        assert self._at is not None
        here = self._at.scope, self._at.label, self._at.ordinal
        if (scope.path, effect.label, ordinal) != here or not isinstance(self.turnstile, ForkingTurnstile):
            return self._decide(effect, scope, ordinal, self._at)
        with self.turnstile.reaching(self._at.place):
            if not self.reached:
                self._settle()
            return self._decide(effect, scope, ordinal, self._at)

    def _decide(self, effect: Effect, scope: Scope, ordinal: int, at: CallRecord) -> Answer | Ticket:
        decision = self.replayer.enter(effect, scope, ordinal)
        if decision.call is None:
            return decision if isinstance(decision, Answer) else self._ask(effect, scope, ordinal)
        if decision.call == at.number:
            self.reached = True
            if self._edit is None:
                self.replayer.state.go_live()
                self._begin_live()
                return self._ask(effect, scope, ordinal)
            self.replayer.state.lenient()
        if isinstance(decision, Ticket) and decision.order is None:
            # It has no recorded place: it comes after all that is recorded.
            decision.order = len(self._log.times)
        with self._lock:
            self.sharing.question(decision.call)
        if isinstance(decision, Ticket) and not self.reruns.begin(effect, decision):
            self._runs_again(effect, scope, decision)
        return decision

    def step(self, decision: Answer | Ticket) -> int | None:
        if decision.call not in self.sharing.written:
            return self.recorder.step(decision)
        return self.sharing.written[decision.call] if self.recorder.alone else None

    def leave(self, ticket: Ticket, outcome: Outcome) -> None:
        if ticket.call in self._asking and not self._answered and not isinstance(outcome, Cancelled):
            reason = absence.unanswered(outcome)
            if reason:
                self._stop(f"no model is at hand: {reason}")
                return
            self._answered = True
        if ticket.again:
            self._ended_again(ticket, outcome)
        elif self.stop is None:
            # The inside of a parent's call that ran for real is partly the parent's: it is left out.
            again = ticket.tool is not None and ticket.call in self._log.calls
            self.recorder.leave(replace(ticket, tool=None) if again else ticket, outcome)

    def _ended_again(self, ticket: Ticket, outcome: Outcome) -> None:
        with self._lock:
            if self.stop is None and self.poison is None:
                self.replayer.leave(ticket, outcome)
                self.reruns.end(ticket)

    def ran_again(self, ticket: Ticket, outcome: Outcome) -> Answer | None:
        return self.replayer.ran_again(ticket, outcome)

    def chunk(self, ticket: Ticket, value: Any) -> None:
        self.recorder.chunk(ticket, value)

    def end(self, ticket: Ticket, how: str | BaseException) -> None:
        if self.stop is None:
            self.recorder.end(ticket, how)

    def printed(self, scope: Scope, text: str) -> None:
        if not self.reruns.runs(scope.call):
            self.recorder.printed(scope, text)

    def passed(self, answer: Answer, piece: int | None) -> None:
        if answer.call is None or self.replayer.poison is not None:
            return
        try:
            with self._lock:
                self.replayer.passed(answer, piece)
                if self._at is not None and answer.call == self._at.number and self._edit is not None:
                    self.sharing.edited(self._at, self._edit, piece)
                else:
                    self.sharing.came(answer, answer.call, piece)
        except Exception as error:
            self.recorder.failed(error)

    def draw(self, scope: Scope, source: str, live: Callable[[], Any]) -> Any:
        with self._lock:
            if self.gone_live:
                return self.recorder.draw(scope, source, self._clocks.onward(source, live))
            key = self.replayer.terms.name(scope.path), source
            recorded = self._lines.draws.get(key, ())
            place = self._drawn[key] = self._drawn.get(key, -1) + 1
            value = self.replayer.draw(scope, source, live)
            let = self.replayer.lets_live(source.partition(":")[0], source) or self.gone_live
            if place >= len(recorded) or let:
                return self.recorder.draw(scope, source, lambda: value)
            self.sharing.share(recorded[place])
            self._clocks.read(source, value)
            return value

    def fire(self, scope: Scope, name: str) -> None:
        line = self._lines.fired.get((self.replayer.terms.name(scope.path), name))
        with self._lock:
            if line is None or self.gone_live:
                self.recorder.fire(scope, name)
            elif self.replayer.poison is None:
                self.replayer.fire(scope, name)
                self.sharing.share(line)

    def due(self, scope: Scope, name: str) -> int | None:
        if self.gone_live:
            return None
        place = self.replayer.due(scope, name)
        behind = place is not None and self._at is not None and place >= self._at.place
        if name == NEVER and behind and self._edit is None:
            # After the step, the fork itself decides if a job is cancelled.
            return None
        return place

    def locked(self, scope: Scope, lock: str, count: int | None) -> None:
        line = None if count is None else self._lines.locked.get((lock, count))
        with self._lock:
            if line is None or self.gone_live:
                self.recorder.locked(scope, lock, count)
            elif self.replayer.poison is None:
                self.sharing.share(line)

    @property
    def locks(self) -> LockOrder:
        return NO_ORDER if self.gone_live else self.replayer.locks

    def read_on(self, answer: Answer) -> BaseException:
        return self.replayer.read_on(answer)

    def stuck(self, answer: Answer) -> BaseException:
        return self.replayer.stuck(answer)

    def stands_still(self, address: str, waits: str) -> BaseException:
        return self.replayer.stands_still(address, waits)

    # -- what may run for real -------------------------------------------------------------------------------

    @property
    def turnstile(self) -> Any:
        return self.replayer.turnstile

    @property
    def gone_live(self) -> bool:
        if not self._live and self.replayer.gone_live:
            self._begin_live()
        return self._live

    @property
    def offline(self) -> bool:
        return False  # a fork needs the real keys of this machine

    @property
    def poison(self) -> Halt | None:
        return self.replayer.poison

    def lets_live(self, kind: str, label: str) -> bool:
        """Return True if that kind of call may run for real without crossing the boundary.

        After an edit, it is a departure like any question.
        """
        return self.replayer.lets_live(kind, label) or self.departs()

    def departs(self) -> bool:
        """Handle a departure from the parent: after an edit, the fork goes live there."""
        if self.reached and not self.gone_live and self.replayer.poison is None:
            self.replayer.state.go_live()
        return self.gone_live

    def refuse(self, address: str, detail: str, hint: str = "") -> Halt:
        return self.replayer.refuse(address, detail, hint)

    def note(self, what: str, text: str, **more: Tree) -> None:
        self.recorder.note(what, text, **more)

    def remark(self, text: str) -> None:
        self.replayer.remark(text)

    def secret(self, value: str, *, typed: bool = False) -> str:
        self.replayer.secret(value, typed=typed)
        return self.recorder.secret(value, typed=typed)

    def sidecar(self, name: str) -> SidecarFile | None:
        return self.recorder.sidecar(name) if self.gone_live else None

    def act(self, effect: Effect, scope: Scope) -> None:
        self._check()
        if self.gone_live:
            self.gate.act(effect, scope)

    def spawned(self, scope: Scope, process: str, command: Sequence[str]) -> None:
        """Record a process that the program starts."""
        self.recorder.alone = False
        line = self._lines.spawned.get(process)
        with self._lock:
            if line is None or self.gone_live:
                self.recorder.spawned(scope, process, command)
            else:
                self.sharing.share(line)

    # -- going live ------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Wait for the end of the processes started before; one that departs ends the run."""
        departure = self.before_live()
        if departure is not None:
            raise self.replayer.state.halt(departure)

    def _begin_live(self) -> None:
        with self._lock:
            if self._live:
                return
            self._clocks.go_live()
            if self._at is not None:
                self.sharing.go_on(self._at.began)
            newest: dict[tuple[str, str], CallRecord] = {}
            for number in sorted(self.sharing.written):
                call = self._log.calls[number]
                newest.pop((call.scope, call.label), None)
                newest[call.scope, call.label] = call
            for (scope, label), call in newest.items():
                self.recorder.build_on(call.number, scope, label, self._log.args(call))
            self.recorder.snapshots.goes_on(self._kept_snapshots(), max(self.sharing.written, default=0))
            if self.run is not None:
                self.run.replaying, self.run.model = False, self.model
            self._live = True
            self.on_live()

    def _kept_snapshots(self) -> Counter[str]:
        return self._lines.snapshots(self.sharing.written)

    def _ask(self, effect: Effect, scope: Scope, ordinal: int) -> Answer | Ticket:
        ruling = self.gate.guard.rule(effect, scope.call)
        live_model = (ruling.act.impact, ruling.mode) == ("model", "live")
        asks = live_model and self.gone_live and not self._answered
        if asks and (reason := absence.keyless(effect)):
            self._stop(f"no model is at hand: {reason}")
        self._check()
        decision = self.gate.enter(ruling, scope, ordinal)
        self._live_steps += 1
        if asks and isinstance(decision, Ticket):
            self._asking.add(decision.call)
        return decision

    def _runs_again(self, effect: Effect, scope: Scope, ticket: Ticket) -> None:
        """Decide on a call of the parent's that runs for real though it is before the step."""
        call = self._log.calls[ticket.call or 0]
        if call.number in self.replayer.opened and (self._at is None or call.number != self._at.number):
            why = "it was in flight when the recording was cut off"
            if call.outcome is not None:
                why = "the step is inside of it, so it would run again"
            self.gate.again(self.gate.guard.rule_again(effect, scope.call), ticket, why)
        elif self.replayer.lets_live(effect.kind, effect.label):
            self.gate.guard.went(call.number, Ruling(act_of(effect), "live", "--live", covers=True))

    def notice_refusal(self) -> None:
        """Stop if a process that the fork has started was refused an act."""
        if self.stop is None and (reason := self.refused_elsewhere()):
            self._stop(reason)

    def _step(self, call: int | None) -> int:
        """Return the step number of a call of the parent's, or (None) of the next live call."""
        if call is not None and call in self._log.calls:
            return self.replayer.step_of(call)
        with self._lock:
            return len(self.sharing.written) + self._live_steps + 1

    def _refused(self, reason: str) -> None:
        self._stop(reason)
        self._check()

    def _stop(self, reason: str) -> None:
        with self._lock:
            if self.stop is not None:
                return
            self.stop = ForkStop(reason)
            if self.run is not None:
                self.run.halt = self.stop
        self.on_stop()

    def _check(self) -> None:
        self.notice_refusal()
        if self.stop is not None:
            raise ForkStop(self.stop.reason)
        if self.replayer.poison is not None:
            raise Halt(self.replayer.poison.divergence)
