"""Heals as JSON: the keys of `reenact heals --json`, and those of the server."""

from __future__ import annotations

from typing import Any

from reenact.browser.heal.patch import patched, suggested, write
from reenact.browser.heal.record import digest
from reenact.browser.heal.statistics import RecordedHeal, StepStatistics, heals, stories

__all__ = ["digest", "heals", "patched", "recorded", "stories", "story", "suggested", "write"]


def recorded(one: RecordedHeal) -> dict[str, Any]:
    """Return one heal and its place in a recording."""
    return {
        "recording": one.recording,
        "step": one.step,
        "started": one.started,
        "verified": one.heal.verified,
        **one.heal.to_tree(),
    }


def story(story: StepStatistics) -> dict[str, Any]:
    """Return one step of a script, over all runs."""
    last = story.last
    return {
        "key": last.heal.key,
        "file": last.heal.file or None,
        "line": last.heal.line or None,
        "function": last.heal.function or None,
        "action": last.heal.action,
        "selector": last.heal.old,
        "ran": story.runs,
        "helped": story.helped,
        "rungs": story.rungs,
        "state": story.state,
        "verified": last.heal.verified,
        "runs_since": story.since,
        "last": {"recording": last.recording, "step": last.step, "started": last.started},
    }
