"""Figures that stand out: within the run, and against other runs."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.analysis.anomalies.baseline import Baseline, Totals, totals
from reenact.analysis.anomalies.case import Case
from reenact.analysis.anomalies.registry import RuleFinding, rule


@rule("context-growth", severity="info", on=False, weight=0.02)
def context_growth(case: Case, *, times: float = 4.0, least: int = 20_000) -> Iterator[RuleFinding]:
    """Prompts that grow to many times the size that they had at first."""
    sizes: dict[str, list[tuple[int, int]]] = {}
    for said in case.said:
        given = said.call.usage.input if said.call.usage is not None else 0
        size = given * 4 or sum(len(message.text) for message in said.call.messages)
        sizes.setdefault(said.agent, []).append((said.step, size))
    for found in sizes.values():
        first = max(found[0][1], 1)
        big = next(((step, size) for step, size in found if size >= least and size >= times * first), None)
        if big is not None:
            step, size = big
            yield RuleFinding(
                step,
                f"the prompt has grown to {size / first:.0f} times its first size",
                f"{first:,} → {size:,} letters",
            )


@rule("slow", severity="warning")
def slow(case: Case, *, baseline: Baseline, spread: float = 4.0) -> Iterator[RuleFinding]:
    """The run took far longer than the runs of the baseline. The step is the slowest."""
    yield from _outlier(case, baseline, "duration", spread)


@rule("many-tokens", severity="warning")
def many_tokens(case: Case, *, baseline: Baseline, spread: float = 4.0) -> Iterator[RuleFinding]:
    """The run used far more tokens than the runs of the baseline. The step is the largest."""
    yield from _outlier(case, baseline, "tokens", spread)


@rule("costly", severity="warning")
def costly(case: Case, *, baseline: Baseline, spread: float = 4.0) -> Iterator[RuleFinding]:
    """The run cost far more than the runs of the baseline. The step is the dearest."""
    yield from _outlier(case, baseline, "cost", spread)


@rule("many-steps", severity="warning")
def many_steps(case: Case, *, baseline: Baseline, spread: float = 4.0) -> Iterator[RuleFinding]:
    """The run had far more steps than the baseline. The step is the first beyond its median."""
    yield from _outlier(case, baseline, "steps", spread)


_WORDS = {
    "duration": ("took {:.1f} s", "s"),
    "tokens": ("used {:,.0f} tokens", "tokens"),
    "cost": ("cost ${:.4f}", "US dollars"),
    "steps": ("had {:,.0f} steps", "steps"),
}


def _outlier(case: Case, baseline: Baseline, figure: str, spread: float) -> Iterator[RuleFinding]:
    mine: Totals = totals(case.facts)
    value, usual = getattr(mine, figure), baseline.usual(figure)
    if value is None or usual is None or not usual.beyond(value, spread):
        return
    step = mine.greatest.get(figure)
    if figure == "steps":
        step = min(int(usual.median) + 1, len(case.facts.steps))
    words, unit = _WORDS[figure]
    times = f"{value / usual.median:.1f} times the median" if usual.median else "against a median of 0"
    yield RuleFinding(
        step,
        f"the run {words.format(value)}, {times} of {usual.count} others",
        f"median {usual.median:.4g} {unit}, usual deviation {usual.deviation:.4g}",
    )
