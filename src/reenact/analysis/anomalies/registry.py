"""The registry of rules by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, TypeAlias

from reenact.analysis.anomalies.anomaly import SEVERITIES, Severity
from reenact.core.dataclass import dataclass
from reenact.errors import UsageError

GROUP = "reenact.rules"
"""The entry point group under which a package names modules (or functions) that bring rules."""


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """A finding of a rule: a step (or None for the whole run), a sentence, and the evidence."""

    step: int | None
    sentence: str
    evidence: str = ""
    others: tuple[int, ...] = ()
    severity: Severity | None = None


Check: TypeAlias = Callable[..., Iterable[RuleFinding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A named rule. Its options are its function's keyword-only arguments, with defaults.

    Attributes:
        on: It is on by default.
        baseline: It compares with other recordings, and finds nothing without them.
    """

    name: str
    about: str
    severity: Severity
    on: bool
    weight: float
    check: Check
    options: dict[str, Any]
    baseline: bool = False


_WEIGHTS: dict[Severity, float] = {"error": 0.3, "warning": 0.15, "info": 0.05}

RULES: dict[str, Rule] = {}
"""All registered rules by name; `rule` adds to it."""


_RIGHT = frozenset({"unconfirmed-action"})
"""The rules that are mostly right on labelled runs (`docs/diagnose.md`)."""


def is_pill(name: str) -> bool:
    """Return True for a rule whose findings stand out: a proven one, or a user's own."""
    known = RULES.get(name)
    own = known is not None and not known.check.__module__.startswith("reenact.")
    return own or name in _RIGHT


def rule(
    name: str, *, severity: Severity = "warning", on: bool = True, weight: float | None = None
) -> Callable[[Check], Check]:
    """Register a function as a rule of `diagnose`.

        @rule("swears", severity="info")
        def swears(case: Case, *, words: tuple[str, ...] = ("damn",)) -> Iterator[Found]:
            "An answer that swears."
            for said in case.answers:
                for word in words:
                    if word in said.text.lower():
                        yield Found(said.step, f"the answer says '{word}'", said.text)

    Args:
        name: Lower case, joined by hyphens. A rule with a name in use replaces the older one.
        severity: `error`, `warning` or `info`; one finding may set another.
        on: Apply it by default.
        weight: The weight of its findings in the order of the steps, from 0 to 1; by default that of its severity.
    """
    if severity not in SEVERITIES:
        raise UsageError(f"rule '{name}': severity '{severity}' is none; there are {', '.join(SEVERITIES)}")

    def add(check: Check) -> Check:
        parameters = list(inspect.signature(check).parameters.values())[1:]
        options = {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}
        asks = any(one.name == "baseline" for one in parameters)
        options.pop("baseline", None)
        about = " ".join((inspect.getdoc(check) or "").partition("\n\n")[0].split())
        counts = _WEIGHTS[severity] if weight is None else weight
        RULES[name] = Rule(name, about, severity, on, counts, check, options, asks)
        return check

    return add


def installed() -> None:
    """Load the rules of installed packages: entry points of the group `reenact.rules`."""
    # Imported here, as it is slow, and few programs diagnose.
    metadata = import_module("importlib.metadata")
    for point in metadata.entry_points(group=GROUP):
        if (point.name, point.value) in _loaded:
            continue
        try:
            point.load()
        except Exception as error:
            raise UsageError(
                f"the rules of '{point.name}' ({point.value}) cannot be loaded: {type(error).__name__}: {error}"
            ) from None
        _loaded.add((point.name, point.value))


_loaded: set[tuple[str, str]] = set()
