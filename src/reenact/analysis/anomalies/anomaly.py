"""One finding of a diagnosis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

from reenact.core.dataclass import dataclass

Severity: TypeAlias = Literal["error", "warning", "info"]
"""`error`: very likely a cause of a wrong run; `warning`: look at it; `info`: worth knowing."""

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""From the gravest to the mildest."""


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A suspect place in a recording, found by a rule or by the judge.

    Attributes:
        rule: The rule's name; `judge` for a language model's finding, which may be wrong in more ways than a rule's.
        severity: `error`, `warning` or `info`.
        step: The most suspect step, or None for the run as a whole.
        sentence: The anomaly, in one plain sentence.
        evidence: The words or figures that show it, quoted from the recording.
        others: More steps of it: the earlier call that is repeated, the members of a loop.
        weight: The weight of the rule in the order of the steps, from 0 to 1.
    """

    rule: str
    severity: Severity
    step: int | None
    sentence: str
    evidence: str = ""
    others: tuple[int, ...] = ()
    weight: float = 0.0


def ordered(found: Iterable[Anomaly]) -> list[Anomaly]:
    """Return the findings, those of the most suspect step first.

    The findings of several rules about one step are combined, as if each rule were right with the probability of its
    weight. Each repeated finding of a rule at a later step counts half, since errors have consequences. The gravest
    finding of each step comes before the second one of any step, so that the first three are about three steps. Of
    equal steps the earlier one comes first.
    """
    found = list(found)
    doubt: dict[int | None, float] = {}
    times: dict[str, int] = {}
    counted = sorted({(one.step or 0, one.rule, one.weight) for one in found})
    for step, rule, weight in counted:
        times[rule] = times.get(rule, -1) + 1
        place = step or None
        doubt[place] = doubt.get(place, 1.0) * (1.0 - weight * 0.5 ** times[rule])
    ranks: dict[int | None, int] = {}
    placed = []
    for one in sorted(found, key=lambda one: (SEVERITIES.index(one.severity), -one.weight, one.rule)):
        rank = ranks.get(one.step, 0)
        ranks[one.step] = rank + 1
        late = one.step if one.step is not None else 1 << 60
        placed.append(((rank, round(doubt[one.step], 9), late), one))
    return [one for _, one in sorted(placed, key=lambda pair: pair[0])]
