"""The ladder: mend a failed step by the cheapest rung whose result can be verified.

The rungs are tried in order: remembered, wait, dismiss, alternative, ask. A rung without a safe answer is skipped.
The ladder ends once a rung has done the step: if nothing verifies the result, the step counts as failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reenact.browser.heal import memory
from reenact.browser.heal.evidence import identified, marks_of, moved, proven
from reenact.browser.heal.memory import download_of
from reenact.browser.heal.mend import (
    FailedStep,
    Judge,
    Mend,
    MendOptions,
    Rung,
    RungRefusal,
    StepHistory,
)
from reenact.browser.heal.rungs.alternative import AlternativeRung, RememberedRung
from reenact.browser.heal.rungs.ask import ModelRung
from reenact.browser.heal.rungs.dismiss import DismissRung
from reenact.browser.heal.rungs.wait import WaitRung
from reenact.browser.page.consequence import FILLING, plain, same, tells
from reenact.browser.page.target import TargetIdentity
from reenact.core import boundary
from reenact.errors import ActionError

if TYPE_CHECKING:
    from reenact.browser.session.session import Session

RUNGS: tuple[Rung, ...] = (RememberedRung(), WaitRung(), DismissRung(), AlternativeRung(), ModelRung())
"""The rungs, in the order in which they are tried."""


async def climb(
    session: Session,
    failed: FailedStep,
    *,
    judge: Judge | None = None,
    model: Any = None,
    budget_ms: int = 2000,
    rungs: Sequence[Rung] = RUNGS,
    refusals: list[RungRefusal] | None = None,
) -> Mend | None:
    """Mend a failed step.

    Args:
        session: The session of the failed step.
        failed: The step.
        judge: Checks the user's expectation, or None.
        model: The model for one question; None asks no model.
        budget_ms: Milliseconds that waiting may take.
        rungs: The rungs to try, in order.
        refusals: Receives the reason of each rung that did nothing, if the step is not mended.

    Returns:
        The mend; the step is mended only if it is `verified`. None: no rung could act, and the page is as the failed
        step left it, except for layers that were closed.
    """
    if failed.delivered and judge is None:
        return None
    means = MendOptions(budget_ms, judge, model)
    with session.core.recording.inside():
        around = boundary.current()
        scope = around if around is None or around.hidden else around.span("heal")
    with boundary.entered(scope):
        if failed.delivered:
            return await arrived(failed, means)
        known = await memory.known(session, failed.key)
        for rung in rungs:
            mend = await rung.mend(session, failed, known, means)
            if mend is not None:
                return await verified(mend, known, means)
    if refusals is not None and known.tells_stops:
        refusals += means.refusals
    return None


async def arrived(failed: FailedStep, means: MendOptions) -> Mend | None:
    """Check the expectation after a step that may have been done, and so is not repeated."""
    assert means.judge is not None
    verdict = await means.judge()
    if verdict.state != "met":
        return None
    message = f"{failed.result.message} It was done all the same: {verdict.by}"
    result = failed.result.model_copy(update={"success": True, "message": message, "exception": None})
    return Mend(
        result, "wait", failed.action.get("selector"), verified_by=f"expect: {verdict.by}", same_element=True
    )


async def verified(mend: Mend, known: StepHistory, means: MendOptions) -> Mend:
    """Return the mend with its verification, or as failed if nothing verifies it."""
    if not mend.result.success:
        return mend
    verified_by = await _shown(mend, known, means)
    if verified_by:
        return replace(mend, verified_by=verified_by)
    return unverified(mend, "nothing shows that it did what the step does")


async def _shown(mend: Mend, known: StepHistory, means: MendOptions) -> str:
    # A model may name any element, so only a consequence specific to the element proves it.
    doubted = mend.rung == ModelRung.name
    if name := download_of(mend.result.message):
        if any(plain(one.download) == plain(name) for one in known.pasts if one.download):
            return f"download: {name}"
        if any(one.download for one in known.pasts):
            return ""  # another file was downloaded
    fingerprint: dict[str, Any] = (mend.evidence.get("after") or {}).get("fingerprint") or {}
    # A wrong field or tab changes in the same way when it is filled or opened, so name or marks must agree.
    proved = mend.same_element or any(proven(past.fingerprint or {}, fingerprint) for past in known.pasts)
    filled = (mend.result.consequence or {}).get("filled")
    if filled is False and any(then.get("filled") for then in known.consequences):
        return ""  # the field does not hold the written text
    by_name = doubted or not proved or (mend.result.action.type in FILLING and not filled)
    answers = [same(mend.result.consequence, then, by_name=by_name) for then in known.consequences]
    if any(answers):
        return f"consequence: as in {sum(map(bool, answers))} of {len(answers)} good recordings' ways"
    if answers and not any(one is None for one in answers):
        # The consequence differs, which only the address of a link can announce.
        if any(moved(past.fingerprint or {}, fingerprint, mend.result.consequence) for past in known.pasts):
            return f"identity: {TargetIdentity.of(fingerprint)}, which leads to {marks_of(fingerprint)['href']} now"
        return ""
    if mend.same_element:
        return "same element"
    if _open_already(mend, known, fingerprint):
        return f"identity: {TargetIdentity.of(fingerprint)}, which was open already"
    if means.judge is not None:
        verdict = await means.judge()
        if verdict.state == "met":
            return f"expect: {verdict.by}"
    # If no consequence is known, the element itself is the proof; so is a filled field if the page was too busy to be
    # read.
    unread = bool(filled) and not any(one is not None for one in answers)
    unproven = (not known.consequences or unread) and not doubted and bool(fingerprint)
    kind = mend.result.action.type
    if unproven and any(identified(past.fingerprint or {}, fingerprint, kind) for past in known.pasts):
        return f"identity: {TargetIdentity.of(fingerprint)}"
    return ""


def _open_already(mend: Mend, known: StepHistory, fingerprint: dict[str, Any]) -> bool:
    """Return True for exactly the wanted tab or choice, if the press changed nothing.

    It was chosen already.
    """
    if fingerprint.get("role") not in _CHOSEN or tells(mend.result.consequence):
        return False
    kind = mend.result.action.type
    return any(identified(past.fingerprint or {}, fingerprint, kind) for past in known.pasts)


_CHOSEN = frozenset({"tab", "radio", "menuitemradio"})
"""Roles of elements that stay chosen when they are pressed again."""


def unverified(mend: Mend, why: str) -> Mend:
    """Return a mend that does not count: the step failed, and the page has changed."""
    message = f"{mend.result.message}, by the rung {mend.rung}, but {why}; the page is no longer as it was"
    return failed(mend, message)


def failed(mend: Mend, message: str) -> Mend:
    """Return a mend whose step counts as failed, with the given message."""
    action = mend.result.action.type
    result = mend.result.model_copy(update={"success": False, "message": message})
    result.exception = ActionError(f"{action}: {message}", result)
    return replace(mend, result=result, verified_by="")
