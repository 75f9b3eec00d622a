"""Find the element of an action, and check its identity before anything happens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Any

from playwright.async_api import Error, Locator, Page

from reenact.browser.actions import types as do
from reenact.browser.actions.running import RunningAction, TargetCheck
from reenact.browser.page import consequence, selectors, snapshot
from reenact.browser.page.differences import differences, rivals
from reenact.browser.page.element_functions import of_elements
from reenact.browser.page.guard import PressGuard
from reenact.browser.page.likeness import similar
from reenact.browser.page.live_browser import LiveBrowser
from reenact.browser.page.pending import pending
from reenact.browser.page.target import AmbiguousTarget, DriftedTarget, KnownTarget, TargetIdentity
from reenact.browser.page.written import PageWording, asked_of, names

QUIET = 0.4
"""Seconds without a change and without a request after which a page counts as quiet."""

ANSWERED = 2.0
"""Seconds after which a request without an answer no longer keeps a page from being quiet."""

LEAST = 0.5
"""Seconds that a step waits at least for its element."""

_POLL = 0.05
_SEVERAL = 40
"""Most matches of a selector among which the one that its words name is searched."""
_COMPARED = 200
"""Most elements that are compared with the one of a record that the script states."""
_BRIEF = 400
"""Milliseconds for an act that is still obstructed once the page is quiet."""
_LOOK = 5000
"""Milliseconds that a busy page may take to describe an element that is there."""

_PULSE = """() => {
  const text = document.body?.textContent ?? "";
  let sum = 0;
  for (let at = 0; at < Math.min(text.length, 50000); at++) sum = (sum * 31 + text.charCodeAt(at)) | 0;
  return [document.readyState + location.href + document.getElementsByTagName("*").length + " " + text.length, sum];
}"""
"""Counts of elements and letters; and a sum of the text, which a clock changes, too."""

_PRESSED = (do.Click, do.Check, do.DownloadFile, do.Drag, do.Expand)


class QuietPage:
    """Tells if a page is quiet: it no longer changes, and no request waits for an answer.

    Args:
        live: The browser.
        page: The page.

    Attributes:
        began: The time of the first look.
        polled: True once the page had to be looked at again.
        text: A sum of the page's text at the last look.
    """

    def __init__(self, live: LiveBrowser, page: Page) -> None:
        self._live = live
        self._page = page
        self.began = self._changed = monotonic()
        self._seen: Any = None
        self.text = 0
        self.polled = False
        self._asked = -QUIET
        self._pending: list[str] = []

    async def quiet(self) -> bool:
        """Return True if nothing has happened for `QUIET` seconds. Call it often."""
        seen: Any = None
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(QUIET):
                pulse, self.text = await self._page.evaluate(_PULSE)
                seen = pulse, self._live.navigations
        now = monotonic()
        if seen is None or self._seen not in (None, seen) or self._live.requests.awaited(ANSWERED):
            self._changed = now
        self._seen = seen
        return now - self._changed >= QUIET

    async def finished(self, end: float) -> bool:
        """Return True if the page is quiet, and shows no sign that it will change before `end`."""
        if not await self.quiet():
            return False
        now = monotonic()
        if now >= self._asked + QUIET:
            self._asked = now
            self._pending = await pending(self._page, self._live.requests.awaited(), end - now)
        return not self._pending


async def aim(running: RunningAction, action: do.Aimed) -> None:
    """Find the element, its selectors and its fingerprint, and check its identity.

    Raises DriftedTarget where the selector finds another element than the step means.
    """
    live, check = running.live, running.check
    known = running.known = None if check is None else await check.known()
    stops = known is not None and _stops(action, known, check)
    bound = stops or (known is not None and known.worded and action.drift is None)
    calm = QuietPage(live, running.page)
    end = monotonic() + action.timeout / 1000
    in_vain, gives_up = _in_vain(known, check, calm, end), _gives_up(known, check)
    while True:
        running.locator = live.known(action) or await found(live, action, in_vain, known)
        # The page's pulse is taken before the look, so that no change between them is missed.
        pulse = asyncio.create_task(calm.quiet()) if bound else None
        try:
            await _look(
                running,
                stops=stops and known is not None and (known.worded or bool(known.pasts or known.written)),
            )
        except Error:
            if monotonic() >= end:
                raise
            calm.polled = True
            await asyncio.sleep(_POLL)  # it was replaced just now
            continue
        finally:
            if pulse is not None:
                await pulse
        drifted = _drifted(running) or await _ambiguous(running)
        # A slow look does not count as waiting, or the next run would wait as long for nothing.
        running.waited = round(monotonic() - calm.began, 2) if calm.polled else 0.0
        if drifted is None:
            if not gives_up or not _in_the_way(running) or monotonic() >= end:
                return
            if await in_vain():
                running.patience = _BRIEF
                return
            await asyncio.sleep(_POLL)
            continue
        if not stops and not (bound and drifted.sure):
            running.drifted = drifted
            return
        # The page may still be changing into the expected one.
        if not await _changes(check, calm, end):
            raise drifted


def _in_the_way(running: RunningAction) -> bool:
    """Return True if an obstacle would make the act wait. A file field is often hidden."""
    return bool(running.obstacle) and not (
        running.obstacle == "hidden" and isinstance(running.action, do.UploadFile)
    )


def _stops(action: do.Aimed, known: KnownTarget, check: TargetCheck | None) -> bool:
    if action.drift is not None:
        return action.drift == "stop"
    return bool(known.pasts or known.written) or (check is not None and check.stops)


def _in_vain(
    known: KnownTarget | None, check: TargetCheck | None, calm: QuietPage, end: float
) -> Callable[[], Awaitable[bool]]:
    """Return a function that tells, after each look, if waiting for the element is pointless."""
    gives_up = _gives_up(known, check)
    least = max(LEAST, 2 * known.seconds) if known is not None else LEAST

    async def ask() -> bool:
        calm.polled = True
        if not gives_up:
            return False
        return await _at_rest(check, calm, end) and monotonic() - calm.began >= least

    return ask


def _gives_up(known: KnownTarget | None, check: TargetCheck | None) -> bool:
    """Return True if the wait for the element may end before the time-out."""
    return known is not None and check is not None and check.waits != "time-out" and bool(known.pasts)


async def _at_rest(check: TargetCheck | None, calm: QuietPage, end: float) -> bool:
    """Return True if the page is at rest. A quiet page is enough where a healer goes on."""
    return await (calm.quiet() if check is not None and check.waits == "quiet" else calm.finished(end))


async def _changes(check: TargetCheck | None, calm: QuietPage, end: float) -> bool:
    """Wait for a change of the page; return False if it comes to rest or the time is over."""
    text = calm.text
    calm.polled = True
    while monotonic() < end:
        rests = await _at_rest(check, calm, end)
        if calm.text != text:
            return True
        if rests and monotonic() - calm.began >= LEAST:
            return False
        await asyncio.sleep(_POLL)
    return False


async def _look(running: RunningAction, *, stops: bool) -> None:
    live, page = running.live, running.page
    await disarm(running)
    assert running.locator is not None
    assert isinstance(running.action, do.Aimed)
    if isinstance(running.action, _PRESSED):
        running.guard = PressGuard(stops=stops)
    result, before = await asyncio.gather(
        selectors.known(
            running.locator,
            secret=live.mask(page),
            timeout=min(running.action.timeout, _LOOK),
            guard=running.guard,
            words=None if running.known is None or not running.known.worded else asked_of(running.known),
        ),
        consequence.digest(page, live.mask(page)),
        return_exceptions=True,
    )
    running.before = None if isinstance(before, BaseException) else before
    if isinstance(result, BaseException):
        if stops or "not attached" in str(result):
            raise result  # an element that cannot be inspected is not acted on
        return  # the action itself will report the error
    running.selectors, running.fingerprint, running.obstacle, wording = result
    running.wording = None if wording is None else PageWording.of(wording)
    running.box = list(running.fingerprint["box"])
    if running.secret and running.selectors and not running.fingerprint["secret"]:
        named = running.selectors.get("css") or next(iter(running.selectors.values()))
        await live.hide(page, named, running.locator)


async def disarm(running: RunningAction) -> None:
    """Remove the guard that an act which did not press has left in the page.

    The guard would stop the next press.
    """
    if running.guard is not None:
        await running.guard.read()


def _drifted(running: RunningAction) -> DriftedTarget | None:
    known, fingerprint = running.known, running.fingerprint
    if known is None or fingerprint is None:
        return None
    identity = TargetIdentity.of(fingerprint)
    differs = differences(known, identity, running.wording)
    return DriftedTarget(known, identity, differs) if differs else None


async def _ambiguous(running: RunningAction) -> AmbiguousTarget | None:
    """Return the error if an element of another record also is what the script states."""
    known, fingerprint = running.known, running.fingerprint
    if known is None or fingerprint is None or "record" not in (known.written or {}):
        return None
    mine = TargetIdentity.of(fingerprint)
    for one in await similar(
        fingerprint, running.page, most=_COMPARED, secret=running.live.mask(running.page)
    ):
        other = TargetIdentity.of(one.fingerprint)
        if one.fingerprint["visible"] and rivals(known, mine, other):
            return AmbiguousTarget(known, mine, other)
    return None


async def looks_secret(live: LiveBrowser, action: do.Aimed, check: TargetCheck | None = None) -> bool:
    """Return True if the action's element is secret.

    The result of the search is kept for the action that follows, which then need not wait again.
    """
    try:
        known = None if check is None else await check.known()
        end = monotonic() + action.timeout / 1000
        in_vain = _in_vain(known, check, QuietPage(live, live.page), end)
        locator = await found(live, action, in_vain, known)
    except LookupError as error:
        live.asked = (action, error)
        raise
    live.asked = (action, locator)
    return await live.is_secret(locator)


async def found(
    live: LiveBrowser,
    action: do.Aimed,
    in_vain: Callable[[], Awaitable[bool]] | None = None,
    known: KnownTarget | None = None,
) -> Locator:
    """Return the action's element; of several, the only one that the selector's words name."""
    if action.id is not None:
        seen = live.sight.get(live.page)
        if seen is None:
            raise snapshot.StaleElement(f"{action.id} is of no observation of this page: observe it first")
        return await snapshot.locate(live.page, seen, action.id)
    assert action.selector is not None
    try:
        return await selectors.resolve(live.page, action.selector, action.timeout, in_vain=in_vain)
    except selectors.AmbiguousElement as error:
        one = None if known is None else await _named(live, error, known)
        if one is None:
            raise
        return one


async def _named(
    live: LiveBrowser, several: selectors.AmbiguousElement, known: KnownTarget
) -> Locator | None:
    """Return the only visible one of several elements that the selector's words name."""
    if several.count > _SEVERAL or not (known.words or known.context):
        return None
    asked = {"secret": selectors.styles(live.mask(live.page))[0], "words": asked_of(known)}
    wordings = await of_elements(several.locator, "eyes.wording(el, argument.secret, argument.words)", asked)
    pages = [PageWording.of(one) if one["seen"] else None for one in wordings]
    for exactly in (True, False):
        fit = [
            place for place, one in enumerate(pages) if one is not None and names(known, one, exactly=exactly)
        ]
        if len(fit) == 1:
            return several.locator.nth(fit[0])
        if fit:
            return None
    return None
