"""Alternative: the element under other selectors, or where it is most alike to what it was in earlier good recordings.

Without any such recording there are only the failing selector's own words: then the one element that is called so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error

from reenact.browser import actions as do
from reenact.browser.fallback.mend import Failed, Known, Means, Mend, Past
from reenact.browser.fallback.same import Choice, choose, kind
from reenact.browser.likeness import alike, likeness, similar, sought
from reenact.browser.live import Live
from reenact.browser.selectors import SelectorError, durable, fingerprint, parse
from reenact.browser.steps import Step

if TYPE_CHECKING:
    from reenact.browser.session import Session

MOST = 12
"""Candidates that are compared."""

NAMED = 2
"""So many of them get selectors: only the best is ever taken."""

PATIENCE = 2000
"""Milliseconds that the step has with the element that was found."""

_ABSENT = {"missing", "hidden", "several", "kind", "detached", "late"}
"""Reasons for which the selector may not name the element that is meant."""
_LASTING = ("test_id", "role", "playwright", "text", "css")


class Alternative:
    """Finds the element by what is known of it, and does the step with that."""

    name = "alternative"

    async def mend(self, session: Session, failed: Failed, known: Known, means: Means) -> Mend | None:
        """Do the step with the element that is the same as far as can be told, if what it leads to can be verified."""
        asked = failed.asked
        if failed.delivered or failed.reason not in _ABSENT or not isinstance(asked, do.Aimed):
            return None
        if not known.consequences and means.judge is None:
            return None  # nothing would tell whether it was right
        past = next((one for one in known.pasts if one.fingerprint), None)
        if past is None:
            return await self._by_words(session, failed, asked)
        found = await _found(session, failed, past.fingerprint or {}, _healed(known))
        choice = choose(past.fingerprint or {}, found["candidates"], asked.type, twin=_twin(past))
        return await self._done(session, failed, asked, (found, choice))

    async def _by_words(self, session: Session, failed: Failed, asked: do.Aimed) -> Mend | None:
        if asked.selector is None:
            return None
        try:
            words = sought(parse(asked.selector))
        except SelectorError:
            return None
        found = await _found(session, failed, words, [])
        return await self._done(session, failed, asked, (found, _called(words, found["candidates"], asked.type)))

    async def _done(
        self, session: Session, failed: Failed, asked: do.Aimed, chosen: tuple[dict[str, Any], Choice]
    ) -> Mend | None:
        found, choice = chosen
        if choice.place is None:
            return None
        one = found["candidates"][choice.place]
        selectors = one["selectors"]
        if not selectors:
            return None
        again = asked.model_copy(update={"id": None, "selector": selectors, "timeout": PATIENCE})
        result = await session._aexecute(again, actor="heal")
        if not result.success and not result.delivered:
            return None
        evidence = {
            "reason": failed.reason,
            "why": choice.why,
            "element": {name: one["fingerprint"].get(name) for name in ("role", "name", "heading", "near")},
            "consequence": result.consequence,
        }
        return Mend(
            result,
            self.name,
            failed.action.get("selector"),
            dict(result.selectors or selectors),
            choice.score,
            choice.margin,
            evidence,
        )


def _called(words: Mapping[str, Any], found: Sequence[Mapping[str, Any]], action: str) -> Choice:
    """The one element that is called as the selector says, word by word."""
    said = [words.get(name) for name in ("shown", "name", "label", "placeholder", "words")]
    texts = [str(one) for one in said if one]
    same = [
        place
        for place, one in enumerate(found)
        if kind(words, one["fingerprint"], action) and any(_is(text, one["fingerprint"]) for text in texts)
    ]
    if len(same) != 1:
        return Choice(None, 0.0, 0.0, f"{len(same) or 'no'} elements are called so")
    return Choice(same[0], float(found[same[0]]["score"]), 1.0, "the only one that is called so")


def _is(text: str, told: Mapping[str, Any]) -> bool:
    attributes = told.get("attributes") or {}
    names = [told.get(name) for name in ("name", "text", "label")]
    names += [attributes.get(name) for name in ("id", "name", "data-testid", "data-test", "placeholder", "aria-label")]
    return any(alike(text, str(one)) == 1.0 for one in names if one)


def _twin(past: Past) -> bool:
    """Whether the element had others of its name beside it: neither its role and name nor its text named it alone."""
    told = past.fingerprint or {}
    return bool(told.get("name")) and not ({"role", "text"} & past.selectors.keys())


def _healed(known: Known) -> list[dict[str, str]]:
    """Selectors that are known to find the element: of verified mends first."""
    return [dict(one.get("new") or {}) for one in known.heals] + [one.selectors for one in known.pasts]


# -- on the page -------------------------------------------------------------------------------------------------


async def _found(
    session: Session, failed: Failed, wanted: Mapping[str, Any], selectors: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """The elements that may be meant, best first, with selectors of the first few: an effect."""

    async def live(browser: Live, call: int | None) -> dict[str, Any]:
        try:
            with browser.use():
                return await _candidates(browser, failed.asked.type, wanted, selectors)
        except Error as error:
            return {"candidates": [], "error": str(error).splitlines()[0]}

    found = await session._driver.arun(Step("candidates", live, lambda _: {"step": failed.key}, kind="heal"))
    return dict(found)


async def _candidates(
    live: Live, action: str, wanted: Mapping[str, Any], selectors: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    page, mask = live.page, live.settings.mask
    found = []
    for match in await similar(wanted, page, most=MOST, secret=mask):
        found.append({"score": match.score, "fingerprint": match.fingerprint, "locator": match.locator})
    known = {(tuple(one["fingerprint"]["frames"]), one["fingerprint"]["path"]) for one in found}
    for text in list(dict.fromkeys(one[name] for one in selectors for name in _LASTING if one.get(name)))[:6]:
        locator = parse(text)[0].within(page)
        try:
            if await locator.count() != 1:
                continue
            told = await fingerprint(locator, secret=mask, timeout=500)
        except (Error, SelectorError):
            continue
        if (tuple(told["frames"]), told["path"]) not in known:
            known.add((tuple(told["frames"]), told["path"]))
            found.append({"score": likeness(wanted, told)[0], "fingerprint": told, "locator": locator})
    found = [one for one in found if kind(wanted, one["fingerprint"], action)]
    found.sort(key=lambda one: -one["score"])
    told = []
    for place, one in enumerate(found[:MOST]):
        names: dict[str, str] = {}
        if place < NAMED:
            try:
                names = await durable(one["locator"], secret=mask)
            except Error:
                continue
        told.append({"score": one["score"], "fingerprint": one["fingerprint"], "selectors": names})
    return {"candidates": told}
