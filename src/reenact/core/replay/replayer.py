"""The handler that answers from a recording, and stops where the program departs from it.

Strict by default. Every leniency has a name, and is listed in the verdict. A replay that has diverged stays
diverged: code that swallows the `Halt` meets it again at the next effect.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from reenact.core.boundary import Answer, Handler, Scope, Ticket
from reenact.core.boundary.turnstile.replaying_turns import ReplayingTurnstile
from reenact.core.model.divergence import Verdict
from reenact.core.model.event import TOOL, Cancelled, Effect, Outcome, Tree, Value
from reenact.core.model.log import CallRecord, Log
from reenact.core.redact import Redactor
from reenact.core.replay import match, time_limits
from reenact.core.replay.answers import Answers
from reenact.core.replay.cursor import Cursor
from reenact.core.replay.departures import HINT, Departures
from reenact.core.replay.killed_process import KilledProcess
from reenact.core.replay.live_calls import LiveCalls
from reenact.core.replay.lock_turns import LockTurns
from reenact.core.replay.own_requests import OwnRequests, departure
from reenact.core.replay.printed import RecordedPrints
from reenact.core.replay.question import Question
from reenact.core.replay.reads import Reads
from reenact.core.replay.real_runs import RealRuns
from reenact.core.replay.replay_state import Inserted, Policy, ReplayState
from reenact.core.replay.rerun_results import RerunResults
from reenact.core.replay.reruns import Tools
from reenact.core.replay.rulings import ActionGuard
from reenact.core.replay.search import CallSearch
from reenact.core.replay.substitutes import Substitutes
from reenact.core.replay.terms import Terms
from reenact.core.replay.watch import Edit
from reenact.errors import Departure, Divergence, Halt, Mismatch


class Replayer(Handler):
    """Answers from one process's recording.

    Args:
        log: The recorded process.
        redactor: Built with the recording's salt, so that a secret in an argument becomes the recorded token.
        steps: The step number of each call.
        live: The kinds (`tool`) or labels (`tool:cancel_order`) that run for real.
        ignore: Rules for parts that are not compared; see `match.Rules` for their form.
        policy: The effect of a departure: `raise` stops there; `realign` names it and keeps every other call with its
            own answer; `live` names it and answers everything after it live.
        inserted: Under `realign`, `refuse` a call without a counterpart or answer it `live`.
        turnstile: A turnstile of another kind (a fork's).
        tools: The tools that run again, are answered or run for real; see `reruns.Modes`.
        here: This same process has made the recording.

    Attributes:
        compared, uncompared: The things other than calls that were compared at the end, or could not be, and why.
        edits: Answers in place of the recorded ones, by call.
        opened: The calls that run for real though their answer is recorded, to look inside.
        answering: The calls that are answered without running, whose answer is still to come.
        asks_own_server: True if requests to the program's own server are made again.
        on_answer: Called when an answer, or a part of a stream (its number), reaches the program.
        on_fire: Called at the end of a wait, with its scope and name.
        on_run: Called when a call has run for real or again.
    """

    def __init__(
        self,
        log: Log,
        redactor: Redactor,
        *,
        steps: Mapping[int, int],
        live: Iterable[str] = (),
        ignore: Iterable[str] = (),
        policy: Policy = "raise",
        inserted: Inserted = "refuse",
        turnstile: ReplayingTurnstile | None = None,
        tools: Iterable[str] = (),
        here: bool = False,
    ) -> None:
        self.turnstile = turnstile or ReplayingTurnstile(len(log.times))
        self.turnstile.abandon(log.void)
        self.state = ReplayState(log, self.turnstile, policy, inserted)
        self.divergences = self.state.divergences
        if policy == "raise" and turnstile is None:
            self.turnstile.set_strict()
        self.rules = match.Rules(ignore)
        self.cursor = Cursor(log, self.rules)
        self.killed = KilledProcess(log, self.cursor)
        self.terms = Terms(log, redactor)
        self.tools = Tools(log, self.terms, self.rules, tools, here=here)
        self.reads = Reads(self.remark)
        self.prints = RecordedPrints(log)
        self._locks = LockTurns(log, self.terms, self.cursor.calls_inside)
        self.served: Counter[str] = Counter()
        self.notes: dict[str, int] = {}
        self.compared: list[str] = []
        self.uncompared: list[str] = []
        self.changed_since: list[str] = []
        self.edits: dict[int, Edit] = {}
        self.opened: set[int] = set()
        self.answering: dict[int, None] = {}
        self.asks_own_server = True
        self.on_answer: Callable[[Answer, int | None], None] = lambda _answer, _piece: None
        self.on_fire: Callable[[tuple[str, str]], None] = lambda _fired: None
        self.on_run: Callable[[int | None], None] = lambda _call: None
        self._log = log
        self._steps = steps
        self._alone_until = min((line["t"] for line in log.spawned.values()), default=math.inf)
        self.real = RealRuns(live, self.tools.modes)
        self._departures = Departures(log, self.cursor, steps, self.turnstile)
        self._answers = Answers(log, self.turnstile, self._unanswerable)
        self._own_requests = OwnRequests(log, self.terms, self.rules, self._answers.body)
        self._search = CallSearch(
            steps, self.cursor, self.terms, self.state, departures=self._departures, real=self.real
        )
        self._reruns = RerunResults(
            steps, self.state, self.tools, self.cursor, self._departures, answers=self._answers,
            turnstile=self.turnstile, served=self.served, remark=self.remark,
        )  # fmt: skip

    def guard(self, guard: ActionGuard) -> None:
        """Let a guard decide about calls that run for real."""
        answers = Substitutes(self._log, self.terms, self.cursor, guard)
        places = len(self._log.times)
        self.real.guard = LiveCalls(guard, answers, places, halt=self.state.halt, remark=self.remark)

    # -- the handler -----------------------------------------------------------------------------------------

    def enter(self, effect: Effect, scope: Scope, ordinal: int) -> Answer | Ticket:
        if self.terms.masked:
            effect = replace(effect, name=self.terms.name(effect.name))
            scope = Scope(self.terms.name(scope.path), scope.run, call=scope.call, hidden=scope.hidden)
        question = Question(effect, scope, ordinal, self.terms.args(effect), effect.label)
        if self.tools.live(effect):
            self.real.add(effect.label)
        found = self._found(question)
        if self.state.watch is not None and not isinstance(found, Answer):
            with self.turnstile.paused():
                self.state.watch.asked(question, found if isinstance(found, CallRecord) else None)
        return self._answer(question, found) if isinstance(found, CallRecord) else found

    def _found(self, question: Question) -> CallRecord | Answer | Ticket:
        """Return the recorded call for a question, or the answer or ticket for one that has none."""
        self.killed.before_call()
        with self.state.lock:
            found = self._find(question)
            if found is not None or self.state.policy == "realign":
                return found or self._departs(question)
        # Other threads may be about to ask a question that seems left out here: let them.
        self.turnstile.rest()
        with self.state.lock:
            return self._find(question) or self._departs(question)

    def step(self, decision: Answer | Ticket) -> int | None:
        if decision.call is None or self._log.opened.get("process", "main") != "main":
            return None
        # As while recording: after the start of another process it was not known.
        alone = self._log.calls[decision.call].began <= self._alone_until
        return self._steps[decision.call] if alone else None

    def ran_again(self, ticket: Ticket, outcome: Outcome) -> Answer | None:
        call = self._call_of(ticket)
        self.killed.in_call(call)
        return None if call is None else self._reruns.outcome(call, outcome)

    def chunk_again(self, ticket: Ticket, number: int, value: Any) -> int | None:
        call = self._call_of(ticket)
        return None if call is None else self._reruns.chunk(call, number, value)

    def ended_again(self, ticket: Ticket, count: int, how: str | BaseException) -> int | None:
        call = self._call_of(ticket)
        return None if call is None else self._reruns.end(call, count, how)

    def _call_of(self, ticket: Ticket) -> CallRecord | None:
        """Return the recorded call of a tool that runs again, while the recording answers."""
        return None if ticket.call is None or not self.state.on_recording else self._log.calls[ticket.call]

    def act(self, effect: Effect, scope: Scope) -> None:
        self.real.act(effect, scope)

    def leave(self, ticket: Ticket, outcome: Outcome) -> None:
        begun = self._own_requests.begun(ticket.call, outcome)
        if begun is not None:
            # The body has no recorded place.
            ticket.order = None
        self._compare(begun)
        self.on_run(ticket.call)
        if self.state.watch is not None:
            self.state.watch.left(ticket.call, outcome)
        self.killed.after_call()

    def chunk(self, ticket: Ticket, value: Any) -> None:
        self._own_requests.chunk(ticket.call, value)

    def end(self, ticket: Ticket, how: str | BaseException) -> None:
        found = self._own_requests.ended(ticket.call, how)
        if found is not None and not found[1]:
            self.served[found[0].kind] += 1
        self._compare(found)
        self.killed.after_call()

    def _compare(self, found: tuple[CallRecord, tuple[Mismatch, ...]] | None) -> None:
        if found is not None and found[1] and self.state.on_recording:
            self.state.depart(departure(found[0], self._steps[found[0].number], found[1]))

    def fire(self, scope: Scope, name: str) -> None:
        self.on_fire((self.terms.name(scope.path), name))

    def passed(self, answer: Answer, piece: int | None) -> None:
        self.prints.passed(answer, piece)
        self._locks.passed(answer)
        self.on_answer(answer, piece)
        if answer.call is not None and piece is None:
            self.answering.pop(answer.call, None)
        self.killed.after_call()

    def due(self, scope: Scope, name: str) -> int | None:
        places = self._log.fired.get((self.terms.name(scope.path), name))
        return places[0] if places else None

    @property
    def locks(self) -> LockTurns:
        return self._locks

    def draw(self, scope: Scope, source: str, live: Callable[[], Any]) -> Any:
        if self.state.gone_live:
            return live()
        if self.real.lets(source.partition(":")[0], source):
            with self.state.lock:
                self.real.count(source)
            return live()
        key = (self.terms.name(scope.path), source)
        with self.state.lock:
            return self.reads.next(scope, key, self._log.draws.get(key, []), live)

    def read_on(self, answer: Answer) -> BaseException:
        if answer.call is None:
            assert isinstance(answer.outcome, Value)
            return self.state.halt(answer.outcome.value)
        return self.state.halt(self._departures.read_on(self._log.calls[answer.call], answer))

    def stuck(self, answer: Answer) -> BaseException:
        return self.state.halt(self._departures.stuck(self._log.calls[answer.call or 0]))

    def stands_still(self, address: str, waits: str) -> BaseException:
        label = next(iter(self.tools.answered), "")
        hint = f"--live {label} runs it for real" if label else ""
        return self.refuse(address, f"the program stands still: {waits}{self.tools.not_done()}", hint)

    def secret(self, value: str, *, typed: bool = False) -> str:
        return self.terms.secret(value, typed=typed)

    # -- the verdict -----------------------------------------------------------------------------------------

    def finish(self, *, whole: bool = True) -> None:
        """End the replay: calls that were never asked for are departures if the program ran `whole`."""
        with self.state.lock:
            self.divergences += self._search.pair_up()
            if whole and not self.state.gone_live:
                self._reruns.name_causes()
            if not whole or self.state.gone_live or (self.divergences and self.state.policy == "raise"):
                return
            left = [call for call in self.cursor.missing() if call.outcome is not None]
            named = left[:1] if self.state.policy == "raise" else left
            self.divergences += map(self._departures.never_asked, named)

    def verdict(self, recording: str) -> Verdict:
        """Return the verdict on the replay so far."""
        missing = () if self.state.gone_live else self.cursor.missing()
        return Verdict(
            recording=recording,
            served=self.served.total(),
            kinds=dict(self.served),
            live=dict(self.real.counts),
            rules=tuple(self.rules.applied),
            missing=tuple((self._steps[c.number], c.address) for c in missing if c.outcome is not None),
            divergences=tuple(sorted(self.divergences, key=lambda d: d.step or 0)),
            notes=(
                *(f"{text} (× {count})" if count > 1 else text for text, count in self.notes.items()),
                *self.tools.changed,
            ),
            again=dict(self.tools.again),
            answered={**self.tools.answered, **self._own_requests.left},
            compared=("calls", *self.compared),
            uncompared=tuple(self.uncompared),
            changed_since=tuple(self.changed_since),
        )

    def remark(self, text: str) -> None:
        """Add to the verdict a reason against a faithful replay."""
        self.notes[text] = self.notes.get(text, 0) + 1

    @property
    def sealed(self) -> Mapping[str, Tree]:
        """The last line of the recorded process; empty if it was cut off."""
        return self._log.sealed or {}

    def refuse(self, address: str, detail: str, hint: str = "") -> Halt:
        return self.state.halt(Divergence(Departure.EXTRA, address, detail=detail, hint=hint))

    @property
    def gone_live(self) -> bool:
        return self.state.gone_live

    @property
    def offline(self) -> bool:
        return not self.real and self.state.policy == "raise"

    def step_of(self, call: int) -> int:
        return self._steps[call]

    def lets_live(self, kind: str, label: str) -> bool:
        return self.real.lets(kind, label)

    @property
    def poison(self) -> Halt | None:
        """The divergence that stopped this replay, if one did."""
        return self.state.poison

    # -- finding the call ------------------------------------------------------------------------------------

    def _find(self, question: Question) -> CallRecord | Answer | Ticket | None:
        if self.state.poison is not None:
            raise Halt(self.state.poison.divergence)
        if self.state.gone_live:
            return self.real.new(question)
        found = self._search.find(question)
        if isinstance(found, CallRecord):
            self._take(found)
        return found

    def _take(self, call: CallRecord) -> None:
        self._search.take(call)

    def _departs(self, question: Question) -> CallRecord | Ticket | Answer:
        """Handle a question without a recorded call: name the departure.

        Under `realign`, a changed call keeps its counterpart.
        """
        effect = question.effect
        if self.real.lets(effect.kind, effect.label) and self.state.policy != "raise":
            return self.real.new(question)
        if self.state.policy == "realign":
            return self._search.counterpart(question) or self.real.new(question)
        self._search.depart(question)
        return self.real.new(question)

    def _answer(self, question: Question, call: CallRecord) -> Answer | Ticket:
        effect, step = question.effect, self._steps[call.number]
        if self.state.gone_live:
            return self.real.new(question)
        if effect.limits is not None and (found := time_limits.differing(call, effect, self.rules)):
            detail = "a time limit ended this call when it was recorded; with a different limit an answer may arrive"
            self.state.depart(Divergence(Departure.CHANGED, call.address, step, found, detail, HINT))
        opened = call.number in self.opened
        ticket = Ticket(call.number, call.order) if opened else self.real.again(effect, call, step)
        if ticket is not None:
            if effect.kind == "tool":
                self.state.ran = min(self.state.ran or step, step)
            self._abandon_parts(call)
            self.real.count(effect.label)
            return ticket
        own = self.asks_own_server and call.number not in self.edits
        if own and self._own_requests.runs(effect, question.scope, call):
            self._abandon_parts(call)
            return Ticket(call.number, call.order)
        again = self.tools.runs_again(question, call) if call.number not in self.edits else None
        if again is not None:
            self.tools.note(question, ran=True)
            return Ticket(call.number, call.order, again)
        self.killed.in_call(call)
        self.turnstile.abandon(self.cursor.places_inside(call))
        self.answering[call.number] = None
        if effect.kind == TOOL:
            self.tools.note(question, ran=False)
        if call.number in self.edits:
            self.remark(f"step {step}, {call.label}: its answer was edited")
            return self._answers.edited(call, self.edits[call.number])
        if call.outcome is not None:
            self.served[effect.kind] += 1
        answer = self._answers.recorded(call)
        if isinstance(answer.outcome, Cancelled):
            # Its answer never comes.
            self.prints.passed(answer, None)
            self._locks.passed(answer)
        return answer

    def _abandon_parts(self, call: CallRecord) -> None:
        """Pass over the recorded places of chunks, as a call that runs for real gives its own."""
        chunks = [order for order, _, _ in call.pieces]
        self.turnstile.abandon(chunks if call.end_order is None else (*chunks, call.end_order))

    def _unanswerable(self, call: CallRecord, flaw: str) -> Halt:
        detail, hint = f"no answer: {flaw}", f"let it run: live=['{call.label}']"
        return self.state.halt(self._departures.at(Departure.CHANGED, call, detail=detail, hint=hint))
