"""A policy: the mode of each target that may be about to change something."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Literal, get_args

from reenact.core.replay.acts import Act
from reenact.errors import UsageError

ActionMode = Literal["recorded", "live", "refuse", "ask"]

ACTION_MODES: tuple[ActionMode, ...] = get_args(ActionMode)


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One word of a policy, `TARGET=MODE`.

    Attributes:
        target: A tool's name, a host, a program, a kind or a label; `*` and `?` stand for other characters.
        mode: The mode of all acts that it names.
    """

    target: str
    mode: ActionMode

    @property
    def exact(self) -> bool:
        """True if the target is one name."""
        return not any(sign in self.target for sign in "*?[")

    def names(self, act: Act) -> bool:
        """Return True if an act is meant."""
        if self.exact:
            return self.target in act.names
        return any(fnmatchcase(name, self.target) for name in act.names)


class ActionPolicy:
    """The rules of a user: the last one that names an act holds, an exact one before a pattern.

    Args:
        words: `TARGET=MODE`, in the order of their strength: the last is the strongest.

    Raises:
        UsageError: A word is none of that.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words = tuple(words)
        self._rules = [rule_of(word) for word in self.words]

    def rule(self, act: Act) -> PolicyRule | None:
        """Return the rule for an act, or None."""
        found = [rule for rule in self._rules if rule.names(act)]
        exact = [rule for rule in found if rule.exact]
        chosen = exact or found
        return chosen[-1] if chosen else None


def rule_of(word: str) -> PolicyRule:
    """Return the rule that a word stands for. Raises UsageError."""
    target, equals, mode = word.partition("=")
    target, mode = target.strip(), mode.strip()
    if not equals or not target:
        raise UsageError(f"policy {word!r}: write TARGET=MODE, such as refund=refuse or api.example.com=live")
    for known in ACTION_MODES:
        if mode == known:
            return PolicyRule(target, known)
    near = get_close_matches(mode, ACTION_MODES, 1)
    hint = f"did you mean {near[0]}?" if near else f"a mode is one of {', '.join(ACTION_MODES)}"
    raise UsageError(f"policy {word!r}: there is no mode {mode!r}; {hint}")
