"""Alternative: find the element by other selectors, or by its earlier fingerprints.

Without a good recording only the failing selector's own words are known: then the one element with that name is
taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reenact.browser.actions import types as do
from reenact.browser.heal.candidates import chosen, taken
from reenact.browser.heal.identity import ElementChoice, choose, kind
from reenact.browser.heal.mend import FailedStep, Mend, MendOptions, PastStep, StepHistory
from reenact.browser.page.likeness import alike, sought
from reenact.browser.page.selectors import SelectorError, parse

if TYPE_CHECKING:
    from reenact.browser.session.session import Session

LOOKS = 2
"""Number of different past elements of the step that are sought, the newest first."""

ABSENT = frozenset({"missing", "hidden", "several", "kind", "detached", "late"})
"""Reasons that suggest that the selector does not name the meant element."""


class AlternativeRung:
    """Finds the element by its known properties, and does the step with it."""

    name = "alternative"

    async def mend(
        self, session: Session, failed: FailedStep, known: StepHistory, means: MendOptions
    ) -> Mend | None:
        """Do the step with the best matching element, if its consequence can be verified."""
        asked = failed.asked
        if failed.delivered or failed.reason not in ABSENT or not isinstance(asked, do.Aimed):
            return None
        if not known.consequences and means.judge is None:
            return None  # nothing could verify the result
        pasts = _different(known)
        if not pasts:
            return await self._by_words(session, failed, asked)
        for past in pasts:
            choice, one = await self._sought(session, failed, known, means, past)
            if choice.place is not None:
                return await taken(session, failed, one, choice, self.name)
        return None

    async def sees(
        self, session: Session, failed: FailedStep, known: StepHistory, means: MendOptions
    ) -> bool:
        """Return True if the element is there for certain, so that waiting is needless."""
        if not known.consequences and means.judge is None:
            return False
        for past in _different(known):
            if (await self._sought(session, failed, known, means, past))[0].place is not None:
                return True
        return False

    async def _sought(
        self, session: Session, failed: FailedStep, known: StepHistory, means: MendOptions, past: PastStep
    ) -> tuple[ElementChoice, dict[str, Any]]:
        """Look for the element; reuse the last result if no action was done since."""
        done, which = session.offset(), known.pasts.index(past)
        seen = means.seen.get(which)
        if seen is not None and seen[0] == done:
            found: tuple[ElementChoice, dict[str, Any]] = seen[1]
            return found
        wanted = past.fingerprint or {}

        def pick(found: Sequence[Mapping[str, Any]]) -> ElementChoice:
            return choose(wanted, found, failed.asked.type, twin=_twin(past))

        found = await chosen(session, failed, wanted, pick, _healed(known))
        means.seen[which] = done, found
        return found

    async def _by_words(self, session: Session, failed: FailedStep, asked: do.Aimed) -> Mend | None:
        words = words_of(asked)
        if not words:
            return None
        choice, one = await chosen(session, failed, words, lambda found: _called(words, found, asked.type))
        return None if choice.place is None else await taken(session, failed, one, choice, self.name)


def words_of(asked: do.Aimed) -> dict[str, Any]:
    """Return the words with which the failed selector describes its element."""
    try:
        return {} if asked.selector is None else sought(parse(asked.selector))
    except SelectorError:
        return {}


def _called(words: Mapping[str, Any], found: Sequence[Mapping[str, Any]], action: str) -> ElementChoice:
    """Choose the one element with exactly the name that the selector gives."""
    said = [words.get(name) for name in ("shown", "name", "label", "placeholder", "words")]
    texts = [str(one) for one in said if one]
    same = [
        place
        for place, one in enumerate(found)
        if kind(words, one["fingerprint"], action) and any(_is(text, one["fingerprint"]) for text in texts)
    ]
    if len(same) != 1:
        return ElementChoice(None, 0.0, 0.0, f"{len(same) or 'no'} elements are called so")
    return ElementChoice(same[0], float(found[same[0]]["score"]), 1.0, "the only one that is called so")


def _is(text: str, told: Mapping[str, Any]) -> bool:
    attributes = told.get("attributes") or {}
    names = [told.get(name) for name in ("name", "text", "label")]
    names += [
        attributes.get(name)
        for name in ("id", "name", "data-testid", "data-test", "placeholder", "aria-label")
    ]
    return any(alike(text, str(one)) == 1.0 for one in names if one)


def _different(known: StepHistory) -> list[PastStep]:
    """Return the past elements of the step, each once, newest first, at most `LOOKS`."""
    found: dict[tuple[Any, ...], PastStep] = {}
    for past in known.pasts:
        told = past.fingerprint
        if told:
            found.setdefault((told.get("role"), told.get("name"), str(told.get("attributes"))), past)
    return list(found.values())[:LOOKS]


_ALONE = re.compile(
    r"get_by_(role|text|label|placeholder|title|alt_text)\(\"(?:[^\"\\]|\\.)*\"(, \w+=(\"(?:[^\"\\]|\\.)*\"|True))*\)"
)
"""A Playwright locator by words alone, without a position among several."""


def _twin(past: PastStep) -> bool:
    """Return True if the element had others of its name beside it.

    It had if neither its role and name nor its text identified it.
    """
    told = past.fingerprint or {}
    alone = {"role", "text"} & past.selectors.keys() or _ALONE.fullmatch(past.selectors.get("playwright", ""))
    return bool(told.get("name")) and not alone


def _healed(known: StepHistory) -> list[dict[str, str]]:
    """Return selectors known to find the element, those of verified mends first."""
    return [dict(one.get("new") or {}) for one in known.heals] + [one.selectors for one in known.pasts]


class RememberedRung(AlternativeRung):
    """Mends with a selector that an earlier run verified; tried before any wait."""

    name = "remembered"

    async def mend(
        self, session: Session, failed: FailedStep, known: StepHistory, means: MendOptions
    ) -> Mend | None:
        """Mend as `AlternativeRung` does, if an earlier run verified another element for the step."""
        if not any(one.get("rung") in {"alternative", "ask", "remembered"} for one in known.heals):
            return None
        return await super().mend(session, failed, known, means)
