"""Remembered: the element by which the same step was mended before, if the page is still as it was then.

Tried before anything is waited for. All of what named the element then must name one and the same element now; else the
page has changed once more, and the other rungs look for themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error

from reenact.browser import actions as do
from reenact.browser.fallback.mend import Failed, Known, Means, Mend
from reenact.browser.fallback.rungs.alternative import ABSENT, LASTING, PATIENCE
from reenact.browser.live import Live
from reenact.browser.selectors import SelectorError, fingerprint, parse
from reenact.browser.steps import Hide, Step

if TYPE_CHECKING:
    from reenact.browser.session import Session


class Remembered:
    """Does the step with the element that a verified mend of an earlier run found."""

    name = "remembered"

    async def mend(self, session: Session, failed: Failed, known: Known, means: Means) -> Mend | None:
        """Do the step with it, if what that leads to can be verified again."""
        asked = failed.asked
        if failed.delivered or failed.reason not in ABSENT or not isinstance(asked, do.Aimed):
            return None
        if not known.consequences and means.judge is None:
            return None  # nothing would tell whether it was right
        old = failed.action.get("selector")
        for heal in known.heals:
            new = {kind: text for kind, text in (heal.get("new") or {}).items() if kind in LASTING}
            if not new or heal.get("old") != old or not await _agree(session, failed, new):
                continue
            again = asked.model_copy(update={"id": None, "selector": new, "timeout": PATIENCE})
            result = await session._aexecute(again, actor="heal")
            if not result.success and not result.delivered:
                return None
            evidence = {"reason": failed.reason, "consequence": result.consequence}
            return Mend(result, self.name, old, dict(result.selectors or new), evidence=evidence)
        return None


async def _agree(session: Session, failed: Failed, selectors: Mapping[str, str]) -> bool:
    """Whether those selectors name one element, and all of them the same: an effect."""

    async def live(browser: Live, call: int | None) -> bool:
        try:
            with browser.use():
                return await _same(browser, selectors)
        except (Error, SelectorError):
            return False

    def args(_: Hide) -> dict[str, Any]:
        return {"step": failed.key, "selectors": dict(selectors)}

    return bool(await session._driver.arun(Step("agree", live, args, kind="heal")))


async def _same(browser: Live, selectors: Mapping[str, str]) -> bool:
    places = set()
    for kind, text in selectors.items():
        (one,) = parse({kind: text})
        locator = one.within(browser.page)
        if await locator.count() != 1:
            return False
        told = await fingerprint(locator, secret=browser.settings.mask, timeout=500)
        places.add((tuple(told["frames"]), told["path"]))
    return len(places) == 1
