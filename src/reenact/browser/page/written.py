"""Compare an element with the words of the script, which it must have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reenact.browser.page.code_words import SCOPES, contrary, contrary_role, slug_of, words_of_code
from reenact.browser.page.name_additions import added, bare, names_record
from reenact.browser.page.target import KnownTarget, TargetDifference, TargetIdentity
from reenact.browser.page.wording import (
    GRAVE,
    OTHER,
    grave,
    graver,
    key_tokens,
    says,
    says_key,
    spoken,
    tokens,
)

_PIECES = 24
"""Most pieces of a written record."""
NAMED_KEY = re.compile(r"@|^#\d+$|[^\W\d].*?\d+$|^\d{3,}$")
"""A key that names a record by a sign or a number, and may be only a part of a text."""


def from_written(written: Mapping[str, str], found: TargetIdentity) -> list[TargetDifference]:
    """Compare with the parts that the script states (`expect_target=`)."""
    parts = []
    for part, value in written.items():
        has = str(getattr(found, part) or "")
        if part == "record":
            fits = _written_record(value, (found.record or "", *found.texts))
        elif part == "region":
            fits = any(tokens(one) == tokens(value) for one in (has, found.group))
        elif part == "role":
            fits = value == has
        else:
            fits = tokens(value) == tokens(has)
        if not fits:
            parts.append(TargetDifference(part, value, has or "none"))
    return parts


def _written_record(value: str, texts: Sequence[str]) -> bool:
    """Return True if a record has the written text, or several: `Lamp, 40 EUR`.

    `Bill 18` may be a part of a text; `Kettle` is not `Kettle Pro`.
    """
    pieces = re.split(r",\s+", value)[:_PIECES]
    at = 0
    while at < len(pieces):
        # A text may contain a comma, so the longest one that exists counts.
        ends = range(len(pieces), at, -1)
        end = next((one for one in ends if _is_text(", ".join(pieces[at:one]), texts)), None)
        if end is None:
            return False
        at = end
    return True


def _is_text(value: str, texts: Sequence[str]) -> bool:
    part_of = bool(NAMED_KEY.search(value))
    its = key_tokens(value)
    return any((bool(its) and key_tokens(one) == its) or (part_of and says_key(one, value)) for one in texts)


@dataclass(frozen=True, slots=True)
class PageWording:
    """The texts of a page with which a selector's words are compared (`wording` in `eyes.js`).

    Attributes:
        names: The element's label, title, alternative text, placeholder; the value of a button.
        lines: Its visible lines: for each the name, and the texts set beside it.
        field: True for a field.
        within: If it shows several texts, those with the selector's words and those of records beside it.
        around: For each text of the selector's context, the same for the nearest box that contains it.
        rivals: Names of other elements of its role that contain the words of the selector's code.
    """

    names: tuple[str, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()
    field: bool = False
    within: tuple[tuple[str, ...], str] | None = None
    around: tuple[tuple[tuple[str, ...], str] | None, ...] = ()
    rivals: tuple[str, ...] = ()

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> PageWording:
        """Return the wording from the page's answer."""

        def box(one: Mapping[str, Any] | None) -> tuple[tuple[str, ...], str] | None:
            return None if one is None else (tuple(one["texts"]), str(one["beside"]))

        lines = tuple((str(name), str(aside)) for name, aside in answer["lines"])
        around = tuple(map(box, answer["around"]))
        return cls(
            tuple(answer["names"]),
            lines,
            bool(answer["field"]),
            box(answer["within"]),
            around,
            tuple(answer["rivals"]),
        )

    @property
    def shown(self) -> str:
        """The name that people read: the visible text, else the label."""
        text = " ".join(name for name, _ in self.lines if name)
        if any(map(str.isalpha, text)):
            return text
        return next(iter(self.names), "")


def asked_of(known: KnownTarget) -> dict[str, Any]:
    """Return the words of a selector in the form for `eyes.wording`."""
    slugs = [one for one in dict.fromkeys(map(slug_of, known.codes)) if one]
    return {"words": known.words, "context": list(known.context), "slugs": slugs}


def from_code_roles(known: KnownTarget, page: PageWording, role: str) -> list[TargetDifference]:
    """Compare a role with the last word of an id or a class of the selector: `email-input`."""
    code = "" if page.field and role == "button" else next(filter(None, known.codes), "")
    return [TargetDifference("role", code, role, sure=False)] if contrary_role(code, role) else []


def names(known: KnownTarget, page: PageWording, *, exactly: bool) -> bool:
    """Return True if the words of a selector name an element, `exactly` or with ornaments."""
    if from_selector(known, page):
        return False
    if not exactly or not known.words:
        return True
    whole = [*page.names, " ".join(name for name, _ in page.lines), *(page.within[0] if page.within else ())]
    return any(" ".join(one.split()).lower() == " ".join(known.words.split()).lower() for one in whole)


def from_selector(known: KnownTarget, page: PageWording) -> list[TargetDifference]:
    """Compare with the words of the script's selector."""
    found = _own(known.words, page) or _context(known, page)
    if found is None:
        # An element may have the words in its label, but show others.
        label = [known.words] if known.words and not says(page.shown, known.words) else []
        if label and (more := _graver(known.words, page.shown)):
            return [TargetDifference("grave word", known.words, more)]
        codes = [*known.codes, *label]
        found = next((one for code in codes if (one := _code(code, page)) is not None), None)
    return [] if found is None else [found]


def _graver(label: str, shown: str) -> str:
    """Return the grave word that an element shows although its label has none.

    A single word in lower case may be the name of an icon.
    """
    return "" if re.fullmatch(r"[a-z_]+", shown) else graver(shown, label)


def _own(words: str, page: PageWording) -> TargetDifference | None:
    """Compare with the words that name the element: a longer name is another element's."""
    if not words:
        return None
    if page.within is not None:
        texts, beside = page.within
        called = any(added(words, one) == () for one in page.names)
        if called or not texts or any(names_record(words, one, beside) for one in texts):
            return None
        return TargetDifference("name", words, texts[0], _sure(words, texts[0]))
    shown = [name for name, _ in page.lines if name]
    text = " ".join(shown)
    whole = " ".join(filter(None, (part for line in page.lines for part in line)))
    tried = [(one, added(words, one)) for one in dict.fromkeys((text, whole, *page.names)) if one]
    if any(extra == () for _, extra in tried):
        aside = set(spoken(bare(" ".join(aside for _, aside in page.lines), words)))
        if scope := (aside - set(spoken(words))) & (SCOPES | GRAVE):
            return TargetDifference("name", words, whole, True) if text and scope else None
        return None
    longer = min(((one, extra) for one, extra in tried if extra), key=lambda one: len(one[1]), default=None)
    return None if longer is None else TargetDifference("name", words, longer[0], _sure(words, longer[0]))


def _sure(words: str, name: str) -> bool:
    """Return True if a grave word or a scope is added, or the words are only parts of others."""
    extra = set(spoken(name)) - set(spoken(words))
    return bool(extra & (GRAVE | OTHER | SCOPES) or grave(words) or not says(name, words))


def _context(known: KnownTarget, page: PageWording) -> TargetDifference | None:
    """Compare with the selector's other texts: `Invoice 18` is a part of `Invoice 180`, too."""
    for text, box in zip(known.context, page.around, strict=False):
        if box is None or not box[0] or any(names_record(text, one, box[1]) for one in box[0]):
            continue
        said = box[0][0]
        return TargetDifference("record", text, said, not says_key(said, text) or bool(grave(known.words)))
    return None


def _code(code: str, page: PageWording) -> TargetDifference | None:
    """Compare with words in an id, a value or an address."""
    name = page.shown
    if page.rivals and slug_of(code) in {"".join(words_of_code(one)) for one in page.rivals}:
        return TargetDifference("name", code, name, True)
    found = contrary(code, name, field=page.field)
    if found is None:
        return None
    return TargetDifference("name", code, name, found[1] or bool(grave(name) or grave(code)))
