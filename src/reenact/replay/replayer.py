"""The handler that answers from a recording, and stops where the program leaves it.

Strict by default. Every leniency has a name, and is listed in the verdict. A replay that has diverged stays
diverged: whoever swallows the `Halt` meets it again at the next effect.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from reenact.boundary import Answer, ReplayingTurnstile, Scope, Ticket
from reenact.boundary.call import Piece
from reenact.errors import Halt, UsageError
from reenact.model import codec
from reenact.model.divergence import Departure, Divergence, Verdict
from reenact.model.event import Cancelled, Effect, Failure, Outcome, Tree, Value
from reenact.model.recording import CallRecord, Log
from reenact.redact import Redactor
from reenact.replay import match
from reenact.replay.cursor import Cursor

Policy = Literal["raise", "realign", "live"]
Inserted = Literal["refuse", "live"]

_ALIKE = 0.6
_MASK = "[[secret:"


class Replayer:
    """Answers from one process's recording.

    Args:
        log: The recorded process.
        redactor: Built with the recording's salt, so that a secret in an argument becomes the recorded token.
        steps: The step number of each call.
        live: What is let through to the world: kinds (`tool`) or labels (`tool:cancel_order`).
        ignore: Rules for what need not match; `match.Rules` says how they are written.
        policy: What a departure does: `raise` stops there; `realign` names it and keeps every other call with its own
            answer; `live` names it and answers everything after it live.
        inserted: Under `realign`, whether a call without a counterpart is refused or answered live.
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
    ) -> None:
        for name, value, known in (
            ("on_divergence", policy, ("raise", "realign", "live")),
            ("inserted", inserted, ("refuse", "live")),
        ):
            if value not in known:
                raise UsageError(f"{name}={value!r} is not one of {', '.join(map(repr, known))}")
        self.turnstile = ReplayingTurnstile(len(log.times))
        self.rules = match.Rules(ignore)
        self.cursor = Cursor(log, self.rules)
        self.divergences: list[Divergence] = []
        self.served = 0
        self.let_live: dict[str, int] = {}
        self.notes: dict[str, int] = {}
        self._log = log
        self._redactor = redactor
        self._steps = steps
        self._live = frozenset(live)
        self._policy = policy
        self._inserted = inserted
        self._lock = threading.RLock()
        self.on_halt: Callable[[], None] = lambda: None
        """Called once, when this replay is stopped by a divergence."""
        self._poison: Halt | None = None
        self._gone_live = False
        self._skipped: dict[int, CallRecord] = {}
        self._drawn: dict[tuple[str, str], int] = {}
        self._unmatched: list[tuple[Effect, Scope, dict[str, Tree], int | None]] = []
        self._given: dict[int, int] = {}
        names = {*(c.scope for c in log.calls.values()), *(c.name for c in log.calls.values())}
        names |= {path for path, _ in (*log.fired, *log.draws)}
        self._masked = any(_MASK in name for name in names)
        self._names: dict[str, str] = {}

    # -- the handler -----------------------------------------------------------------------------------------

    def enter(self, effect: Effect, scope: Scope, ordinal: int) -> Answer | Ticket:
        if self._masked:
            effect = replace(effect, name=self._name(effect.name))
            scope = Scope(self._name(scope.path), scope.run, call=scope.call, hidden=scope.hidden)
        args = self._encode(effect)
        with self._lock:
            found = self._find(effect, scope, ordinal, args)
            if found is not None or self._policy == "realign":
                return found or self._departs(effect, scope, ordinal, args)
        # Other threads may be about to ask what would look left out here: let them.
        self.turnstile.rest()
        with self._lock:
            return self._find(effect, scope, ordinal, args) or self._departs(effect, scope, ordinal, args)

    def leave(self, ticket: Ticket, outcome: Outcome) -> None: ...

    def chunk(self, ticket: Ticket, value: Any) -> None: ...

    def end(self, ticket: Ticket, how: str | BaseException) -> None: ...

    def fire(self, scope: Scope, name: str) -> None: ...

    def due(self, scope: Scope, name: str) -> int | None:
        places = self._log.fired.get((self._name(scope.path), name))
        return places[0] if places else None

    def draw(self, scope: Scope, source: str, live: Callable[[], Any]) -> Any:
        if self._gone_live or self._lets_live(source.partition(":")[0], source):
            return live()
        key = (self._name(scope.path), source)
        with self._lock:
            place = self._drawn.get(key, 0)
            self._drawn[key] = place + 1
            values = self._log.draws.get(key, [])
            if place < len(values):
                return codec.decode(values[place])
            return self._undrawn(scope, source, place, values, live)

    def read_on(self, answer: Answer) -> BaseException:
        if answer.call is None:
            assert isinstance(answer.outcome, Value)
            return self._halt(answer.outcome.value)
        call = self._log.calls[answer.call]
        detail = (
            "the recording ends here: its run was cut off in this call"
            if answer.order is not None and answer.order == answer.cut
            else "the program reads on where, recorded, it had stopped reading the stream"
            if answer.end == "closed"
            else f"the recording ends in the middle of this stream, after {len(answer.pieces)} chunks"
        )
        return self._halt(self._divergence(Departure.EXTRA, call, detail=detail))

    def stuck(self, answer: Answer) -> BaseException:
        call = self._log.calls[answer.call or 0]
        detail = "recorded, the program cancelled this call; now it waits for the answer"
        return self._halt(self._divergence(Departure.CHANGED, call, detail=detail))

    # -- the verdict -----------------------------------------------------------------------------------------

    def finish(self, *, whole: bool = True) -> None:
        """The program has ended: what was never asked for is a departure too, if it ran to its end (`whole`)."""
        with self._lock:
            self._pair_up()
            if not whole or self._gone_live or (self.divergences and self._policy == "raise"):
                return
            for call in self.cursor.missing():
                if call.outcome is None:
                    continue
                self.divergences.append(
                    self._divergence(Departure.MISSING, call, detail=_never_asked(self._skipped))
                )
                if self._policy == "raise":
                    break

    def verdict(self, recording: str) -> Verdict:
        """What the replay amounts to so far."""
        missing = () if self._gone_live else self.cursor.missing()
        return Verdict(
            recording=recording,
            served=self.served,
            live=dict(self.let_live),
            rules=tuple(self.rules.applied),
            missing=tuple((self._steps[c.number], c.address) for c in missing if c.outcome is not None),
            divergences=tuple(sorted(self.divergences, key=lambda d: d.step or 0)),
            notes=tuple(f"{text} (× {count})" if count > 1 else text for text, count in self.notes.items()),
        )

    def note(self, text: str) -> None:
        """Something that keeps this replay from being wholly faithful, for the verdict."""
        self.notes[text] = self.notes.get(text, 0) + 1

    def refuse(self, address: str, detail: str, hint: str = "") -> Halt:
        """Input that crossed no boundary (a raw socket): a divergence, to be raised by whoever saw it."""
        return self._halt(Divergence(Departure.EXTRA, address, detail=detail, hint=hint))

    @property
    def gone_live(self) -> bool:
        """Whether the program has left its recording, and is answered by the world from there on."""
        return self._gone_live

    @property
    def offline(self) -> bool:
        """Whether nothing at all may go live in this replay."""
        return not self._live and self._policy == "raise"

    @property
    def strict(self) -> bool:
        """Whether what the recording does not know is refused."""
        return self._policy == "raise" or (self._policy == "realign" and self._inserted == "refuse")

    def lets_live(self, kind: str, label: str) -> bool:
        """Whether the user lets that through to the world."""
        return self._lets_live(kind, label)

    @property
    def poison(self) -> Halt | None:
        """The divergence that stopped this replay, if one did."""
        return self._poison

    # -- finding the call ------------------------------------------------------------------------------------

    def _find(
        self, effect: Effect, scope: Scope, ordinal: int, args: dict[str, Tree]
    ) -> Answer | Ticket | None:
        if self._poison is not None:
            raise Halt(self._poison.divergence)
        if self._gone_live:
            return self._go_live(effect)
        call = self.cursor.by_address.get((scope.path, effect.label, ordinal))
        if call is None or call.number in self.cursor.asked:
            self._clean(args)
            call = self._elsewhere(effect, scope, args)
        elif not self._asks(call, effect, args):
            call = self._elsewhere(effect, scope, args)
        if call is None and self._behind(scope):
            behind = len(self._log.times)
            cut_off = self._cut_off(f"{scope.path}/{effect.label}#{ordinal}")
            return Answer(Value(cut_off), behind, cut=behind)
        return self._answer(effect, call) if call is not None else None

    def _behind(self, scope: Scope) -> bool:
        """Whether a question may lie behind the point where the recorded run was cut off: then all that others were
        still given comes first.
        """
        if self._log.sealed is not None or self._policy != "raise" or self._live:
            return False
        return not any(c.number not in self.cursor.asked for c in self.cursor.by_scope.get(scope.path, ()))

    def _departs(self, effect: Effect, scope: Scope, ordinal: int, args: dict[str, Tree]) -> Answer | Ticket:
        there = self.cursor.by_address.get((scope.path, effect.label, ordinal))
        call = self._depart(effect, scope, ordinal, args, there)
        return self._answer(effect, call) if call is not None else self._go_live(effect)

    def _asks(self, call: CallRecord, effect: Effect, args: dict[str, Tree]) -> bool:
        recorded = self._log.args(call)
        if recorded.keys() == args.keys():
            # Mostly it is one argument that has secrets (a request's headers), and another that is long.
            differing = list(match.differing(recorded, args))
            self._clean(args, differing)
            if not any(match.differing(recorded, {name: args[name] for name in differing})):
                return True
        self._clean(args)
        return self.cursor.equal(call, effect.label, args)

    def _clean(self, args: dict[str, Tree], names: Iterable[str] | None = None) -> None:
        """Put tokens in the place of secrets, as in the recording: in all arguments, or in each of those named."""
        for name in names or ():
            args[name] = self._redactor.tree(name, args[name])
        if names is None:
            raw = codec.dumps(args)
            args.clear()
            args |= codec.loads(self._redactor.line(raw))

    def _elsewhere(self, effect: Effect, scope: Scope, args: dict[str, Tree]) -> CallRecord | None:
        """The same question at another place of the same scope: something before it was removed, added or moved."""
        if self._policy == "raise" and self._live:
            return None
        for call in self.cursor.unasked(scope.path, effect.label):
            if self.cursor.equal(call, effect.label, args):
                return call
        if self._policy == "realign":
            return self._given_away(effect, args) or self.cursor.in_siblings(scope.path, effect.label, args)
        return self.cursor.in_siblings(scope.path, effect.label, args) if self.rules.order else None

    def _given_away(self, effect: Effect, args: dict[str, Tree]) -> CallRecord | None:
        """A call whose answer went to another that looked like a change of it: that other one was an insertion."""
        for number, index in self._given.items():
            call = self._log.calls[number]
            if call.label == effect.label and self.cursor.equal(call, effect.label, args):
                other, scope, _, _ = self._unmatched[index]
                raise self._halt(
                    Divergence(
                        Departure.EXTRA,
                        f"{scope.path}/{other.label}",
                        self._steps[number],
                        detail=(
                            f"an inserted call looked like a change of step {self._steps[number]} "
                            "and got its answer"
                        ),
                        hint="let it go live: inserted='live'",
                    )
                )
        return None

    def _answer(self, effect: Effect, call: CallRecord) -> Answer | Ticket:
        self._check_order(call)
        if self._lets_live(effect.kind, effect.label):
            return Ticket(call.number, call.order) if self._counted(effect) else Ticket(call.number)
        outcome = call.outcome
        behind = len(self._log.times)
        self.turnstile.abandon(self.cursor.places_inside(call))
        if outcome is None:
            # What others were still given comes first.
            return Answer(Value(None), behind, call.number, cut=behind)
        self.served += 1
        if outcome["event"] == "cancelled":
            return Answer(Cancelled(), None, call.number)
        if outcome["event"] == "raised":
            return Answer(
                Failure(codec.decode_error(self._kept(call, outcome["error"]))), call.order, call.number
            )
        pieces = tuple(Piece(order, self._value(call, tree)) for order, _, tree in call.pieces)
        end = codec.decode_error(call.end) if isinstance(call.end, dict) else call.end
        value = Value(self._value(call, outcome["value"]), bool(outcome.get("stream")))
        cut = behind if end is None and value.stream else None
        return Answer(value, call.order, call.number, pieces, end, call.end_order, cut)

    def _value(self, call: CallRecord, tree: Tree) -> Any:
        if type(tree) is dict and len(tree) == 1 and type(text := tree.get("$utf8")) is str:
            return text.encode()
        # To look for a word in the text takes a tenth of the time that a walk through the tree does.
        data = codec.dumps(tree)
        if b"$" not in data or b'"$' not in data:
            return codec.loads(data)
        if b'"$unkept"' in data:
            self._kept(call, tree)
        return self._log.value(tree) if b'"$blob"' in data else codec.decode(tree)

    def _kept(self, call: CallRecord, tree: Tree) -> Tree:
        if "error" not in (call.outcome or {}) and (flaw := codec.flaw(tree)) is not None:
            hint = f"let it run: live=['{call.label}']"
            raise self._halt(
                self._divergence(Departure.CHANGED, call, detail=f"no answer: {flaw}", hint=hint)
            )
        return tree

    def _check_order(self, call: CallRecord) -> None:
        skipped = self.cursor.take(call)
        if call.number in self._skipped and not self.rules.order:
            del self._skipped[call.number]
            self._named(
                self._divergence(Departure.REORDERED, call, detail="it is asked for later than recorded")
            )
            return
        for other in skipped:
            self._skipped[other.number] = other
        if skipped and self._policy == "raise" and self._live:
            detail = f"step {self._steps[call.number]} is asked for in its place"
            self._named(self._divergence(Departure.MISSING, skipped[0], detail=detail))

    # -- departures ------------------------------------------------------------------------------------------

    def _depart(
        self, effect: Effect, scope: Scope, ordinal: int, args: dict[str, Tree], there: CallRecord | None
    ) -> CallRecord | None:
        """No recorded call asks this. Name the departure; under `realign`, a changed call keeps its counterpart."""
        if self._lets_live(effect.kind, effect.label) and self._policy != "raise":
            return None
        if self._policy == "realign":
            return self._realign(effect, scope, args)
        found = self._what_changed(effect, scope, ordinal, args, there)
        self._named(self._what_was_left_out(found, scope, there) or found)
        return None

    def _what_was_left_out(
        self, found: Divergence, scope: Scope, there: CallRecord | None
    ) -> Divergence | None:
        """An earlier call that should have come by now: its absence is the first departure, `found` its consequence."""
        passed = self.turnstile.position
        absent = [*self._skipped.values(), *self.cursor.passed_over()]
        if there is not None:
            absent += self.cursor.before(there)
            absent += self.cursor.earlier(there) if self.turnstile.over(there.place) else []
        elif (due := self._due(scope, passed - 1)) is not None:
            absent.append(due)
        absent += [c for c in self._log.calls.values() if c.order is not None and c.order < passed]
        first = min(
            (c for c in absent if c.number not in self.cursor.asked), key=lambda c: c.number, default=None
        )
        if first is None or (found.step is not None and self._steps[first.number] >= found.step):
            return None
        return self._divergence(Departure.MISSING, first, detail=f"left out or moved; then came: {found}")

    def _what_changed(
        self, effect: Effect, scope: Scope, ordinal: int, args: dict[str, Tree], there: CallRecord | None
    ) -> Divergence:
        address = f"{scope.path}/{effect.label}#{ordinal}"
        moved = self.cursor.in_siblings(scope.path, effect.label, args)
        if moved is not None:
            place = f"recorded at {moved.address}" if moved.scope != scope.path else "recorded later"
            due = self._due(scope, self.turnstile.position) or moved
            step = self._steps[there.number if there is not None else min(due.number, moved.number)]
            hint = "if the order among siblings means nothing: ignore=['order']"
            return Divergence(
                Departure.REORDERED, address, step, detail=f"this question is {place}", hint=hint
            )
        if there is not None and there.number not in self.cursor.asked:
            differing = tuple(match.mismatches(effect.label, self._log.args(there), args, self.rules))
            unlike = match.likeness(self._log.args(there), args) < _ALIKE
            detail = "quite another question; perhaps a call was inserted here" if unlike else ""
            return Divergence(Departure.CHANGED, address, self._steps[there.number], differing, detail, _HINT)
        return self._extra(effect, scope, address)

    def _due(self, scope: Scope, position: int) -> CallRecord | None:
        """The call that was recorded to come before the outcome at `position`: of the same thread, or of any other
        where those can bring nothing more.
        """
        found = self.cursor.due(scope.path, position)
        return found or (self.cursor.due(None, position) if self.turnstile.over(position) else None)

    def _extra(self, effect: Effect, scope: Scope, address: str) -> Divergence:
        last = self.cursor.last
        here = next(
            (c for c in self.cursor.by_scope.get(scope.path, ()) if c.number not in self.cursor.asked), None
        )
        due = self._due(scope, self.turnstile.position)
        if due is not None and (here is None or due.number < here.number):
            detail = f"recorded next is step {self._steps[due.number]}, {due.address}"
            return Divergence(Departure.EXTRA, address, self._steps[due.number], detail=detail, hint=_HINT)
        if here is not None:
            detail = f"recorded next in this place is step {self._steps[here.number]}, {here.label}"
            return Divergence(Departure.EXTRA, address, self._steps[here.number], detail=detail, hint=_HINT)
        if self._log.sealed is None:
            return self._cut_off(address)
        after = self._steps[last.number] + 1 if last is not None else 1
        detail = "the recording has no further call here"
        return Divergence(Departure.EXTRA, address, after, detail=detail, hint=_HINT)

    def _cut_off(self, address: str) -> Divergence:
        """The program has got to the point where the recorded run was cut off."""
        after = max(self._steps.values(), default=0)
        detail = f"the recording ends after step {after}: its run was cut off"
        return Divergence(Departure.EXTRA, address, after + 1, detail=detail)

    def _realign(self, effect: Effect, scope: Scope, args: dict[str, Tree]) -> CallRecord | None:
        nearest = self._nearest(effect, scope, args)
        self._unmatched.append((effect, scope, args, nearest.number if nearest is not None else None))
        if self._inserted == "live":
            return None
        if nearest is not None:
            self._given[nearest.number] = len(self._unmatched) - 1
            return nearest
        raise self._halt(self._extra(effect, scope, f"{scope.path}/{effect.label}"))

    def _nearest(self, effect: Effect, scope: Scope, args: dict[str, Tree]) -> CallRecord | None:
        best, most = None, _ALIKE
        for call in self.cursor.unasked(scope.path, effect.label):
            alike = match.likeness(self._log.args(call), args)
            if alike > most:
                best, most = call, alike
        return best

    def _pair_up(self) -> None:
        """Realigned and over: tell changed calls from inserted ones by what was left over in their scope."""
        for effect, scope, args, number in self._unmatched:
            address = f"{scope.path}/{effect.label}"
            call = self._log.calls.get(number or 0)
            if call is None or (call.number in self.cursor.asked and call.number not in self._given):
                call = self._nearest(effect, scope, args)
            if call is None:
                self.divergences.append(self._inserted_divergence(effect, scope, address))
                continue
            self.cursor.asked.add(call.number)
            self.cursor.asked.update(inner.number for inner in self.cursor.inside.get(call.number, ()))
            differing = tuple(match.mismatches(effect.label, self._log.args(call), args, self.rules))
            how = "answered live" if self._inserted == "live" else "given the recorded answer"
            self.divergences.append(
                Divergence(Departure.CHANGED, call.address, self._steps[call.number], differing, detail=how)
            )
        self._unmatched.clear()

    def _inserted_divergence(self, effect: Effect, scope: Scope, address: str) -> Divergence:
        here = next(
            (c for c in self.cursor.by_scope.get(scope.path, ()) if c.number not in self.cursor.asked), None
        )
        step = self._steps[here.number] if here is not None else None
        return Divergence(
            Departure.EXTRA, address, step, detail=f"an inserted call of {effect.label}, answered live"
        )

    def _divergence(
        self, kind: Departure, call: CallRecord, *, detail: str = "", hint: str = ""
    ) -> Divergence:
        return Divergence(kind, call.address, self._steps[call.number], detail=detail, hint=hint)

    def _named(self, divergence: Divergence) -> None:
        """A departure is found: stop there, or go on as asked, but never without naming it."""
        uncertain = (self._log.sealed or {}).get("uncertain")
        if uncertain:
            doubt = f"the recording's own order is in doubt in {uncertain} places, where threads raced"
            divergence = replace(
                divergence, detail=f"{divergence.detail}; {doubt}" if divergence.detail else doubt
            )
        if self._policy == "raise":
            raise self._halt(divergence)
        self.divergences.append(divergence)
        if self._policy == "live":
            self._gone_live = True
            self.turnstile.open()

    def _halt(self, divergence: Divergence) -> Halt:
        with self._lock:
            if self._poison is None:
                self.divergences.append(divergence)
                self._poison = Halt(divergence)
                self.on_halt()
        self.turnstile.open()
        return self._poison

    # -- within ----------------------------------------------------------------------------------------------

    def _encode(self, effect: Effect) -> dict[str, Tree]:
        encoder = codec.Encoder(raw=self._redactor.raw, blob=_address)
        return {
            name: dict(value) if match.is_texts(value) else encoder.encode(value)
            for name, value in effect.args.items()
        }

    def tree(self, value: Any) -> Tree:
        """A value as the recording would have it: without its secrets."""
        encoder = codec.Encoder(raw=self._redactor.raw, blob=_address)
        return codec.loads(self._redactor.line(codec.dumps(encoder.encode(value))))

    def _name(self, text: str) -> str:
        """A scope's path or an effect's name as it was recorded: the program may have put a secret into it."""
        if not self._masked:
            return text
        known = self._names.get(text)
        if known is None:
            known = self._names[text] = codec.loads(self._redactor.line(codec.dumps({"at": text})))["at"]
        return known

    def _lets_live(self, kind: str, label: str) -> bool:
        return bool(self._live) and (kind in self._live or label in self._live)

    def _go_live(self, effect: Effect) -> Ticket:
        self._counted(effect)
        return Ticket(None)

    def _counted(self, effect: Effect) -> bool:
        self.let_live[effect.label] = self.let_live.get(effect.label, 0) + 1
        return True

    def _undrawn(
        self, scope: Scope, source: str, place: int, values: list[Tree], live: Callable[[], Any]
    ) -> Any:
        """A read that the recording does not have: an edited program reads more. Never answered in silence."""
        kind = source.partition(":")[0]
        self.note(f"a read of {source} in {scope.path} that was not recorded")
        if kind == "clock" and values:
            # Monotonic, in growing steps: a loop that waits for a deadline gets there. An int counts nanoseconds.
            last, extra = codec.decode(values[-1]), (place - len(values) + 1) ** 2
            return last + extra * 1000 if isinstance(last, int) else last + extra * 1e-6
        if kind == "entropy":
            size = len(live())
            return hashlib.shake_256(f"{scope.path}|{source}|{place}".encode()).digest(size)
        return live()


_HINT = "edited on purpose? on_divergence='realign' keeps the other calls with their own answers"


def _never_asked(skipped: Mapping[int, CallRecord]) -> str:
    return "the program left it out" if skipped else "the program ended without asking for it"


def _address(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
