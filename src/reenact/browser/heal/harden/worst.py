"""Find the smallest change that makes a step act on another element, and a remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reenact.browser.actions import types as do
from reenact.browser.heal.harden.mutations import MISLEADING
from reenact.browser.heal.harden.repeated_session import RepeatedSession
from reenact.browser.heal.harden.script_run import ScriptAction
from reenact.browser.heal.harden.trial import PageChange, StepTrial, attempt
from reenact.browser.page.target import TargetIdentity

_WRONG = frozenset({"wrong", "misled"})


@dataclass(frozen=True)
class WorstChange:
    """The smallest change that makes a step act on another element.

    Attributes:
        kind: One of `MISLEADING`; `told` the change in words.
        met: The wrong element.
        closed_by: The fields that make the step act on its element or stop: an `expect_target`, or a `selector`. None
            if neither helps.
    """

    kind: str
    told: str
    met: str
    closed_by: dict[str, Any] | None


async def worst(track: RepeatedSession, step: ScriptAction, seed: int) -> WorstChange | None:
    """Return the smallest change that misleads a step, or None.

    Args:
        track: The script.
        step: Its step.
        seed: The same seed makes the same changes.
    """
    assert isinstance(step.action, do.Aimed)
    for kind in MISLEADING:
        change = PageChange(kind, seed)
        trial = await _attempt(track, step, step.action, change)
        if trial is not None and trial.ending in _WRONG:
            return WorstChange(kind, trial.told, trial.met, await _closing(track, step, change))
    return None


async def _attempt(
    track: RepeatedSession, step: ScriptAction, asked: do.Aimed, change: PageChange
) -> StepTrial | None:
    if await track.walk(step.number - 1):
        return None
    return await attempt(track.session, asked, change)


async def _closing(track: RepeatedSession, step: ScriptAction, change: PageChange) -> dict[str, Any] | None:
    """Return the first fields that prevent the wrong action and work on the unchanged page."""
    assert isinstance(step.action, do.Aimed)
    if await track.walk(step.number):
        return None
    good = dict(track.session.core.outcomes[-1])
    for fields in _offers(good):
        asked = step.action.model_copy(update={"id": None, **fields} if "selector" in fields else fields)
        held = await _attempt(track, step, asked, PageChange("none"))
        if held is None or held.ending != "held":
            continue
        trial = await _attempt(track, step, asked, change)
        # No trial: the selector finds no element around which to make the change, so the step would stop.
        if trial is not None and trial.ending not in _WRONG:
            return fields
    return None


def _offers(good: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the possible remedies: the element's identity, then its selectors."""
    identity = TargetIdentity.of(good.get("fingerprint") or {})
    # A count in the name will differ the next time.
    name = re.sub(r"\s*\(\d+\)$", "", identity.name)
    parts = {"role": identity.role, "name": name, "record": identity.record or ""}
    if not identity.name:
        parts["icon"] = identity.icon
    known = {name: value for name, value in parts.items() if value}
    if known.keys() - {"role"}:
        yield {"expect_target": known}
        if region := identity.group or identity.region:
            yield {"expect_target": {**known, "region": region}}
    for kind in ("test_id", "role", "text", "css"):
        if selector := (good.get("selectors") or {}).get(kind):
            yield {"selector": selector}
