"""The effects of a replay that run for real, by the user's wish or after a departure."""

from __future__ import annotations

from collections.abc import Iterable

from reenact.core.boundary import Answer, Scope, Ticket
from reenact.core.model.event import Effect
from reenact.core.model.log import CallRecord
from reenact.core.replay.acts import act_of
from reenact.core.replay.live_calls import LiveCalls
from reenact.core.replay.question import Question
from reenact.core.replay.reruns import Modes


class RealRuns:
    """Lets effects run for real, and counts them.

    Args:
        words: The kinds (`tool`) or labels (`tool:cancel_order`) that run for real.
        modes: The modes of tools; those that run for real are added to the words when they are first asked for.

    Attributes:
        counts: The number of effects that ran for real, by label.
        guard: Decides about each of them; without one all may run.
    """

    def __init__(self, words: Iterable[str], modes: Modes) -> None:
        self._words = self._named = frozenset(words)
        self._modes = modes
        self.counts: dict[str, int] = {}
        self.guard: LiveCalls | None = None

    def __bool__(self) -> bool:
        return bool(self._words)

    def add(self, label: str) -> None:
        """Let effects of that label run for real from now on."""
        self._words |= {label}

    def lets(self, kind: str, label: str) -> bool:
        """Return True if effects of that kind or label run for real."""
        return bool(self._words) and (kind in self._words or label in self._words)

    @property
    def commands(self) -> bool:
        """True if a command may run for real."""
        return any(word.partition(":")[0] == "process" for word in self._words)

    def again(self, effect: Effect, call: CallRecord, step: int) -> Ticket | None:
        """Return the ticket of a recorded call that runs for real, or None if it is answered."""
        if not self._words or not self.lets(effect.kind, effect.label):
            return None
        if self.guard is None:
            return Ticket(call.number, call.order)
        named = effect.label in self._named or self._modes.names_live(effect)
        return self.guard.again(effect, call, step, named=named)

    def new(self, question: Question) -> Answer | Ticket:
        """Return the decision about a question that no recorded call answers."""
        decision = Ticket(None) if self.guard is None else self.guard.new(question)
        if isinstance(decision, Ticket):
            self.count(question.label)
        return decision

    def count(self, label: str) -> None:
        """Count an effect that runs for real."""
        self.counts[label] = self.counts.get(label, 0) + 1

    def act(self, effect: Effect, scope: Scope) -> None:
        """Decide about an act that crosses no boundary. Raises `Halt` if it may not happen."""
        if self.guard is not None and self._named.isdisjoint({*act_of(effect).names} - {effect.kind}):
            self.guard.act(effect, scope)
