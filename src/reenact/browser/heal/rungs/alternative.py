"""Alternative: find the element by other selectors, or by its earlier fingerprints.

Without a good recording, only the words of the failed selector are known: the only element of that name is taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reenact.browser.actions import types as do
from reenact.browser.heal.candidates import chosen, taken
from reenact.browser.heal.evidence import identified, marks, other_name
from reenact.browser.heal.identity import Against, ElementChoice, choose, kind
from reenact.browser.heal.mend import FailedStep, Mend, MendOptions, PastStep, StepHistory
from reenact.browser.heal.renaming import leading, renamed, worded_otherwise
from reenact.browser.heal.unseen import scrolled
from reenact.browser.page.consequence import FILLING
from reenact.browser.page.differences import belongs, differences, exact
from reenact.browser.page.likeness import alike, sought
from reenact.browser.page.selector_values import unmet
from reenact.browser.page.selector_words import texts_of
from reenact.browser.page.selectors import SelectorError, parse
from reenact.browser.page.target import KnownTarget, TargetIdentity, written_parts
from reenact.browser.page.wording import extends, grave, same_name
from reenact.core.web_address import split_address

if TYPE_CHECKING:
    from reenact.browser.session.session import Session

LOOKS = 2
"""Most different past elements of the step that are searched for, the newest first."""

ABSENT = frozenset({"drifted", "missing", "hidden", "several", "kind", "detached", "late"})
"""Reasons that suggest that the selector does not find the intended element."""


class AlternativeRung:
    """Finds the element by its known properties, and does the step with it."""

    name = "alternative"

    async def mend(
        self, session: Session, failed: FailedStep, known: StepHistory, means: MendOptions
    ) -> Mend | None:
        """Do the step with the best matching element, if its consequence can be verified."""
        asked = failed.asked
        if failed.delivered or failed.reason not in ABSENT or not isinstance(asked, do.Aimed):
            return means.pass_on(self.name, f"another element does not help: {failed.reason or 'not asked'}")
        pasts = _different(known)
        if not pasts:
            if means.judge is None:
                return means.pass_on(self.name, "no good run is known, and nothing could verify the result")
            return await self._by_words(session, failed, asked, means)
        for past in pasts:
            choice, one = await self._sought(session, failed, known, means, past)
            if choice.place is None and await self._unseen(session, failed, known, means, past):
                choice, one = await self._sought(session, failed, known, means, past)
            if choice.place is None:
                means.pass_on(self.name, choice.why, said(one))
                continue
            if not _provable(failed, known, means, past, one):
                return means.pass_on(self.name, "nothing could verify the result", said(one))
            mend = await taken(session, failed, one, choice, self.name, writes=known.writes)
            if mend is None:
                means.pass_on(self.name, "it could not be acted on", said(one))
            return mend
        for way in (self._led, self._renamed, self._reworded):
            if (mend := await way(session, failed, known, pasts)) is not None:
                return mend
        return None

    async def _unseen(
        self, session: Session, failed: FailedStep, known: StepHistory, means: MendOptions, past: PastStep
    ) -> bool:
        """Return True if a list was scrolled to the record, which was not drawn before."""
        key = TargetIdentity.of(past.fingerprint or {}).record
        if not key or not known.scrolls or not await scrolled(session, failed, key):
            return False
        means.seen.clear()
        return True

    async def _led(
        self, session: Session, failed: FailedStep, known: StepHistory, pasts: Sequence[PastStep]
    ) -> Mend | None:
        """Follow the only link to the page to which the step led, if it is another page."""
        led = str((pasts[0].consequence or {}).get("navigated") or "")
        if failed.asked.type != "click" or not led or led == split_address(failed.result.url).path:
            return None
        wanted = pasts[0].fingerprint or {}
        against = objections(failed, wanted, known)

        def pick(found: Sequence[Mapping[str, Any]]) -> ElementChoice:
            choice = leading(wanted, found, led)
            if choice.place is not None and (why := against(found[choice.place]["fingerprint"])):
                return ElementChoice(None, 0.0, 0.0, why)
            return choice

        choice, one = await chosen(session, failed, wanted, pick, _healed(known))
        return None if choice.place is None else await taken(session, failed, one, choice, self.name)

    async def _renamed(
        self, session: Session, failed: FailedStep, known: StepHistory, pasts: Sequence[PastStep]
    ) -> Mend | None:
        """Press the renamed element in the old place, if its requests can be held."""
        if not known.writes or failed.asked.type != "click":
            return None
        wanted = pasts[0].fingerprint or {}
        choice, one = await chosen(session, failed, wanted, lambda found: renamed(wanted, found))
        if choice.place is None:
            return None
        return await taken(session, failed, one, choice, self.name, writes=known.writes, whole=True)

    async def _reworded(
        self, session: Session, failed: FailedStep, known: StepHistory, pasts: Sequence[PastStep]
    ) -> Mend | None:
        """Write into the only field of the form, if its name is only reworded."""
        asked = failed.asked
        assert isinstance(asked, do.Aimed)
        bound = asked.expect_target is not None or texts_of(asked.selector)[1]
        if asked.type not in FILLING or bound or not known.verifiable:
            return None
        wanted, action = pasts[0].fingerprint or {}, asked.type
        if not wanted.get("only") or consequential(action, wanted, {}, known):
            return None
        choice, one = await chosen(
            session, failed, wanted, lambda found: worded_otherwise(wanted, found, action)
        )
        return None if choice.place is None else await taken(session, failed, one, choice, self.name)

    async def sees(
        self, session: Session, failed: FailedStep, known: StepHistory, means: MendOptions
    ) -> bool:
        """Return True if the element is certainly there, so that waiting is needless."""
        for past in _different(known):
            choice, one = await self._sought(session, failed, known, means, past)
            if choice.place is not None and _provable(failed, known, means, past, one):
                return True
        return False

    async def _sought(
        self, session: Session, failed: FailedStep, known: StepHistory, means: MendOptions, past: PastStep
    ) -> tuple[ElementChoice, dict[str, Any]]:
        """Search for the element; reuse the last result if no action was done since."""
        done, which = session.offset(), known.pasts.index(past)
        seen = means.seen.get(which)
        if seen is not None and seen[0] == done:
            found: tuple[ElementChoice, dict[str, Any]] = seen[1]
            return found
        wanted = past.fingerprint or {}
        against = objections(failed, wanted, known)

        def pick(found: Sequence[Mapping[str, Any]]) -> ElementChoice:
            return choose(wanted, found, failed.asked.type, twin=_twin(past), against=against)

        found = await chosen(session, failed, wanted, pick, _healed(known))
        means.seen[which] = done, found
        return found

    async def _by_words(
        self, session: Session, failed: FailedStep, asked: do.Aimed, means: MendOptions
    ) -> Mend | None:
        words = words_of(asked)
        if not words:
            return means.pass_on(self.name, "no good run is known, and the selector has no words")
        against = objections(failed, {}, StepHistory())
        choice, one = await chosen(
            session, failed, words, lambda found: _called(words, found, asked.type, against)
        )
        if choice.place is None:
            return means.pass_on(self.name, choice.why, said(one))
        return await taken(session, failed, one, choice, self.name)


def _provable(
    failed: FailedStep, known: StepHistory, means: MendOptions, past: PastStep, one: Mapping[str, Any]
) -> bool:
    """Return True if a consequence, an expectation or the identity can verify the result."""
    if known.verifiable or means.judge is not None:
        return True
    return identified(past.fingerprint or {}, one["fingerprint"], failed.asked.type)


def said(one: Mapping[str, Any]) -> str:
    """Describe a candidate in words; empty for none."""
    candidate = one.get("fingerprint")
    return str(TargetIdentity.of(candidate)) if candidate else ""


def objections(
    failed: FailedStep, wanted: Mapping[str, Any], known: StepHistory, *, any_name: bool = False
) -> Against:
    """Return the objections to a candidate.

    For a grave act, any difference is an objection; for any act, another name is one unless a mark has the wanted name.

    Args:
        failed: The step. Each candidate must have the texts of its selector, except the element's own name.
        wanted: The fingerprint of the element in a good run; empty for none.
        known: The history of the step.
        any_name: True if a model vouches for the new name of an element to press.
    """
    asked = failed.asked
    assert isinstance(asked, do.Aimed)
    words, context = texts_of(asked.selector)
    written = None if asked.expect_target is None else written_parts(asked.expect_target)
    identity = TargetIdentity.of(wanted)

    def against(candidate: Mapping[str, Any]) -> str:
        found = TargetIdentity.of(candidate)
        if missing := next((one for one in context if not belongs(found, candidate, one)), ""):
            return f'the selector says "{missing}", and it does not belong to that'
        if written and (differs := differences(KnownTarget(written=written), found)):
            return (
                f"its {differs[0].part} is {differs[0].found!r}, and expect_target says {differs[0].meant!r}"
            )
        if words and not wanted and not same_name(words, found.name) and extends(words, found.name):
            return f"its name {found.name!r} is a longer one"
        if not wanted:
            return unmet(asked.selector, candidate)
        # A link to the same place may have another text; an id may belong to another element by now.
        whole = wanted.get("leads", candidate.get("leads")) == candidate.get("leads")
        leads = found.role == "link" and whole and "href" in marks(wanted, candidate)
        pressed = asked.type not in _WRITING
        renamed = leads or (any_name and pressed)
        if not renamed and (other := other_name(wanted, candidate, vouched=any_name, pressed=pressed)):
            return other
        return exact(identity, found) if consequential(asked.type, wanted, candidate, known) else ""

    return against


def consequential(
    action: str, wanted: Mapping[str, Any], candidate: Mapping[str, Any], known: StepHistory
) -> bool:
    """Return True if an act on the wrong element could not be undone.

    A field can be written again, unless the page sends its content at once.
    """
    sends = any(
        not one.startswith("GET ") for past in known.consequences for one in past.get("requests") or ()
    )
    if sends or action == "drop":
        return True
    if action in _WRITING or action == "drag":
        return False
    grave_words = grave(str(wanted.get("name") or "")) or grave(str(candidate.get("name") or ""))
    in_record = bool((wanted.get("record") or {}).get("key")) and wanted.get("role") == "button"
    unnamed = not wanted.get("name") and not wanted.get("caption")
    submits = bool(wanted.get("submits") or candidate.get("submits"))
    return bool(grave_words or in_record or unnamed or submits)


_WRITING = frozenset({"fill", "fallback_fill", "select_dropdown_option", "upload_file"})


def words_of(asked: do.Aimed) -> dict[str, Any]:
    """Return the words with which the failed selector describes its element."""
    try:
        return {} if asked.selector is None else sought(parse(asked.selector))
    except SelectorError:
        return {}


def _called(
    words: Mapping[str, Any], found: Sequence[Mapping[str, Any]], action: str, against: Against
) -> ElementChoice:
    """Choose the only element with exactly the name in the selector."""
    given = [words.get(name) for name in ("shown", "name", "label", "placeholder", "words")]
    texts = [str(one) for one in given if one]
    same = [
        place
        for place, one in enumerate(found)
        if kind(words, one["fingerprint"], action) and any(_is(text, one["fingerprint"]) for text in texts)
    ]
    objected = [against(found[place]["fingerprint"]) for place in same]
    if len(same) == 1 and objected[0]:
        return ElementChoice(None, 0.0, 0.0, objected[0])
    same = [place for place, why in zip(same, objected, strict=True) if not why]
    if len(same) != 1:
        return ElementChoice(None, 0.0, 0.0, f"{len(same) or 'no'} elements are called so")
    return ElementChoice(same[0], float(found[same[0]]["score"]), 1.0, "the only one that is called so")


def _is(text: str, candidate: Mapping[str, Any]) -> bool:
    attributes = candidate.get("attributes") or {}
    names = [candidate.get(name) for name in ("name", "text", "label")]
    names += [
        attributes.get(name)
        for name in ("id", "name", "data-testid", "data-test", "placeholder", "aria-label")
    ]
    return any(alike(text, str(one)) == 1.0 for one in names if one)


def _different(known: StepHistory) -> list[PastStep]:
    """Return the past elements of the step, each once, newest first, at most `LOOKS`."""
    found: dict[tuple[Any, ...], PastStep] = {}
    for past in known.pasts:
        candidate = past.fingerprint
        if candidate:
            found.setdefault(
                (candidate.get("role"), candidate.get("name"), str(candidate.get("attributes"))), past
            )
    return list(found.values())[:LOOKS]


_ALONE = re.compile(
    r"get_by_(role|text|label|placeholder|title|alt_text)\(\"(?:[^\"\\]|\\.)*\"(, \w+=(\"(?:[^\"\\]|\\.)*\"|True))*\)"
)
"""A Playwright locator by words alone, without a position among several."""


def _twin(past: PastStep) -> bool:
    """Return True if the element had others of its name beside it.

    It had if it was identified neither by role and name nor by its text.
    """
    candidate = past.fingerprint or {}
    alone = {"role", "text"} & past.selectors.keys() or _ALONE.fullmatch(past.selectors.get("playwright", ""))
    return bool(candidate.get("name")) and not alone


def _healed(known: StepHistory) -> list[dict[str, str]]:
    """Return selectors that have found the element, those of verified mends first."""
    return [dict(one.get("new") or {}) for one in known.heals] + [one.selectors for one in known.pasts]


class RememberedRung(AlternativeRung):
    """Mends with a selector that an earlier run verified; tried before any wait."""

    name = "remembered"

    async def mend(
        self, session: Session, failed: FailedStep, known: StepHistory, means: MendOptions
    ) -> Mend | None:
        """Mend as `AlternativeRung` does, if an earlier run verified another element for the step."""
        if not any(one.get("rung") in {"alternative", "ask", "remembered"} for one in known.heals):
            return means.pass_on(self.name, "no earlier run verified another element")
        return await super().mend(session, failed, known, means)
