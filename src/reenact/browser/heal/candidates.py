"""Find the elements that a failed step may mean, and do the step with one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error, Locator

from reenact.browser.actions import types as do
from reenact.browser.effects.calls import arun
from reenact.browser.effects.operations import Operation
from reenact.browser.heal.identity import ElementChoice, kind
from reenact.browser.heal.mend import FailedStep, Mend
from reenact.browser.page.likeness import likeness, similar
from reenact.browser.page.live_browser import LiveBrowser
from reenact.browser.page.selectors import SelectorError, durable, fingerprint, parse, spot_of
from reenact.browser.page.target import KnownTarget, TargetIdentity

if TYPE_CHECKING:
    from reenact.browser.session.session import Session

MOST = 12
"""Number of candidates kept by default."""

COMPARED = 60
"""Number of candidates among which one is chosen."""

PATIENCE = 2000
"""Milliseconds that the step may take with the found element."""

_TRIES = 3
"""Tries to inspect an element that the page keeps replacing."""

_LASTING = ("test_id", "role", "playwright", "text", "css")

Pick = Callable[[Sequence[Mapping[str, Any]]], ElementChoice]
"""A function that chooses one of several candidates, or none."""

_Seen = tuple[float, dict[str, Any], Locator]
"""A candidate: its score, its fingerprint, its locator."""


async def candidates(
    session: Session, failed: FailedStep, wanted: Mapping[str, Any], *, most: int
) -> list[dict[str, Any]]:
    """Return the possible elements, best first, as one effect.

    Args:
        session: The session to look in.
        failed: The step.
        wanted: The wanted element's fingerprint, or its known parts.
        most: The largest number of elements.

    Returns:
        The `score`, `fingerprint` and `selectors` of each element.
    """

    async def look(live: LiveBrowser) -> list[dict[str, Any]]:
        fit = await _fit(live, failed.asked.type, wanted, (), most)
        names = await asyncio.gather(*(_selectors(live, locator) for _, _, locator in fit))
        return [
            {"score": score, "fingerprint": facts, "selectors": name}
            for (score, facts, _), name in zip(fit, names, strict=True)
        ]

    return list(await _as_effect(session, {"step": failed.key, "most": most}, look))


async def chosen(
    session: Session,
    failed: FailedStep,
    wanted: Mapping[str, Any],
    pick: Pick,
    selectors: Sequence[Mapping[str, str]] = (),
) -> tuple[ElementChoice, dict[str, Any]]:
    """Choose the intended element with `pick`, as one effect that records the best candidates.

    Args:
        session: The session to look in.
        failed: The step.
        wanted: As for `candidates`.
        pick: Chooses; its answer is recorded, and a replay does not ask again.
        selectors: Other selectors that once named the element; the elements they find become candidates, too.

    Returns:
        The choice, and the chosen element's `score`, `fingerprint` and `selectors`; if none was chosen, those of the
        most similar one, or nothing.
    """

    async def look(live: LiveBrowser) -> dict[str, Any]:
        fit = await _fit(live, failed.asked.type, wanted, selectors, COMPARED)
        found = [{"score": score, "fingerprint": one} for score, one, _ in fit]
        choice = pick(found)
        name = {} if choice.place is None else await _selectors(live, fit[choice.place][2])
        kept = found[:MOST]
        if choice.place is not None:
            found[choice.place]["selectors"] = name
            if choice.place >= MOST:
                kept.append(found[choice.place])
                choice = replace(choice, place=MOST)
        return {"found": kept, "choice": asdict(choice)}

    answer = await _as_effect(session, {"step": failed.key}, look)
    if isinstance(answer, Mapping):
        found, choice = answer["found"], ElementChoice(**answer["choice"])
    else:
        found, choice = answer, pick(answer)  # a recording of an older version, or a page that gave no answer
    if choice.place is not None:
        return choice, dict(found[choice.place])
    return choice, dict(found[0]) if found else {}


async def _as_effect(
    session: Session, args: dict[str, Any], look: Callable[[LiveBrowser], Awaitable[Any]]
) -> Any:
    async def live(browser: LiveBrowser, call: int | None) -> Any:
        try:
            with browser.use():
                return await look(browser)
        except Error:
            return []  # the page is closed or busy: there is no answer

    step = Operation("candidates", live, lambda _: args, kind="heal")
    found: list[dict[str, Any]] = await arun(session.core.driver.run(step))
    return found


async def _fit(
    live: LiveBrowser,
    action: str,
    wanted: Mapping[str, Any],
    selectors: Sequence[Mapping[str, str]],
    most: int,
) -> list[_Seen]:
    """Return the elements that fit the action, best first."""
    page = live.page
    texts = list(dict.fromkeys(one[name] for one in selectors for name in _LASTING if one.get(name)))[:6]
    matches, named = await asyncio.gather(
        similar(wanted, page, most=most, secret=live.mask(page)),
        asyncio.gather(*(_named(live, text) for text in texts)),
    )
    found: list[_Seen] = [(one.score, one.fingerprint, one.locator) for one in matches]
    spots = {one.spot for one in matches if not one.fingerprint["frames"]}
    known = {_place(facts) for _, facts, _ in found}
    rest = [locator for locator, spot in named if locator is not None and spot not in spots]
    for facts, locator in await asyncio.gather(*(_fingerprint_of(live, locator) for locator in rest)):
        if facts is not None and _place(facts) not in known:
            known.add(_place(facts))
            found.append((likeness(wanted, facts)[0], facts, locator))
    return sorted((one for one in found if kind(wanted, one[1], action)), key=lambda one: -one[0])[:most]


async def _named(live: LiveBrowser, text: str) -> tuple[Locator | None, str]:
    """Return the only element that a selector finds, and its path.

    None and "" if there is no such element. The path is empty for an element within frames.
    """
    try:
        (one,) = parse(text)
        locator = one.within(live.page)
        if one.frames:
            return (locator if await locator.count() == 1 else None), ""
        spot = await spot_of(locator)
    except (Error, SelectorError):
        return None, ""
    return (None, "") if spot is None else (locator, spot)


async def _fingerprint_of(live: LiveBrowser, locator: Locator) -> tuple[dict[str, Any] | None, Locator]:
    try:
        return await fingerprint(locator, secret=live.mask(live.page), timeout=500), locator
    except Error:
        return None, locator


async def _selectors(live: LiveBrowser, locator: Locator) -> dict[str, str]:
    for _ in range(_TRIES):
        try:
            return await durable(locator, secret=live.mask(live.page))
        except Error:
            await asyncio.sleep(0)  # some pages keep redrawing a list
    return {}


def _place(facts: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(facts["frames"]), facts["path"]


async def taken(
    session: Session,
    failed: FailedStep,
    one: Mapping[str, Any],
    choice: ElementChoice,
    rung: str,
    *,
    writes: Sequence[Mapping[str, Any]] = (),
    whole: bool = False,
) -> Mend | None:
    """Do the step with a candidate. Return None if it was not done.

    Its requests are held and compared with `writes`, those of good runs; with `whole`, also their paths and bodies.
    """
    asked = failed.asked
    assert isinstance(asked, do.Aimed)
    if not one["selectors"]:
        return None
    again = asked.model_copy(update={"id": None, "selector": one["selectors"], "timeout": PATIENCE})
    identity = TargetIdentity.of(one["fingerprint"])
    target = KnownTarget(pasts=(identity,), writes=tuple(writes), whole=whole)
    result = await arun(session.core.perform(again, "heal", target=target))
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
