"""The debugger's further views: nesting, the model's messages, differences."""

from __future__ import annotations

from collections.abc import Mapping

from reenact.core.model.event import Tree
from reenact.core.model.plain import plain
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recorded_run import Step
from reenact.core.replay import match
from reenact.errors import Mismatch
from reenact.run.debugger.orders import Actual


def depths(facts: RecordingFacts) -> list[int]:
    """Return the number of enclosing calls of each step, in the order of the steps."""
    found: list[int] = []
    for step in facts:
        within = facts.within(step)
        # An enclosing call comes before the calls inside it, so its depth is known.
        found.append(found[within - 1] + 1 if within is not None and within <= len(found) else 0)
    return found


def holding(facts: RecordingFacts) -> frozenset[int]:
    """The steps that others are inside of."""
    return frozenset(within for step in facts if (within := facts.within(step)) is not None)


def seen(facts: RecordingFacts, number: int) -> int | None:
    """Return the step with the latest model messages: this one, or an earlier model call.

    None: no model was asked by then.
    """
    return next((n for n in range(number, 0, -1) if facts.steps[n - 1].model_call is not None), None)


def compared(step: Step, actual: Actual) -> list[Mismatch]:
    """Return the differences of the actual question from the recorded one at that step.

    A replay may have ignored them.
    """
    trees = {name: plain(tree) for name, tree in step.log.args(step.call).items()}
    return match.mismatches(step.call.label, trees, actual.args, match.Rules())


def changed(before: Mapping[str, Tree], now: Mapping[str, Tree]) -> list[Mismatch]:
    """Return the changes of the tracked state between two places; paths begin with its name."""
    return [
        Mismatch(found.path.removeprefix("args."), found.recorded, found.actual)
        for found in match.mismatches("state:", before, now, match.Rules())
    ]
