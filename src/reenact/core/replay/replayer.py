"""The handler that answers from a recording, and stops where the program departs from it.

Strict by default. Every leniency has a name, and is listed in the verdict. A replay that has diverged stays
diverged: code that swallows the `Halt` meets it again at the next effect.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from reenact.core.boundary import Answer, ForkingTurnstile, Handler, ReplayingTurnstile, Scope, Ticket
from reenact.core.model.divergence import Verdict, forking_hint
from reenact.core.model.event import TOOL, Cancelled, Effect, Outcome, Tree, Value, unnumbered
from reenact.core.model.log import CallRecord, Log
from reenact.core.redact import Redactor
from reenact.core.replay import match, time_limits
from reenact.core.replay.acts import act_of
from reenact.core.replay.answers import Answers
from reenact.core.replay.cursor import Cursor
from reenact.core.replay.departures import FORK_HINT, HINT, Departures
from reenact.core.replay.live_calls import LiveCalls
from reenact.core.replay.own_requests import OwnRequests, departure
from reenact.core.replay.printed import RecordedPrints
from reenact.core.replay.question import Question
from reenact.core.replay.reads import Reads
from reenact.core.replay.realignment import Realignment
from reenact.core.replay.reruns import Tools
from reenact.core.replay.rulings import ActionGuard
from reenact.core.replay.substitutes import Substitutes
from reenact.core.replay.terms import Terms
from reenact.core.replay.watch import Edit, Watch
from reenact.errors import Departure, Divergence, Halt, Mismatch, UsageError

Policy = Literal["raise", "realign", "live"]
Inserted = Literal["refuse", "live"]


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
        here: This very process has made the recording.
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
        for name, value, known in (
            ("on_divergence", policy, ("raise", "realign", "live")),
            ("inserted", inserted, ("refuse", "live")),
        ):
            if value not in known:
                raise UsageError(f"{name}={value!r} is not one of {', '.join(map(repr, known))}")
        self.turnstile = turnstile or ReplayingTurnstile(len(log.times))
        self.turnstile.abandon(log.void)
        if policy == "raise" and turnstile is None:
            self.turnstile.set_strict()
        self.rules = match.Rules(ignore)
        self.cursor = Cursor(log, self.rules)
        self.divergences: list[Divergence] = []
        self.served: Counter[str] = Counter()
        self.let_live: dict[str, int] = {}
        self.notes: dict[str, int] = {}
        self.compared: list[str] = []
        """The things beside calls that were compared at the end."""
        self.uncompared: list[str] = []
        self.changed_since: list[str] = []
        """The recorded things that could not be compared, with the reason."""
        self._log = log
        self._steps = steps
        self._alone_until = min((line["t"] for line in log.spawned.values()), default=math.inf)
        self._live = self._named_live = frozenset(live)
        self._policy = policy
        self._inserted = inserted
        self._lock = threading.RLock()
        self.on_halt: Callable[[], None] = lambda: None
        """Called once, when this replay is stopped by a divergence."""
        self._poison: Halt | None = None
        self._gone_live = False
        self._forked = isinstance(turnstile, ForkingTurnstile)
        self._ran: int | None = None
        """The first step of a tool that ran for real."""
        self._departures = Departures(log, self.cursor, steps, self.turnstile)
        self._realignment = Realignment(log, self.cursor, steps, live=inserted == "live")
        self.watch: Watch | None = None
        """The debugger or fork that watches this replay, if any."""
        self.edits: dict[int, Edit] = {}
        """Answers in place of the recorded ones, by call."""
        self.opened: set[int] = set()
        """The calls that run for real though their answer is recorded, to look inside."""
        self.reads = Reads(self.remark)
        self._answers = Answers(log, self.turnstile, self._unanswerable)
        self.prints = RecordedPrints(log)
        self.on_answer: Callable[[Answer, int | None], None] = lambda _answer, _piece: None
        """Called when an answer, or a part of a stream (its number), reaches the program."""
        self.on_fire: Callable[[tuple[str, str]], None] = lambda _fired: None
        """Called at the end of a wait, with its scope and name."""
        self.answering: dict[int, None] = {}
        """The calls that are answered without running, whose answer is still to come."""
        self.on_run: Callable[[int | None], None] = lambda _call: None
        """Called when a call has run for real or again."""
        self.terms = Terms(log, redactor)
        self.tools = Tools(log, self.terms, self.rules, tools, here=here)
        self.asks_own_server = True
        """True if requests to the program's own server are made again."""
        self._own_requests = OwnRequests(log, self.terms, self.rules, self._answers.body)
        self._live_calls: LiveCalls | None = None
        self._ran_again: set[str] = set()
        """The addresses, without numbers of tasks and threads, of the calls whose code runs again."""
        self._did_not_run: set[str] = set()
        self._cancelled: dict[int, tuple[int, Divergence]] = {}
        """The same of the tool calls that are answered."""

    def guard(self, guard: ActionGuard) -> None:
        """Have calls that run for real decided about."""
        answers = Substitutes(self._log, self.terms, self.cursor, guard)
        places = len(self._log.times)
        self._live_calls = LiveCalls(guard, answers, places, halt=self.halt, remark=self.remark)

    # -- the handler -----------------------------------------------------------------------------------------

    def enter(self, effect: Effect, scope: Scope, ordinal: int) -> Answer | Ticket:
        if self.terms.masked:
            effect = replace(effect, name=self.terms.name(effect.name))
            scope = Scope(self.terms.name(scope.path), scope.run, call=scope.call, hidden=scope.hidden)
        question = Question(effect, scope, ordinal, self.terms.args(effect))
        if self.tools.live(effect):
            self._live |= {effect.label}
        found = self._found(question)
        if self.watch is not None and not isinstance(found, Answer):
            with self.turnstile.paused():
                self.watch.asked(question, found if isinstance(found, CallRecord) else None)
        return self._answer(question, found) if isinstance(found, CallRecord) else found

    def _found(self, question: Question) -> CallRecord | Answer | Ticket:
        """Return the recorded call for a question, or the answer or ticket for one that has none."""
        with self._lock:
            found = self._find(question)
            if found is not None or self._policy == "realign":
                return found or self._departs(question)
        # Other threads may be about to ask what would look left out here: let them.
        self.turnstile.rest()
        with self._lock:
            return self._find(question) or self._departs(question)

    def step(self, decision: Answer | Ticket) -> int | None:
        if decision.call is None or self._log.opened.get("process", "main") != "main":
            return None
        # As it was while the recording was made: behind the start of another process it was not known.
        alone = self._log.calls[decision.call].began <= self._alone_until
        return self._steps[decision.call] if alone else None

    def ran_again(self, ticket: Ticket, outcome: Outcome) -> Answer | None:
        if self._gone_live or self._poison is not None or ticket.call is None:
            return None
        with self._lock:
            call = self._log.calls[ticket.call]
            found = self.tools.departure(call, self._steps[call.number], outcome)
            if found is not None and isinstance(outcome, Cancelled):
                # Its coroutine is being closed, and could not be told.
                self.divergences.append(found)
                self._cancelled[call.number] = self.turnstile.position, found
            elif found is None:
                self.served[call.kind] += 1
            elif self.tools.here and self.tools.unchanged(call):
                self.served[call.kind] += 1
                self.tools.moved_on(call)
                self.remark(
                    f"{call.label} ran again and gave another result than recorded; the program got the recorded one"
                )
                self.turnstile.abandon(self.cursor.places_inside(call))
                return self._answers.recorded(call)
            else:
                self.depart(self._departures.overtook(call, found) or found)
        return None

    def chunk_again(self, ticket: Ticket, number: int, value: Any) -> int | None:
        if self._gone_live or self._poison is not None or ticket.call is None:
            return None
        with self._lock:
            call = self._log.calls[ticket.call]
            found = self.tools.other_chunk(call, self._steps[call.number], number, value)
            if found is not None:
                self.depart(self._departures.overtook(call, found) or found)
        return call.pieces[number][0] if number < len(call.pieces) else None

    def ended_again(self, ticket: Ticket, count: int, how: str | BaseException) -> int | None:
        if self._gone_live or self._poison is not None or ticket.call is None:
            return None
        with self._lock:
            call = self._log.calls[ticket.call]
            found = self.tools.other_end(call, self._steps[call.number], count, how)
            self.turnstile.abandon([order for order, _, _ in call.pieces[count:]])
            if found is not None and how in ("closed", "cancelled"):
                # Its generator is being closed, and could not be told.
                self.divergences.append(found)
            elif found is not None:
                self.depart(self._departures.overtook(call, found) or found)
        return call.end_order

    def act(self, effect: Effect, scope: Scope) -> None:
        if self._live_calls is not None and self._named_live.isdisjoint(
            {*act_of(effect).names} - {effect.kind}
        ):
            self._live_calls.act(effect, scope)

    def leave(self, ticket: Ticket, outcome: Outcome) -> None:
        begun = self._own_requests.begun(ticket.call, outcome)
        if begun is not None:
            # What follows the head comes as it comes.
            ticket.order = None
        self._compare(begun)
        self.on_run(ticket.call)
        if self.watch is not None:
            self.watch.left(ticket.call, outcome)

    def chunk(self, ticket: Ticket, value: Any) -> None:
        self._own_requests.chunk(ticket.call, value)

    def end(self, ticket: Ticket, how: str | BaseException) -> None:
        found = self._own_requests.ended(ticket.call, how)
        if found is not None and not found[1]:
            self.served[found[0].kind] += 1
        self._compare(found)

    def _compare(self, found: tuple[CallRecord, tuple[Mismatch, ...]] | None) -> None:
        if found is not None and found[1] and not self._gone_live and self._poison is None:
            self.depart(departure(found[0], self._steps[found[0].number], found[1]))

    def fire(self, scope: Scope, name: str) -> None:
        self.on_fire((self.terms.name(scope.path), name))

    def passed(self, answer: Answer, piece: int | None) -> None:
        self.prints.passed(answer, piece)
        self.on_answer(answer, piece)
        if answer.call is not None and piece is None:
            self.answering.pop(answer.call, None)

    def due(self, scope: Scope, name: str) -> int | None:
        places = self._log.fired.get((self.terms.name(scope.path), name))
        return places[0] if places else None

    def turn(self, scope: Scope, lock: str, count: int) -> bool | None:
        taker = self._log.locked.get((lock, count))
        return None if taker is None else taker == self.terms.name(scope.path)

    def draw(self, scope: Scope, source: str, live: Callable[[], Any]) -> Any:
        if self._gone_live:
            return live()
        if self._lets_live(source.partition(":")[0], source):
            with self._lock:
                self.let_live[source] = self.let_live.get(source, 0) + 1
            return live()
        key = (self.terms.name(scope.path), source)
        with self._lock:
            return self.reads.next(scope, key, self._log.draws.get(key, []), live)

    def read_on(self, answer: Answer) -> BaseException:
        if answer.call is None:
            assert isinstance(answer.outcome, Value)
            return self.halt(answer.outcome.value)
        call = self._log.calls[answer.call]
        detail = (
            "the recording ends here: its run was cut off in this call"
            if answer.order is not None and answer.order == answer.cut
            else "the program reads more of the stream than it did when it was recorded"
            if answer.end == "closed"
            else f"the recording ends in the middle of this stream, after {len(answer.pieces)} chunks"
        )
        return self.halt(self._departures.at(Departure.EXTRA, call, detail=detail))

    def stuck(self, answer: Answer) -> BaseException:
        call = self._log.calls[answer.call or 0]
        detail = "the program cancelled this call when it was recorded; now it waits for the answer"
        return self.halt(self._departures.at(Departure.CHANGED, call, detail=detail))

    def stands_still(self, address: str, waits: str) -> BaseException:
        label = next(iter(self.tools.answered), "")
        hint = f"--live {label} runs it for real" if label else ""
        return self.refuse(address, f"the program stands still: {waits}{self.tools.not_done()}", hint)

    def secret(self, value: str, *, typed: bool = False) -> str:
        return self.terms.secret(value, typed=typed)

    # -- the verdict -----------------------------------------------------------------------------------------

    def finish(self, *, whole: bool = True) -> None:
        """End the replay: calls that were never asked for are departures if the program ran `whole`."""
        with self._lock:
            self.divergences += self._realignment.pair_up()
            if whole and not self._gone_live:
                self._name_the_causes()
            if not whole or self._gone_live or (self.divergences and self._policy == "raise"):
                return
            for call in self.cursor.missing():
                if call.outcome is None:
                    continue
                self.divergences.append(self._departures.never_asked(call))
                if self._policy == "raise":
                    break

    def _name_the_causes(self) -> None:
        """Name a left out call in the place of a tool that was cancelled because it was left out."""
        for position, found in self._cancelled.values():
            due = [c for c in self.cursor.missing() if c.outcome is not None and c.place <= position]
            if due and found in self.divergences:
                self.divergences.remove(found)
                self.divergences.append(self._departures.led_to(due[0], found))

    def verdict(self, recording: str) -> Verdict:
        """Return the verdict on the replay so far."""
        missing = () if self._gone_live else self.cursor.missing()
        return Verdict(
            recording=recording,
            served=self.served.total(),
            kinds=dict(self.served),
            live=dict(self.let_live),
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
        """Add to the verdict a reason why this replay is not wholly faithful."""
        self.notes[text] = self.notes.get(text, 0) + 1

    @property
    def sealed(self) -> Mapping[str, Tree]:
        """The last line of the recorded process; empty if it was cut off."""
        return self._log.sealed or {}

    def ran_inside(self, path: str) -> bool:
        """Return True if all calls around the scopes of that path ran again.

        The scopes are those of all tasks and threads of one name.
        """
        parts = unnumbered(path).split("/")
        around = {"/".join(parts[:end]) for end, part in enumerate(parts, 1) if "#" in part}
        return around <= self._ran_again and not around & self._did_not_run

    def refuse(self, address: str, detail: str, hint: str = "") -> Halt:
        return self.halt(Divergence(Departure.EXTRA, address, detail=detail, hint=hint))

    @property
    def gone_live(self) -> bool:
        return self._gone_live

    @property
    def offline(self) -> bool:
        return not self._live and self._policy == "raise"

    @property
    def strict(self) -> bool:
        """True if questions that the recording does not have are refused."""
        return self._policy == "raise" or (self._policy == "realign" and self._inserted == "refuse")

    def step_of(self, call: int) -> int:
        """Return the step number of a recorded call."""
        return self._steps[call]

    def lets_live(self, kind: str, label: str) -> bool:
        return self._lets_live(kind, label)

    @property
    def lets_commands_run(self) -> bool:
        """True if a command may run for real."""
        return any(word.partition(":")[0] == "process" for word in self._live)

    @property
    def poison(self) -> Halt | None:
        """The divergence that stopped this replay, if one did."""
        return self._poison

    # -- finding the call ------------------------------------------------------------------------------------

    def _find(self, question: Question) -> CallRecord | Answer | Ticket | None:
        if self._poison is not None:
            raise Halt(self._poison.divergence)
        if self._gone_live:
            return self._go_live(question)
        scope, label = question.scope, question.label
        call = self.cursor.by_address.get((scope.path, label, question.ordinal))
        if call is None or call.number in self.cursor.asked:
            self.terms.clean_args(question.args)
            call = self._elsewhere(question)
        elif not self._asks(call, question.effect, question.args):
            call = self._elsewhere(question)
        if call is None and self._behind(scope):
            behind = len(self._log.times)
            return Answer(Value(self._departures.cut_off(question.address)), behind, cut=behind)
        if call is not None:
            self._take(call)
        return call

    def _behind(self, scope: Scope) -> bool:
        """Return True if a question may lie behind the point where the recorded run was cut off.

        In that case all other recorded outcomes are released first.
        """
        if self._log.sealed is not None or self._policy != "raise" or self._live:
            return False
        return self.cursor.next_in(scope.path) is None

    def _departs(self, question: Question) -> CallRecord | Ticket | Answer:
        """Handle a question without a recorded call: name the departure.

        Under `realign`, a changed call keeps its counterpart.
        """
        effect = question.effect
        if self._lets_live(effect.kind, effect.label) and self._policy != "raise":
            return self._go_live(question)
        if self._policy == "realign":
            nearest, sure = self._realignment.counterpart(question)
            if nearest is None and self._inserted == "refuse":
                raise self.halt(self._departures.unknown(question, question.place), question)
            if nearest is None:
                return self._go_live(question)
            if sure:
                self._take(nearest)
            else:
                # A guess overtakes nothing: what stands before it may still come.
                self.cursor.asked.add(nearest.number)
            return nearest
        there = self.cursor.by_address.get((question.scope.path, question.label, question.ordinal))
        self.depart(self._departures.first(question, there), question)
        return self._go_live(question)

    def _asks(self, call: CallRecord, effect: Effect, args: dict[str, Tree]) -> bool:
        recorded = self._log.args(call)
        if recorded.keys() == args.keys():
            # Mostly it is one argument that has secrets (a request's headers), and another that is long.
            differing = list(match.differing(recorded, args))
            self.terms.clean_args(args, differing)
            if not any(match.differing(recorded, {name: args[name] for name in differing})):
                return True
        self.terms.clean_args(args)
        if self.cursor.equal(call, effect.label, args):
            return True
        if not self.terms.recognise(match.differences(recorded, args)):
            return False
        self.terms.clean_args(args)
        return self.cursor.equal(call, effect.label, args)

    def _elsewhere(self, question: Question) -> CallRecord | None:
        """Return the same question at another place of its scope: calls were removed or moved."""
        if self._policy == "raise" and self._live:
            return None
        path, label, args = question.scope.path, question.label, question.args
        for call in self.cursor.unasked(path, label):
            if self.cursor.equal(call, label, args):
                return call
        if self._policy == "realign":
            if (taken := self._realignment.given_away(question)) is not None:
                return taken
            return self.cursor.in_siblings(path, label, args)
        return self.cursor.in_siblings(path, label, args) if self.rules.order else None

    def _take(self, call: CallRecord) -> None:
        """Mark a recorded call as the asked one; calls that it overtakes are departures, or will be."""
        skipped, known = self.cursor.take(call), self._departures.skipped
        if call.number in known and not self.rules.order:
            del known[call.number]
            if self.cursor.overtaken(call, threading.get_ident()):
                detail = "it was requested later than recorded"
                self.depart(self._departures.at(Departure.REORDERED, call, detail=detail))
            return
        self.cursor.taken(call, threading.get_ident())
        for other in skipped:
            known[other.number] = other
        if skipped and self._policy == "raise" and self._live:
            detail = f"step {self._steps[call.number]} was requested in its place"
            self.depart(self._departures.at(Departure.MISSING, skipped[0], detail=detail))

    def _answer(self, question: Question, call: CallRecord) -> Answer | Ticket:
        effect = question.effect
        if self._gone_live:
            return self._go_live(question)
        if effect.limits is not None and (found := time_limits.differing(call, effect, self.rules)):
            detail = "a time limit ended this call when it was recorded; with a different limit an answer may arrive"
            self.depart(
                Divergence(Departure.CHANGED, call.address, self._steps[call.number], found, detail, HINT)
            )
        ticket = self._again(effect, call)
        if ticket is not None:
            if effect.kind == "tool":
                self._ran = min(self._ran or self._steps[call.number], self._steps[call.number])
            self._abandon_parts(call)
            self._counted(effect)
            return ticket
        own = self.asks_own_server and call.number not in self.edits
        if own and self._own_requests.runs(effect, question.scope, call):
            self._abandon_parts(call)
            return Ticket(call.number, call.order)
        again = self.tools.runs_again(question, call) if call.number not in self.edits else None
        if again is not None:
            self._ran_again.add(unnumbered(question.address))
            return Ticket(call.number, call.order, again)
        self.turnstile.abandon(self.cursor.places_inside(call))
        self.answering[call.number] = None
        if effect.kind == TOOL:
            self._did_not_run.add(unnumbered(question.address))
        if call.number in self.edits:
            self.remark(f"step {self._steps[call.number]}, {call.label}: its answer was edited")
            return self._answers.edited(call, self.edits[call.number])
        if call.outcome is not None:
            self.served[effect.kind] += 1
        answer = self._answers.recorded(call)
        if isinstance(answer.outcome, Cancelled):
            # Its answer never comes.
            self.prints.passed(answer, None)
        return answer

    def _abandon_parts(self, call: CallRecord) -> None:
        """The chunks of a call that runs for real are other ones, at places of their own."""
        chunks = [order for order, _, _ in call.pieces]
        self.turnstile.abandon(chunks if call.end_order is None else (*chunks, call.end_order))

    def _unanswerable(self, call: CallRecord, flaw: str) -> Halt:
        hint = f"let it run: live=['{call.label}']"
        return self.halt(self._departures.at(Departure.CHANGED, call, detail=f"no answer: {flaw}", hint=hint))

    # -- departures ------------------------------------------------------------------------------------------

    def depart(self, divergence: Divergence, question: Question | None = None) -> None:
        """A departure is found: stop there, or go on as asked, but never without naming it."""
        if divergence.hint == HINT and (self._forked or self._ran is not None):
            hint = FORK_HINT if self._ran is None else forking_hint(self._ran)
            divergence = replace(divergence, hint=hint)
        uncertain = (self._log.sealed or {}).get("uncertain")
        if uncertain:
            doubt = f"the recorded order is uncertain in {uncertain} places, where threads raced"
            divergence = replace(
                divergence, detail=f"{divergence.detail}; {doubt}" if divergence.detail else doubt
            )
        if self._policy == "raise":
            raise self.halt(divergence, question)
        self.divergences.append(divergence)
        self._show(divergence, question)
        if self._policy == "live":
            self.go_live()

    def lenient(self) -> None:
        """From here on a departure is no error: the world answers behind it."""
        self._policy = "live"

    def go_live(self) -> None:
        """From here on the world answers."""
        self._gone_live = True
        self.turnstile.open()

    def halt(self, divergence: Divergence, question: Question | None = None) -> Halt:
        """Stop the replay at a divergence; return what stops the program."""
        with self._lock:
            if self._poison is None:
                self.divergences.append(divergence)
                self._poison = Halt(divergence)
                self._show(divergence, question)
                self.on_halt()
        self.turnstile.open()
        return self._poison

    def _show(self, divergence: Divergence, question: Question | None) -> None:
        if self.watch is not None:
            with self.turnstile.paused():
                self.watch.departed(divergence, question)

    # -- within ----------------------------------------------------------------------------------------------

    def _lets_live(self, kind: str, label: str) -> bool:
        return bool(self._live) and (kind in self._live or label in self._live)

    def _again(self, effect: Effect, call: CallRecord) -> Ticket | None:
        """Return the ticket of a recorded call that runs for real, or None if it is answered."""
        ticket = Ticket(call.number, call.order)
        if call.number in self.opened:
            return ticket
        if not self._lets_live(effect.kind, effect.label):
            return None
        if self._live_calls is not None:
            named = effect.label in self._named_live or self.tools.modes.names_live(effect)
            return self._live_calls.again(effect, call, self._steps[call.number], named=named)
        return ticket

    def _go_live(self, question: Question) -> Answer | Ticket:
        decision = Ticket(None) if self._live_calls is None else self._live_calls.new(question)
        if isinstance(decision, Ticket):
            self._counted(question.effect)
        return decision

    def _counted(self, effect: Effect) -> None:
        self.let_live[effect.label] = self.let_live.get(effect.label, 0) + 1
