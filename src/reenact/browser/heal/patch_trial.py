"""Try the selectors of a patch on the recorded pages of its step, and on variants of them.

A variant is the page without the step's record or element, or with a decoy: another record before it, or an element of
a longer name. On each of them, a selector must find the step's element, or no single element, since a step stops there.
Pages are built in another browser, without scripts and network.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

from playwright.async_api import ElementHandle, Error, Locator, Page

from reenact.browser.effects.session_recording import unrecorded
from reenact.browser.heal.harden.mutations import PATH, MutablePage
from reenact.browser.heal.harden.trial import ChangedPage
from reenact.browser.heal.heal_record import HealRecord
from reenact.browser.heal.learned_selectors import PatchTrial, offers
from reenact.browser.heal.source import UnchangeableSelector
from reenact.browser.heal.step_pages import StepPage, step_pages
from reenact.browser.page import selectors
from reenact.browser.page.differences import differences
from reenact.browser.page.live_browser import LiveBrowser
from reenact.browser.page.selector_words import codes_of, texts_of
from reenact.browser.page.selectors import AmbiguousElement, ElementNotFound, SelectorError
from reenact.browser.page.target import KnownTarget, TargetIdentity
from reenact.browser.page.written import PageWording, asked_of
from reenact.browser.session.session import Session
from reenact.errors import ReenactError

VARIANTS = {
    "": "none",
    "without its record": "lost",
    "without itself": "removed",
    "with another record before it": "ahead",
    "with another record instead of its own": "other",
    "with a longer name before it": "longer",
    "with a longer name instead of it": "instead",
}
"""The changes of a page (`harden/mutate.js`), in words."""

_BUILD = """async (tree) => {
  const { BuiltMoment } = (() => { %s; return { BuiltMoment }; })();
  const here = { localName: "iframe", isConnected: true, contentDocument: document, contentWindow: window,
    addEventListener: (_, go) => queueMicrotask(go) };
  await new BuiltMoment(tree).into(here);
}"""
"""JavaScript that replaces the document by a recorded page (`watch/moment.js`)."""

_SIDE = 4000
"""Most pixels of a side of a built page: a recording may contain any number."""

PATIENCE = 300.0
"""Seconds after which a trial is given up; a hostile selector may never end."""

_BRIEF = 1000
"""Milliseconds for an answer of the page, which runs no scripts."""


@dataclass
class _Candidate:
    """A selector on trial.

    Attributes:
        text: The selector.
        objection: The objection to it; `sure` is False if the step would stop there.
    """

    text: str
    objection: str = ""
    sure: bool = False

    def object(self, why: str, *, sure: bool) -> None:
        """Note an objection; a sure one outweighs others."""
        if not self.objection or (sure and not self.sure):
            self.objection, self.sure = why, sure


@dataclass
class _Tally:
    pages: set[int] = field(default_factory=set)
    variants: dict[str, None] = field(default_factory=dict)


def trials(heals: Iterable[tuple[Path, HealRecord]]) -> list[PatchTrial | None]:
    """Try the learned selectors of each heal; None for a heal with nothing to write.

    Args:
        heals: The heals, each with the folder of its recording.
    """
    asked: dict[str, tuple[Mapping[str, str], Sequence[StepPage]]] = {}
    marks: list[str | None] = []
    for folder, heal in heals:
        mark = None
        if _learns(heal):
            with suppress(UnchangeableSelector):
                offered = offers(heal)
                mark = repr((heal.key, offered))
                # The newest heal's recording has the older ones beside it.
                asked[mark] = offered, step_pages(folder, heal.key)
        marks.append(mark)
    found = dict(zip(asked, tried(list(asked.values())), strict=True))
    return [None if mark is None else found[mark] for mark in marks]


def untried(heals: Sequence[HealRecord]) -> list[PatchTrial | None]:
    """Return a trial that has not been made, for each heal with a selector to write."""
    found: list[PatchTrial | None] = []
    for heal in heals:
        trial = None
        if _learns(heal):
            with suppress(UnchangeableSelector):
                script = shlex.quote(heal.file)
                trial = PatchTrial(
                    offers(heal), f"not tried on recorded pages; that does `reenact heals --patch {script}`"
                )
        found.append(trial)
    return found


def _learns(heal: HealRecord) -> bool:
    return heal.verified and bool(heal.new) and heal.new != heal.old and not heal.action.startswith("page.")


def tried(asked: Sequence[tuple[Mapping[str, str], Sequence[StepPage]]]) -> list[PatchTrial]:
    """Try the selectors of several steps, each by kind, on their recorded pages."""
    if not any(offered and pages for offered, pages in asked):
        return [PatchTrial(offered, _UNTRIED) for offered, _ in asked]
    try:
        with ThreadPoolExecutor(1) as pool:  # the caller may have a running loop
            return pool.submit(lambda: asyncio.run(_all(asked))).result()
    except (ReenactError, Error, OSError) as error:
        why = " ".join(str(error).split())[:200] or "it took too long"
        return [PatchTrial(offered, f"not tried on recorded pages: {why}") for offered, _ in asked]


_UNTRIED = "not tried on recorded pages: none of this step is kept"


async def _all(asked: Sequence[tuple[Mapping[str, str], Sequence[StepPage]]]) -> list[PatchTrial]:
    with unrecorded():
        async with Session(headless=True, raise_on_failure=False) as session:

            async def make(live: LiveBrowser) -> list[PatchTrial]:
                await live.context.route("**/*", lambda route: route.abort())
                async with asyncio.timeout(PATIENCE):
                    return [await _trial(live.page, offered, pages) for offered, pages in asked]

            return await ChangedPage(session).inside(make)


async def _trial(page: Page, offered: Mapping[str, str], pages: Sequence[StepPage]) -> PatchTrial:
    """Try each offered selector, and a narrower one where it fails."""
    candidates = {
        kind: [_Candidate(one) for one in dict.fromkeys((text, exactly(text)))]
        for kind, text in offered.items()
    }
    every = [one for of_kind in candidates.values() for one in of_kind]
    tally = _Tally()
    for number, recorded in enumerate(pages):
        for words, kind in VARIANTS.items():
            if await _on_variant(page, recorded, kind, words, every):
                tally.pages.add(number)
                tally.variants[words] = None
    if not tally.pages:
        return PatchTrial(offered, _UNTRIED)
    fit = {kind: found.text for kind, of_kind in candidates.items() if (found := _best(of_kind)) is not None}
    refused = "" if fit else next((one.objection for one in every if one.objection), "")
    return PatchTrial(fit, _summary(pages, tally), refused)


def _best(candidates: Iterable[_Candidate]) -> _Candidate | None:
    """Return the first candidate without an objection, else the first that makes the step stop."""
    fit = sorted((one for one in candidates if not one.sure), key=lambda one: bool(one.objection))
    return fit[0] if fit else None


def _summary(pages: Sequence[StepPage], tally: _Tally) -> str:
    names = ", ".join(dict.fromkeys(pages[number].recording[:12] for number in sorted(tally.pages)))
    many = len(tally.pages)
    variants = [one for one in tally.variants if one]
    also = f", also {'; '.join(variants)}" if variants else ""
    return f"tried on {many} recorded page{'s' * (many != 1)} ({names}){also}: it finds its element or none"


async def _on_variant(
    page: Page, recorded: StepPage, kind: str, words: str, candidates: Sequence[_Candidate]
) -> bool:
    """Try the candidates on one variant of a page. Return False if it cannot be made."""
    await _build(page, recorded)
    element = await _element(page, recorded)
    if element is None:
        return False
    stage = MutablePage(page)
    try:
        if await stage.mutate(element, kind, 0, framed=True) is None:
            return False
        there = kind in {"none", "ahead", "longer"}
        for one in candidates:
            found, sure = await _found(page, stage, one.text, element if there else None)
            where = f"on the page of {recorded.recording[:12]}{' ' * bool(words)}{words}"
            if found:
                one.object(f"{where}, {one.text} finds {found}", sure=sure)
            elif found is None and not words and recorded.mended:
                one.object(f"{where}, {one.text} finds no element, or several", sure=True)
        return True
    finally:
        await stage.close()


async def _build(page: Page, recorded: StepPage) -> None:
    width, height = (min(max(int(side), 1), _SIDE) for side in recorded.tree["viewport"])
    await page.goto("about:blank")
    await page.set_viewport_size({"width": width, "height": height})
    await page.evaluate(_BUILD % _builder(), recorded.tree)


@cache
def _builder() -> str:
    text = files("reenact.browser.watch").joinpath("moment.js").read_text(encoding="utf-8")
    return re.sub(r"^export ", "", text, flags=re.MULTILINE)


async def _element(page: Page, recorded: StepPage) -> ElementHandle | None:
    """Return the step's element on a built page: the first of its selectors that finds one."""
    for text in recorded.element.values():
        try:
            locator = await selectors.resolve(page, text, 0)
            return await locator.element_handle(timeout=_BRIEF)
        except (AmbiguousElement, ElementNotFound, SelectorError, Error):
            continue
    return None


async def _found(
    page: Page, stage: MutablePage, text: str, meant: ElementHandle | None
) -> tuple[str | None, bool]:
    """Return another element that a selector finds, in words; "" for the step's own.

    It is None for no element and for several. The second value is False if the words of the selector contradict the
    element, so that the step would stop.
    """
    try:
        locator = await selectors.resolve(page, text, 0)
        element = await locator.element_handle(timeout=_BRIEF)
    except (AmbiguousElement, ElementNotFound, Error):
        return None, False
    except SelectorError:
        return "no element: it does not parse", True
    if meant is not None and await meant.evaluate("(el, other) => el.contains(other)", element):
        return "", False
    if await element.owner_frame() == stage.frame and await stage.is_meant(await element.evaluate(PATH)):
        return "", False
    return await _other(locator, text)


async def _other(locator: Locator, text: str) -> tuple[str, bool]:
    words, context = texts_of(text)
    known = KnownTarget((), None, words, context, codes_of(text))
    _, fingerprint, _, wording = await selectors.known(locator, timeout=_BRIEF, words=asked_of(known))
    identity = TargetIdentity.of(fingerprint)
    stops = known.worded and differences(known, identity, PageWording.of(wording) if wording else None)
    return str(identity), not stops


# -- narrower selectors ------------------------------------------------------------------------------------------

_CALL = re.compile(
    r"(get_by_(?:role|text|label|placeholder|title|alt_text)\()((?:[^()\"]|\"(?:[^\"\\]|\\.)*\")*)\)"
)
_LOOSE = re.compile(r"((?:^|>> )text=|^~)(?![\"'/])([^\"]+?)(?= >> |$)")
_HAS = re.compile(r":has-text\((\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')\)")


def exactly(text: str) -> str:
    """Return a selector whose texts must match whole names, not parts of them."""
    text = _LOOSE.sub(lambda one: f'{one[1].replace("~", "text=")}"{one[2]}"', text)
    text = _HAS.sub(r":has(:text-is(\1))", text)

    def whole(call: re.Match[str]) -> str:
        named = call[1] != "get_by_role(" or "name=" in call[2]
        return call[0] if "exact=" in call[2] or not named else f"{call[1]}{call[2]}, exact=True)"

    return _CALL.sub(whole, text)
