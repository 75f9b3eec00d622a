"""Explain a failed action from the page: one sentence that names the element and a remedy.

The checks, in this order: is the tab open, does it answer, did the page load, does the selector parse, does the
element exist, how many match, is it shown, enabled, of the right kind, in the viewport, covered, at rest. The first
check that fails is the reason; `facts` has all findings.
"""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error, Frame, Locator, Page

from reenact.analysis.views.browsed import short_address
from reenact.browser.actions import reasons
from reenact.browser.actions.reasons import SHORT, FailedAction, Reason
from reenact.browser.page.differences import belongs, exact
from reenact.browser.page.element_functions import of_element
from reenact.browser.page.fitting import ROLES
from reenact.browser.page.isolated_world import frame_chain, of_page
from reenact.browser.page.likeness import LikenessMatch, named_alike, similar, sought
from reenact.browser.page.selector_words import texts_of
from reenact.browser.page.selectors import (
    LARGE,
    ElementNotFound,
    Selector,
    SelectorError,
    parse,
    plain,
    written,
)
from reenact.browser.page.target import TargetIdentity

PATIENCE = 3.0
"""Seconds after which a page counts as not answering."""
_PLACE = re.compile(r":nth|>")
"""Matches a selector that names an element by its position."""

CLOSE = 0.4
"""The least score of a candidate that is mentioned."""
LOOKED = 10
"""Most candidates that are inspected."""
NAMED = 3
"""Most candidates, or matching elements, that are named."""


__all__ = ["Why", "why"]


@dataclass(frozen=True, slots=True)
class Why:
    """The explanation of a failed action.

    Attributes:
        sentence: In plain English: the fault, the element, and a remedy.
        facts: The findings, as JSON: `reason` (one word), `page`, `selector`, `matches`, `frame`, `element`,
            `candidates`, `error` as far as they are known.
    """

    sentence: str
    facts: dict[str, Any]


async def why(
    page: Page,
    action: str | Mapping[str, Any],
    target: str | Mapping[str, Any] | Locator | None = None,
    error: BaseException | str | None = None,
    *,
    called: str | None = None,
    secret: Sequence[str] = (),
    like: Mapping[str, Any] | None = None,
) -> Why:
    """Find the reason of a failed action. Raises nothing, and changes nothing on the page.

    Args:
        page: The tab.
        action: Its type, or all of it (`{"type": "fill", "selector": …, "value": …}`).
        target: The given selector or locator; None if the action has no element.
        error: The raised error.
        called: The user's name of the element, an id of an observation or a selector, if the target is a locator.
        secret: CSS selectors of elements that must not be shown.
        like: The element's earlier fingerprint, if known: it finds better candidates than a selector.
    """
    fields = {"type": action} if isinstance(action, str) else dict(action)
    text = _text(error)
    failed = FailedAction(fields, _named(target, called), text, short_address(page.url))
    found = reasons.of_error(failed, closed=page.is_closed())
    if found is None:
        try:
            found = await asyncio.wait_for(
                _reason(page, target, failed, (error, list(secret), like)), PATIENCE
            )
        except TimeoutError:
            found = reasons.silent(failed)
        except Error as broken:
            closed = page.is_closed()
            found = reasons.of_error(failed.saying(_text(broken)), closed=closed) or reasons.unknown(
                failed, None
            )
    facts = {"reason": found.word, "action": fields.get("type"), "selector": failed.name, **found.facts}
    if text:
        facts["error"] = text.splitlines()[0][:500]
    return Why(found.sentence, facts)


def _text(error: BaseException | str | None) -> str:
    if error is None:
        return ""
    return error.message if isinstance(error, Error) else str(error)


def _named(target: str | Mapping[str, Any] | Locator | None, called: str | None) -> str | None:
    if called is not None:
        return called
    return _spoken(target) if isinstance(target, Locator) else written(target)


def _spoken(locator: Locator) -> str:
    """Return a locator in Playwright's words, or else its selector."""
    text = str(locator)
    selector = re.search(r"^<.* selector=(['\"].*)>$", text, re.DOTALL)
    return str(ast.literal_eval(selector[1])) if selector else text


async def _reason(
    page: Page,
    target: str | Mapping[str, Any] | Locator | None,
    failed: FailedAction,
    more: tuple[BaseException | str | None, list[str], Mapping[str, Any] | None],
) -> Reason:
    error, secret, like = more
    states = await of_page(page, "state")
    state: dict[str, Any] = next((described for frame, described in states if frame == page.main_frame), {})
    facts: dict[str, Any] = {"page": {**state, "frames": len(page.frames)}}
    if target is None:
        return reasons.loading(failed, state, facts) or reasons.unknown(failed, facts)
    try:
        selectors = () if isinstance(target, Locator) else parse(target)
        absent = isinstance(error, ElementNotFound) and state.get("count", 0) > LARGE
        found, count = (None, 0) if absent else await _count(page, target, selectors)
    except SelectorError as broken:
        return Reason("selector", _sentence(str(broken)), facts)
    facts["matches"] = count
    if count == 0 or found is None:
        wanted = like or sought(selectors or _of_locator(target))
        best = await _closest(page, wanted, secret, failed.type)
        for match, described in best:
            described["other"] = _other(like, target, match.fingerprint)
        facts["candidates"] = [one for _, one in best]
        return reasons.missing(failed, state, facts)
    if count > 1:
        facts["elements"] = await _several(found, count, secret)
        return reasons.several(failed, facts)
    handle = await found.element_handle(timeout=500)
    probe = await of_element(handle, "eyes.probe(el, argument)", secret)
    frame = await handle.owner_frame()
    facts["element"] = probe
    if frame is not None and frame.parent_frame is not None:
        facts["frame"] = await frame_chain(frame)
        probe["covered"] = probe["covered"] or await _covered_outside(frame, probe["box"])
    late = isinstance(error, ElementNotFound) or (
        "waiting for" in failed.error and "locator resolved" not in failed.error
    )
    return reasons.of_element(failed, probe, facts) or reasons.unknown(failed, facts, late=late)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def _of_locator(target: Any) -> tuple[Selector, ...]:
    try:
        return parse(_spoken(target))
    except SelectorError:
        return ()


async def _count(
    page: Page, target: str | Mapping[str, Any] | Locator, selectors: tuple[Selector, ...]
) -> tuple[Locator | None, int]:
    """Count the target's matches, as `resolve` does.

    Of several selectors the first that names one element counts, else any that matches.
    """
    if isinstance(target, Locator):
        return target, await target.count()
    several: tuple[Locator | None, int] = (None, 0)
    for selector in selectors:
        for frame in page.frames if not selector.frames else [page.main_frame]:
            locator = selector.within(frame)
            try:
                count = await locator.count()
            except Error as error:
                if "frame" not in error.message.lower() and frame == page.main_frame and not selector.frames:
                    raise SelectorError(f"{selector.text!r} does not parse: {plain(error)}") from None
                continue
            if count == 1:
                return locator, 1
            if count and not several[1]:
                several = (locator, count)
            if count:
                break
    return several


async def _closest(
    page: Page, wanted: Mapping[str, Any], secret: Sequence[str], action: str
) -> list[tuple[LikenessMatch, dict[str, Any]]]:
    """Return the best candidates with a fitting role and a name like the wanted one."""
    matches = [
        one
        for one in await similar(wanted, page, most=LOOKED, secret=secret)
        if one.score >= CLOSE and _fits(wanted, one.fingerprint, action)
    ][:NAMED]
    return list(zip(matches, await asyncio.gather(*(_described(one) for one in matches)), strict=True))


def _fits(wanted: Mapping[str, Any], candidate: Mapping[str, Any], action: str) -> bool:
    role, was = str(candidate.get("role")), str(wanted.get("role") or "")
    if role not in ROLES.get(action, (role,)) or (was and (was in ROLES["fill"]) != (role in ROLES["fill"])):
        return False
    return named_alike(wanted, candidate)


def _other(like: Mapping[str, Any] | None, target: Any, candidate: Mapping[str, Any]) -> str:
    """Return the fact that shows a candidate to be another element than the known one, or ""."""
    found = TargetIdentity.of(candidate)
    if like and (reason := exact(TargetIdentity.of(like), found)):
        return reason
    selector = None if isinstance(target, Locator) else target
    missing = next((one for one in texts_of(selector)[1] if not belongs(found, candidate, one)), "")
    return f'it does not belong to "{missing}"' if missing else ""


async def _described(match: LikenessMatch) -> dict[str, Any]:
    """Describe a candidate: words, score, scores of its parts, and a selector that finds it."""
    try:
        described, css = await of_element(
            match.locator, "[eyes.describe(el), eyes.selectorsOf(el).css]", timeout=300
        )
    except Error:
        described, css = match.fingerprint["role"], match.spot
    role, name = match.fingerprint["role"], match.fingerprint["name"]
    short = await _by_role(match.locator, css, role, name)
    return {
        "described": described,
        "selector": " >> ".join([*(f"frame={one}" for one in match.fingerprint["frames"]), short]),
        "score": match.score,
        "visible": match.fingerprint["visible"],
        "parts": {part: alike for part, (_, alike) in match.parts.items()},
    }


async def _by_role(locator: Locator, css: str, role: str, name: str) -> str:
    """Replace a positional or long selector by role and name, if they find the element alone."""
    if not name or len(name) > SHORT or role == "generic" or not (_PLACE.search(css) or len(css) > SHORT):
        return css
    found = f"role={role}[name={_quoted(name)}]"
    with suppress(Error):
        frame = await (await locator.element_handle(timeout=300)).owner_frame()
        if frame is not None and await frame.locator(found).count() == 1:
            return found
    return css


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'


async def _several(locator: Locator, count: int, secret: Sequence[str]) -> list[dict[str, Any]]:
    """Describe the first few of many matching elements."""
    call = (
        "[eyes.selectorsOf(el, argument), {described: eyes.describe(el, argument), visible: eyes.shown(el)}]"
    )

    async def describe(one: Locator) -> dict[str, Any]:
        names, described = await of_element(one, call, list(secret), timeout=500)
        name = "" if names["secret"] else names["name"]
        return {**described, "selector": await _by_role(one, names["css"], names["role"], name)}

    first = [describe(locator.nth(number)) for number in range(min(count, NAMED))]
    return [one for one in await asyncio.gather(*first, return_exceptions=True) if isinstance(one, dict)]


async def _covered_outside(frame: Frame, box: Sequence[float]) -> dict[str, Any] | None:
    """Return the element of an outer page that covers an element of a frame, or None."""
    x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
    at: Frame | None = frame
    while at is not None and at.parent_frame is not None:
        owner = await at.frame_element()
        found = await of_element(
            owner, "(() => { const [left, top] = eyes.inset(el); const x = left + argument[0], y = top + argument[1];"
            " return [x, y, eyes.coverAt(el, x, y)]; })()", [x, y],
        )  # fmt: skip
        x, y, cover = found
        if cover:
            return dict(cover)
        at = at.parent_frame
    return None
