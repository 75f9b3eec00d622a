"""Resolve users' selectors in any frame, and make durable selectors for recordings."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playwright.async_api import ElementHandle, Error, Locator, Page

from reenact.browser.page.element_functions import of_element
from reenact.browser.page.guard import PressGuard
from reenact.browser.page.inspection import open_closed
from reenact.browser.page.isolated_world import chained, frame_chain, origin
from reenact.browser.page.parsing import (
    KINDS,
    Selector,
    SelectorError,
    one_of,
    parse,
    styles,
    type_of,
    written,
)
from reenact.errors import ReenactError

__all__ = [
    "KINDS", "LARGE", "AmbiguousElement", "ElementNotFound", "Selector", "SelectorError", "durable", "fingerprint",
    "known", "parse", "plain", "resolve", "spot_of", "styles", "type_of", "written",
]  # fmt: skip

POLL = 0.05
CLOSED, BRIEF = 0.5, 0.1
"""Seconds between two searches for closed shadow roots, and before the first one."""
LARGE = 6000
"""Number of elements of a page from which costly checks of each element are left out."""

_BAD_SYNTAX = (
    "Unexpected token",
    "Unknown engine",
    "not a valid",
    "Malformed",
    "while parsing",
    "Invalid selector",
)


class ElementNotFound(ReenactError, LookupError):
    """No element of the page matched in time; `quiet` if the wait ended because the page was."""

    def __init__(self, said: str, *, quiet: bool = False) -> None:
        super().__init__(said)
        self.quiet = quiet


class AmbiguousElement(ReenactError, LookupError):
    """Several elements match; `locator` finds all of them."""

    def __init__(self, text: str, locator: Locator, count: int) -> None:
        super().__init__(f"{count} elements match {text}; say which")
        self.locator = locator
        self.count = count


async def resolve(
    page: Page,
    selector: str | Mapping[str, Any],
    timeout: float = 15000,  # noqa: ASYNC109 - as Playwright says it
    *,
    in_vain: Callable[[], Awaitable[bool]] | None = None,
) -> Locator:
    """Return the locator of the only element that a selector finds.

    It searches the main frame, then the other frames until one has a match. Of several selectors it takes the first
    that finds exactly one element. If all that match find several, the others have half a second more to match; an
    ambiguous element is never taken.

    Args:
        page: The page.
        selector: As `parsing` describes.
        timeout: Milliseconds to wait for the element to exist.
        in_vain: Called while nothing matches; waiting ends once it returns True.

    Raises:
        SelectorError: It does not parse.
        AmbiguousElement: Several elements match.
        ElementNotFound: Nothing matched in time.
    """
    tried = parse(selector)
    end = time.monotonic() + timeout / 1000
    settled: float | None = None
    opened = time.monotonic() - CLOSED + BRIEF
    while True:
        several = None
        for one in tried:
            found, count = await _matching(page, one)
            if found is not None and count == 1:
                return found
            if found is not None and several is None:
                several = AmbiguousElement(one.text, found, count)
        now = time.monotonic()
        if several is None and now < end and now - opened >= CLOSED:
            # Playwright finds nothing in a closed shadow root until it is opened.
            opened = now
            if await open_closed(page):
                continue
        if several is not None:
            settled = settled or now
            if len(tried) == 1 or now - settled > 0.5 or now > end:
                raise several
        elif now >= end or (in_vain is not None and await in_vain()):
            words = " or ".join(one.text for one in tried)
            waited = f"after {timeout / 1000:g} s" if now >= end else "on a page that is quiet"
            raise ElementNotFound(f"no element matches {words} {waited}", quiet=now < end)
        await asyncio.sleep(POLL)


async def _matching(page: Page, selector: Selector) -> tuple[Locator | None, int]:
    for frame in page.frames:
        if frame.is_detached():
            continue
        if selector.frames and frame != page.main_frame:
            break
        locator = selector.within(frame)
        try:
            count = await locator.count()
        except Error as error:
            if any(words in error.message for words in _BAD_SYNTAX):
                raise SelectorError(f"{selector.text!r} does not parse: {plain(error)}") from None
            if frame == page.main_frame and page.is_closed():
                raise
            continue
        if count:
            return locator, count
    return None, 0


def plain(error: Error) -> str:
    """Return the message of a Playwright error, from its first line."""
    line = error.message.splitlines()[0]
    return line.removeprefix("Locator.count: ").split("Error: ")[-1].strip()


async def durable(locator: Locator, *, secret: Sequence[str] = ()) -> dict[str, str]:
    """Return only the selectors of `known`."""
    return (await known(locator, secret=secret))[0]


async def fingerprint(
    locator: Locator,
    *,
    secret: Sequence[str] = (),
    timeout: float = 1000,  # noqa: ASYNC109 - as Playwright says it
) -> dict[str, Any]:
    """Return only the fingerprint of `known`."""
    place = await _place(locator, timeout)
    call = "({fingerprint: eyes.fingerprint(el, argument)})"
    return await _placed(await of_element(place.element, call, styles(secret)[0], timeout=timeout), place)


async def known(
    locator: Locator,
    *,
    secret: Sequence[str] = (),
    timeout: float = 1000,  # noqa: ASYNC109 - as Playwright says it
    guard: PressGuard | None = None,
    words: Mapping[str, Any] | None = None,
) -> tuple[dict[str, str], dict[str, Any], str, dict[str, Any] | None]:
    """Return an element's durable selectors, fingerprint, obstacle to an act, and wording.

    The obstacle is `hidden`, `disabled` or `covered`, or empty.

    The selectors, best first, are for this page and for later runs: `playwright` (its own normalised locator),
    `test_id`, `role` (with its name), `text`, `css`, `xpath`. One that finds another element, or several, is left out;
    `css` uses the position on the page only if nothing else identifies the element.

    The fingerprint identifies the element if its selectors fail (`likeness`): `tag`, `role`, `name` (accessible),
    `text`, `label`, `caption` (of a field: the text before it), `attributes` (id, name, type, placeholder, aria-label,
    title, alt, test ids, paths of href and src without their query), `classes`, `heading` (the nearest before it),
    `near` (its neighbours' texts), `box` (in the main viewport), `path` (in the DOM, with indices), `siblings`,
    `frames`, `record` (the nearest ancestor that repeats: its `key` and `texts`), `region`, `icon`, `leads` (a hash of
    a link's whole address), `submits`, `secret`, `visible`. `guard` watches the element from then on.

    The wording is the page's answer to the words of a script's selector (`eyes.wording`), if there are `words`.

    None of them contains typed text, or the content of an element that a selector of `secret` names. Raises
    Playwright's Error if the element does not exist within `timeout` (milliseconds).
    """
    place = await _place(locator, timeout)
    inside, outside = styles(secret)
    if guard is None:
        call = "eyes.known(el, argument[0], argument[1])"
        answer = await of_element(place.element, call, [inside, words], timeout=timeout)
    else:
        answer = await guard.arm(place.element, inside, words, timeout)
    names = answer["names"]
    if outside and not names["secret"]:
        names["secret"] = await _within_any(locator, outside, timeout)
        if names["secret"]:
            answer["fingerprint"] |= {"name": "", "text": "", "label": "", "caption": "", "secret": True}
            answer["fingerprint"] |= {"record": None, "region": None, "icon": ""}
            answer["wording"] = None
    exact = await _exact(locator, answer, place)
    return exact, await _placed(answer, place), str(answer.get("obstacle") or ""), answer["wording"]


@dataclass(frozen=True, slots=True)
class _ElementPlace:
    """An element's place: the frames' selectors, its frame's origin, and a handle if needed."""

    element: Locator | ElementHandle
    chain: list[str]
    corner: tuple[float, float] = (0.0, 0.0)


async def _place(locator: Locator, timeout: float) -> _ElementPlace:  # noqa: ASYNC109 - as Playwright says it
    if len(locator.page.frames) == 1:
        return _ElementPlace(locator, [])
    handle = await locator.element_handle(timeout=timeout)
    frame = await handle.owner_frame()
    if frame is None:
        raise Error("the element is in no frame")
    if frame.parent_frame is None:
        return _ElementPlace(handle, [])
    return _ElementPlace(handle, *await asyncio.gather(frame_chain(frame), origin(frame)))


async def _placed(answer: dict[str, Any], place: _ElementPlace) -> dict[str, Any]:
    found: dict[str, Any] = answer["fingerprint"]
    x, y, width, height = found["box"]
    left, top = place.corner
    return {**found, "box": [x + left, y + top, width, height], "frames": place.chain}


async def _within_any(locator: Locator, selectors: Sequence[str], timeout: float) -> bool:  # noqa: ASYNC109
    handle = await locator.element_handle(timeout=timeout)
    held = "(found, el) => found.some(one => one.contains(el) || el.contains(one))"
    tried = (one_of(text).within(locator.page).evaluate_all(held, handle) for text in selectors)
    return any(await asyncio.gather(*tried))


_SPOT = """(found) => {
  if (found.length !== 1) return null;
  if (found[0].getRootNode() !== document) return "";
  const steps = [];
  for (let at = found[0]; at; at = at.parentElement) {
    let place = 1;
    for (let other = at.previousElementSibling; other; other = other.previousElementSibling) place += 1;
    steps.unshift(at.parentElement ? `*[${place}]` : "*");
  }
  return "xpath=/" + steps.join("/");
}"""


async def spot_of(locator: Locator) -> str | None:
    """Return the position of a locator's element in its frame, as an XPath of numbers.

    Empty for an element within a shadow root; None if the locator finds no element, or several. Raises Playwright's
    Error.
    """
    answer = await locator.evaluate_all(_SPOT)
    return None if answer is None else str(answer)


async def _exact(locator: Locator, answer: dict[str, Any], place: _ElementPlace) -> dict[str, str]:
    """Return the selectors that find only this element.

    The page has checked some already; Playwright checks the rest.
    """
    names, large = (
        answer["names"],
        answer["count"] >= LARGE,
    )  # finding each element's role would take seconds
    normal = "" if large else str(await locator.normalize())
    if (names["field"] or names["secret"]) and ("get_by_text(" in normal or "has_text" in normal):
        normal = ""  # a text area's "text" is typed by a user
    offered = _offered(names, large=large)
    alone = dict(answer["alone"]) if not place.chain else {}
    if normal and not place.chain:
        # Playwright's own locator finds one element, and so does an equal selector.
        for kind, text in offered:
            if normal == _spoken(kind, names):
                alone[text] = True
    asked = [text for _, text in offered if text not in alone]
    asked = [normal, *asked] if normal and place.chain else asked
    element = place.element
    if asked and isinstance(element, Locator) and not answer["spot"].startswith("xpath="):
        element = await element.element_handle()
    checks = (_found(locator.page, chained(place.chain, one), element, answer["spot"]) for one in asked)
    alone |= dict(zip(asked, await asyncio.gather(*checks), strict=True))
    exact = {"playwright": normal} if normal and alone.get(normal, True) else {}
    for kind, text in offered:
        if alone[text]:
            exact.setdefault(kind, chained(place.chain, text))
    return exact


def _offered(names: Mapping[str, Any], *, large: bool) -> list[tuple[str, str]]:
    role, name, text = names["role"], names["name"], names["text"]
    speaks = not large and not names["secret"]
    offered = [("test_id", names["test_id"])] if names["test_id"] else []
    if speaks and role != "generic" and name and "…" not in name:
        offered.append(("role", f"role={role}[name={_quoted(name)}]"))
    if speaks and text and "…" not in text and not names["field"]:
        offered.append(("text", "~" + text))
    offered += [("css", "css=" + names["css"]), ("css", "css=" + names["place"])]
    return [*offered, ("xpath", "xpath=" + names["xpath"])] if names["xpath"] else offered


def _spoken(kind: str, names: Mapping[str, Any]) -> str:
    """Return a selector in Playwright's notation."""
    if kind == "role":
        return f"get_by_role({_quoted(names['role'])}, name={_quoted(names['name'])})"
    return f"get_by_text({_quoted(names['text'])})" if kind == "text" else ""


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


async def _found(page: Page, text: str, element: Locator | ElementHandle, spot: str) -> bool:
    try:
        found = one_of(text).within(page)
        if isinstance(element, Locator):
            return await spot_of(found) == spot
        same = "(found, el) => found.length === 1 && found[0] === el"
        return bool(await found.evaluate_all(same, element))
    except (Error, SelectorError):
        return False
