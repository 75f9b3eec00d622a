"""Heals as views: the output of `reenact heals --json`, and the answers of the server."""

from __future__ import annotations

from reenact.analysis.views.healed_steps import HealedStepView, HealView, LastHealView
from reenact.browser.heal.heal_record import digest
from reenact.browser.heal.patch import patched, suggested, write
from reenact.browser.heal.patch_trial import trials, untried
from reenact.browser.heal.statistics import RecordedHeal, StepStatistics, heals, stories

__all__ = [
    "digest",
    "heals",
    "patched",
    "recorded",
    "stories",
    "story",
    "suggested",
    "trials",
    "untried",
    "write",
]


def recorded(one: RecordedHeal) -> HealView:
    """Return one heal and its place in a recording."""
    return HealView(
        recording=one.recording,
        step=one.step,
        started=one.started,
        verified=one.heal.verified,
        **one.heal.to_tree(),
    )


def story(story: StepStatistics) -> HealedStepView:
    """Return one step of a script, over all runs."""
    last = story.last
    return HealedStepView(
        key=last.heal.key,
        file=last.heal.file or None,
        line=last.heal.line or None,
        function=last.heal.function or None,
        action=last.heal.action,
        selector=last.heal.old,
        ran=story.runs,
        helped=story.helped,
        rungs=story.rungs,
        state=story.state,
        verified=last.heal.verified,
        runs_since=story.since,
        last=LastHealView(recording=last.recording, step=last.step, started=last.started),
    )
