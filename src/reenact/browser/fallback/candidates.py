"""The elements of a page that a failed step may mean, and doing the step with one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error

from reenact.browser import actions as do
from reenact.browser.fallback.mend import Failed, Mend
from reenact.browser.fallback.same import Choice, kind
from reenact.browser.likeness import likeness, similar
from reenact.browser.live import Live
from reenact.browser.selectors import SelectorError, durable, fingerprint, parse
from reenact.browser.steps import Step

if TYPE_CHECKING:
    from reenact.browser.session import Session

MOST = 12
"""Candidates that are compared, where nobody asks for more."""

NAMED = 2
"""So many of them get selectors, where nobody asks for more: only the best is taken."""

PATIENCE = 2000
"""Milliseconds that the step has with the element that was found."""

_LASTING = ("test_id", "role", "playwright", "text", "css")


async def candidates(
    session: Session,
    failed: Failed,
    wanted: Mapping[str, Any],
    selectors: Sequence[Mapping[str, str]] = (),
    *,
    most: int = MOST,
) -> list[dict[str, Any]]:
    """The elements that may be meant, best first: an effect.

    Args:
        session: Where to look.
        failed: The step.
        wanted: The sought element's fingerprint, or the parts of it that are known.
        selectors: Others that have named it; what they name is among the candidates too.
        most: How many at most; all of them get selectors where these are more than usual.

    Returns:
        Of each its `score`, `fingerprint` and, of the first few, `selectors`.
    """

    async def live(browser: Live, call: int | None) -> list[dict[str, Any]]:
        try:
            with browser.use():
                return await _looked(browser, failed.asked.type, wanted, selectors, most)
        except Error:
            return []  # the page is gone, or busy: nothing can be told

    asked = {"step": failed.key, **({"most": most} if most != MOST else {})}
    found = await session._driver.arun(Step("candidates", live, lambda _: asked, kind="heal"))
    return list(found)


async def _looked(
    live: Live, action: str, wanted: Mapping[str, Any], selectors: Sequence[Mapping[str, str]], most: int
) -> list[dict[str, Any]]:
    page, mask = live.page, live.settings.mask
    found = [
        (match.score, match.fingerprint, match.locator)
        for match in await similar(wanted, page, most=most, secret=mask)
    ]
    known = {_place(told) for _, told, _ in found}
    texts = list(dict.fromkeys(one[name] for one in selectors for name in _LASTING if one.get(name)))[:6]
    for told, locator in await asyncio.gather(*(_one(live, text) for text in texts)):
        if told is not None and _place(told) not in known:
            known.add(_place(told))
            found.append((likeness(wanted, told)[0], told, locator))
    fit = sorted((one for one in found if kind(wanted, one[1], action)), key=lambda one: -one[0])[:most]
    named = NAMED if most == MOST else most
    names = await asyncio.gather(*(_selectors(locator, mask) for _, _, locator in fit[:named]))
    return [
        {"score": score, "fingerprint": told, "selectors": names[place] if place < named else {}}
        for place, (score, told, _) in enumerate(fit)
    ]


async def _one(live: Live, text: str) -> tuple[dict[str, Any] | None, Any]:
    """The one element that a selector names, if it does."""
    locator = parse(text)[0].within(live.page)
    try:
        if await locator.count() != 1:
            return None, locator
        return await fingerprint(locator, secret=live.settings.mask, timeout=500), locator
    except (Error, SelectorError):
        return None, locator


async def _selectors(locator: Any, mask: Sequence[str]) -> dict[str, str]:
    try:
        return await durable(locator, secret=mask)
    except Error:
        return {}


def _place(told: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(told["frames"]), told["path"]


async def taken(
    session: Session, failed: Failed, one: Mapping[str, Any], choice: Choice, rung: str
) -> Mend | None:
    """Do the step with a candidate. None where it was not done."""
    asked = failed.asked
    assert isinstance(asked, do.Aimed)
    if not one["selectors"]:
        return None
    again = asked.model_copy(update={"id": None, "selector": one["selectors"], "timeout": PATIENCE})
    result = await session._aexecute(again, actor="heal")
    if not result.success and not result.delivered:
        return None
    mend = Mend(result, rung, failed.action.get("selector"), dict(result.selectors or one["selectors"]))
    evidence = {
        "reason": failed.reason,
        "why": choice.why,
        "after": {"fingerprint": one["fingerprint"]},
        "consequence": result.consequence,
    }
    return replace(mend, score=choice.score, margin=choice.margin, evidence=evidence)
