"""A policy: the mode of each target that may be about to change something."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Literal, get_args

import orjson

from reenact.core import config
from reenact.core.dataclass import dataclass
from reenact.core.replay.acts import Act
from reenact.errors import UsageError

ActionMode = Literal["recorded", "live", "refuse", "ask", "fixed", "simulated"]

ACTION_MODES: tuple[ActionMode, ...] = get_args(ActionMode)

MODEL = "model:"
"""The beginning of a simulation by a model."""

_LOOSE = {
    "live": "lets calls run for real",
    "fixed": "gives calls answers of its own",
    "simulated": "runs code or asks a model",
}
"""The modes that only a trusted configuration file may set, with the reason."""

_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One word of a policy: `TARGET=MODE`, `TARGET=fixed:VALUE` or `TARGET=simulated:SOURCE`.

    Attributes:
        target: A tool's name, a host, a program, a kind or a label; `*` and `?` stand for other characters.
        mode: The mode of all acts that it names.
        given: The value in JSON or as bare text; or `module:function`, or `model:NAME`.
    """

    target: str
    mode: ActionMode
    given: str = ""

    @property
    def exact(self) -> bool:
        """True if the target is one name."""
        return not any(sign in self.target for sign in "*?[")

    def names(self, act: Act) -> bool:
        """Return True if the target names an act."""
        if self.exact:
            return self.target in act.names
        return any(fnmatchcase(name, self.target) for name in act.names)


class ActionPolicy:
    """The rules of a user: the last one that names an act holds, an exact one before a pattern.

    Args:
        words: `TARGET=MODE`, in the order of their strength: the last is the strongest.

    Raises:
        UsageError: A word is not a rule.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words = tuple(words)
        self._rules = [rule_of(word) for word in self.words]

    def check_functions(self, folders: Iterable[str] = ()) -> None:
        """Raise UsageError if a function that simulates answers is not there.

        Modules are searched in `folders`, and where this process imports from. Nothing is imported.
        """
        for word, rule in zip(self.words, self._rules, strict=True):
            if rule.mode == "simulated" and not rule.given.startswith(MODEL):
                lookup = import_module("reenact.core.replay.function_lookup")
                if why := lookup.missing(rule.given, folders):
                    raise UsageError(f"policy {word!r}: {why}")

    def rule(self, act: Act) -> PolicyRule | None:
        """Return the rule for an act, or None."""
        found = [rule for rule in self._rules if rule.names(act)]
        exact = [rule for rule in found if rule.exact]
        chosen = exact or found
        return chosen[-1] if chosen else None


def configured_policy() -> tuple[str, ...]:
    """Return the words of `[policy]` in the configuration file. Raises UsageError.

    A rule by which a call runs for real needs a trusted file.
    """
    file = config.found()
    return () if file is None else policy_of(file)


def policy_of(file: config.ConfigurationFile) -> tuple[str, ...]:
    """Return the words of a file's `[policy]`, `TARGET=MODE`. Raises UsageError."""
    table = file.tree.get("policy", {})
    if not isinstance(table, dict):
        raise file.error(("policy",), 'a table is expected: [policy], and below it TARGET = "refuse"')
    words = []
    for target, given in table.items():
        path = ("policy", target)
        fixed = isinstance(given, dict) and list(given) == ["fixed"]
        mode = f"fixed:{_json(given['fixed'])}" if fixed else given
        if not isinstance(mode, str):
            raise file.error(path, f"one of {', '.join(ACTION_MODES)} is expected, in quotes", value=True)
        try:
            words.append(_configured_word(target, mode))
        except UsageError as error:
            raise file.error(path, str(error), value=True) from None
        kind = mode.partition(":")[0]
        if kind in _LOOSE:
            file.need_trust(path, _LOOSE[kind])
    return tuple(words)


def _configured_word(target: str, mode: str) -> str:
    """Return the word of one rule. Raises UsageError."""
    if "=" in target or target != target.strip():
        raise UsageError(f"{target[:80]!r} cannot be a target: it has = or a space at an end")
    rule_of(f"{target}={mode}")
    return f"{target}={mode}"


def rule_of(word: str) -> PolicyRule:
    """Return the rule that a word stands for. Raises UsageError."""
    target, equals, mode = word.partition("=")
    target, mode = target.strip(), mode.strip()
    if not equals or not target:
        raise UsageError(f"policy {word!r}: write TARGET=MODE, such as refund=refuse or api.example.com=live")
    mode, colon, given = mode.partition(":")
    for known in ACTION_MODES:
        if mode == known:
            return PolicyRule(target, known, _given(word, mode, given.strip(), colon))
    from difflib import get_close_matches  # noqa: PLC0415 - for errors alone

    near = get_close_matches(mode, ACTION_MODES, 1)
    hint = f"did you mean {near[0]}?" if near else f"a mode is one of {', '.join(ACTION_MODES)}"
    raise UsageError(f"policy {word!r}: there is no mode {mode!r}; {hint}")


def _given(word: str, mode: str, given: str, colon: str) -> str:
    """Return the value after the colon of a mode. Raises UsageError."""
    if mode not in ("fixed", "simulated"):
        if colon:
            raise UsageError(f"policy {word!r}: {mode} takes no value")
    elif not given:
        example = (
            """refund=fixed:{"status": "done"}""" if mode == "fixed" else "refund=simulated:stand_ins:refund"
        )
        raise UsageError(f"policy {word!r}: {mode} needs a value, such as {example}")
    elif mode == "simulated" and not given.startswith(MODEL) and not _FUNCTION.fullmatch(given):
        raise UsageError(f"policy {word!r}: write simulated:module:function or simulated:model:NAME")
    return given


def _json(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return str(value)
