"""Choose the rules and their options: from code, the command line, or a TOML table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from reenact.analysis.anomalies.anomaly import SEVERITIES, Severity
from reenact.analysis.anomalies.registry import RULES, Rule
from reenact.core.dataclass import dataclass
from reenact.errors import UsageError


@dataclass(frozen=True, slots=True)
class ConfiguredRule:
    """A chosen rule, with its options, and its severity in the configuration."""

    rule: Rule
    options: Mapping[str, Any]
    severity: Severity | None = None


class Choice:
    """The chosen rules.

    Args:
        table: A table of settings: a rule's name as key, or `all`, and true, false or a table of its options as value.
        rules: If any are named, only these are chosen, on or off by default.
        without: These are not chosen.
        where: The name of the table in messages.

    Raises:
        UsageError: A rule or an option does not exist, or has a value of the wrong type.
    """

    def __init__(
        self,
        table: Mapping[str, Any] | None = None,
        *,
        rules: Iterable[str] = (),
        without: Iterable[str] = (),
        where: str = "the settings",
    ) -> None:
        only = [rule for name in rules for rule in _named(name, "")]
        never = {rule.name for name in without for rule in _named(name, "")}
        table = dict(table or {})
        table.pop("modules", None)
        everything = table.pop("all", None)
        set_ = {name: _setting(name, value, where) for name, value in table.items()}
        chosen = []
        for rule in RULES.values():
            on, options, severity = set_.get(rule.name, (None, {}, None))
            wanted = on if on is not None else rule.on if everything is None else bool(everything)
            if only:
                wanted = rule in only
            if wanted and rule.name not in never:
                chosen.append(ConfiguredRule(rule, {**rule.options, **options}, severity))
        self.rules = tuple(chosen)

    def __repr__(self) -> str:
        return f"Choice({', '.join(asked.rule.name for asked in self.rules)})"


def _named(name: str, where: str) -> list[Rule]:
    if name == "all":
        return list(RULES.values())
    if name in RULES:
        return [RULES[name]]
    near = get_close_matches(name, RULES, 1)
    hint = f"did you mean '{near[0]}'?" if near else "`reenact diagnose --rules` lists them"
    raise UsageError(f"{where}there is no rule '{name}'; {hint}")


def _setting(name: str, value: Any, where: str) -> tuple[bool | None, dict[str, Any], Severity | None]:
    rule = _named(name, f"{where}: ")[0]
    if isinstance(value, bool):
        return value, {}, None
    if not isinstance(value, Mapping):
        raise UsageError(f"{where}: '{name}' is {value!r}; it is true, false or a table of options")
    options = dict(value)
    on, severity = options.pop("on", None), options.pop("severity", None)
    if on is not None and not isinstance(on, bool):
        raise UsageError(f"{where}: {name}.on is {on!r}; it is true or false")
    if severity is not None and severity not in SEVERITIES:
        raise UsageError(f"{where}: {name}.severity is {severity!r}; there are {', '.join(SEVERITIES)}")
    for option, given in options.items():
        options[option] = _option(rule, option, given, where)
    # An option of a rule turns the rule on.
    return (True if on is None and options else on), options, severity


_KINDS = {int: "a whole number", str: "a text", bool: "true or false"}


def _option(rule: Rule, option: str, given: Any, where: str) -> Any:
    if option not in rule.options:
        there = ", ".join(["on", "severity", *rule.options])
        raise UsageError(f"{where}: rule '{rule.name}' has no option '{option}'; it has {there}")
    usual = rule.options[option]
    if isinstance(usual, tuple):
        fits = isinstance(given, (list, tuple)) and all(isinstance(item, str) for item in given)
        kind = "a list of texts"
    elif isinstance(usual, float):
        fits, kind = isinstance(given, (int, float)) and not isinstance(given, bool), "a number"
    else:
        fits, kind = type(given) is type(usual), _KINDS[type(usual)]
    if not fits:
        raise UsageError(f"{where}: {rule.name}.{option} is {given!r}; it must be {kind}")
    return tuple(given) if isinstance(usual, tuple) else given
