"""The guard: decide before an act whether it may happen.

It is asked about every effect that is about to run for real after the step of a fork, or after a departure of a replay.
The policy of the user decides first, then the declaration or the method, then what the recording shows.
"""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Iterable

from reenact.core.dataclass import dataclass
from reenact.core.model.event import TOOL, Effect, Substitute
from reenact.core.replay.acts import Act, act_of
from reenact.core.replay.evidence import RecordedFacts
from reenact.core.replay.policy import ActionMode, ActionPolicy

SUBSTITUTED = frozenset(("recorded", "fixed", "simulated"))
"""The modes by which a call gets an answer without running."""

AskUser = Callable[[str, str], bool | None]
"""Asks the user about a target; returns the answer, or None without a terminal."""

AskModel = Callable[[str, str], str]
"""Asks a model: its name, and the question; returns its text. Raises UsageError."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision on one act.

    Attributes:
        act: The act.
        mode: `live`, `recorded`, `fixed`, `simulated` or `refuse`.
        basis: The reason, in words.
        covers: True if everything inside may happen too, except what is declared to write.
        given: Of `fixed` and `simulated`: the rule's own words, or the declared answer.
    """

    act: Act
    mode: ActionMode
    basis: str
    covers: bool = False
    given: str | Substitute = ""


class ActionGuard:
    """Decides which acts may happen.

    Args:
        policy: The user's rules.
        facts: What the recording shows.
        ask: Asks the user.
        option: Makes the words that allow a target: `--policy refund=live`.
        ask_model: Asks a model by its name, for simulated answers.

    Attributes:
        policy: The user's rules.
        option: Makes the words that allow a target.
        ran: The acts that ran for real, by label: their number, and the reason.
    """

    def __init__(
        self,
        policy: ActionPolicy,
        facts: RecordedFacts,
        *,
        ask: AskUser | None = None,
        option: Callable[[str], str] | None = None,
        ask_model: AskModel | None = None,
    ) -> None:
        self.policy = policy
        self.ran: dict[str, tuple[int, str]] = {}
        self._facts = facts
        self._ask = ask
        self.option = option or python_option
        self.ask_model = ask_model
        self._answers: dict[str, bool] = {}
        self._covered: set[int] = set()
        self._lock = threading.Lock()

    def rule(self, effect: Effect, within: int | None = None) -> Ruling:
        """Decide on an effect inside that call. It may ask the user, once per target."""
        http = effect.kind == "http"
        act = act_of(effect, self._facts.model_hosts if http else (), self._facts.providers)
        rule = self.policy.rule(act)
        if rule is not None and rule.mode != "ask":
            basis = f"--policy {rule.target}={rule.mode}"
            return Ruling(act, rule.mode, basis, covers=rule.mode == "live", given=rule.given)
        if rule is None:
            if within in self._covered and not effect.declared:
                return Ruling(act, "live", "inside of a call that may run", covers=True)
            if (declared := effect.declared_substitute) is not None:
                return Ruling(act, declared.mode, f"declared {declared.mode} at the tool", given=declared)
            if act.impact == "model":
                return Ruling(act, "live", "")
            if act.impact == "reads":
                return Ruling(act, "live", act.basis, covers=effect.declared is False)
            may, doubt = self._judge(act)
            if may:
                return Ruling(act, "live", doubt)
        else:
            doubt = "--policy says to ask"
        return self.asked(act, doubt)

    def rule_again(self, effect: Effect, within: int | None = None) -> Ruling:
        """Decide on a recorded call that runs again."""
        act = act_of(effect)
        declared = effect.declared is not None or effect.declared_substitute is not None
        known = self.policy.rule(act) is not None or declared
        if effect.kind == TOOL and not known and not self._facts.hidden(effect):
            return Ruling(act, "live", "all that it does is recorded")
        return self.rule(effect, within)

    def asked(self, act: Act, doubt: str) -> Ruling:
        """Ask the user about an act, once per target; without a terminal it is refused."""
        with self._lock:
            known = self._answers.get(act.target)
            if known is None and self._ask is not None:
                known = self._ask(act.target, f"{act.shown} ({doubt})")
                if known is not None:
                    self._answers[act.target] = known
        if known:
            return Ruling(act, "live", "you said yes", covers=True)
        return Ruling(act, "refuse", "you said no" if known is False else doubt)

    def went(self, call: int | None, ruling: Ruling) -> None:
        """Note that an act runs for real, as that call."""
        label = ruling.act.effect.label
        with self._lock:
            self.ran[label] = (self.ran.get(label, (0, ""))[0] + 1, ruling.basis)
        if ruling.covers and call is not None:
            self._covered.add(call)

    def cover(self, call: int) -> None:
        """Let everything inside of a call happen, except what is declared to write."""
        self._covered.add(call)

    def covers(self, call: int) -> bool:
        """Return True if everything inside of a call may happen."""
        return call in self._covered

    def refusal(self, ruling: Ruling, step: int, instead: str = "") -> str:
        """Return the line that names the refused act, the step, and the option that allows it."""
        act, option = ruling.act, self.option(ruling.act.target)
        return f"step {step}, {act.shown}, was not run: {instead or ruling.basis}; to let it run: {option}"

    def _judge(self, act: Act) -> tuple[bool, str]:
        """Return True if an act that is not known to read may run, watched; and the reason."""
        if act.impact == "writes" or act.effect.kind != TOOL:
            return False, act.basis
        return self._facts.judge(act.effect, self._allowed)

    def _allowed(self, effect: Effect) -> bool:
        """Return True if the user lets an effect run."""
        rule = self.policy.rule(act_of(effect))
        return rule is not None and rule.mode == "live"


def python_option(target: str) -> str:
    """Return the argument of `reenact.fork` that allows a target."""
    return f"policy=[{f'{target}=live'!r}]"


def command_option(target: str) -> str:
    """Return the option of `reenact fork` that allows a target."""
    return f"--policy {shlex.quote(f'{target}=live')}"


def named(ran: dict[str, tuple[int, str]]) -> Iterable[str]:
    """Yield the acts that ran for real, each with its number and the reason."""
    for label, (count, basis) in ran.items():
        words = ", ".join(filter(None, (f"{count} times" if count > 1 else "", basis)))
        yield f"{label} ({words})" if words else label
