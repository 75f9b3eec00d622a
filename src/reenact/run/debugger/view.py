"""What a debugger shows besides the machine's state: what is inside of what, what the model saw, what differs."""

from __future__ import annotations

from collections.abc import Mapping

from reenact.core.model.divergence import Mismatch
from reenact.core.model.event import Tree
from reenact.core.model.plain import plain
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recording import Step
from reenact.core.replay import match
from reenact.run.debugger.orders import Actual


def depths(facts: RecordingFacts) -> list[int]:
    """How many calls each step is inside of, in the order of the steps."""
    found: list[int] = []
    for step in facts:
        within = facts.within(step)
        # An enclosing call is asked before what is inside it, so it has been here already.
        found.append(found[within - 1] + 1 if within is not None and within <= len(found) else 0)
    return found


def holding(facts: RecordingFacts) -> frozenset[int]:
    """The steps that others are inside of."""
    return frozenset(within for step in facts if (within := facts.within(step)) is not None)


def seen(facts: RecordingFacts, number: int) -> int | None:
    """The step whose messages tell what the model knew: this one, or the last model call before it. None: no model
    was asked by then.
    """
    return next((n for n in range(number, 0, -1) if facts.steps[n - 1].model_call is not None), None)


def compared(step: Step, actual: Actual) -> list[Mismatch]:
    """What the program asks otherwise than recorded, where it stands at that step. A replay may have let it pass."""
    trees = {name: plain(tree) for name, tree in step.log.args(step.call).items()}
    return match.mismatches(step.call.label, trees, actual.args, match.Rules())


def changed(before: Mapping[str, Tree], now: Mapping[str, Tree]) -> list[Mismatch]:
    """What has changed in the tracked state from one place to another, by paths that begin with its name."""
    return [
        Mismatch(found.path.removeprefix("args."), found.recorded, found.actual)
        for found in match.mismatches("state:", before, now, match.Rules())
    ]
