"""Compare an element with the words of the script: what it says is binding."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reenact.browser.page.target import TargetDifference, TargetIdentity
from reenact.browser.page.wording import GRAVE, OTHER, grave, key_tokens, same_name, says, says_key, tokens

_PIECES = 24
"""The most texts of a record."""
NAMED_KEY = re.compile(r"@|^#\d+$|[^\W\d].*?\d+$|^\d{3,}$")
"""A key that names one record by a sign or a number, and which may be a part of a text."""


def from_written(written: Mapping[str, str], found: TargetIdentity) -> list[TargetDifference]:
    """Compare with the parts that are written by hand (`expect_target=`)."""
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
        # A text may have a comma itself: the longest one that is there counts.
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


def from_words(words: str, found: TargetIdentity, told: Mapping[str, Any]) -> list[TargetDifference]:
    """Compare with the selector's own text: a longer name with grave words is another one."""
    names = [found.name, *(str(told.get(one) or "") for one in ("text", "label"))]
    if not words or any(same_name(words, one) for one in names if one):
        return []
    longer = next((one for one in names if says(one, words)), "")
    extra = set(tokens(longer)) - set(tokens(words))
    if not longer or not (extra & (GRAVE | OTHER) or (extra and grave(words))):
        return []
    return [TargetDifference("name", words, longer)]


def from_context(context: Sequence[str], found: TargetIdentity) -> list[TargetDifference]:
    """Compare with the selector's other texts: `Invoice 18` is a part of `Invoice 180`, too."""
    around = (found.record or "", *found.texts, *found.near)
    for text in context:
        longer = next((one for one in around if text in one), "")
        if longer and re.search(r"\d", text) and not any(says_key(one, text) for one in around):
            return [TargetDifference("record", text, longer)]
    return []
