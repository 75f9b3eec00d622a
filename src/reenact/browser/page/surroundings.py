"""Compare the texts around two elements: a dialog's question, the headings, the section."""

from __future__ import annotations

import re

from reenact.browser.page.target import TargetDifference, TargetIdentity
from reenact.browser.page.wording import REPLIES, answers, grave, same_name, says

COUNT = re.compile(
    r"^\d+(?= [^\W\d])(?! (?:[A-Z]{3}|(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
    r"|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|(?:nov|dec)(?:ember)?))\b)"
)
"""The number of a count (`3 replies`), which may change, but not of an amount or a day."""
TIMELY = re.compile(
    r"\d ?(s|secs?|seconds?|min|mins|minutes?|h|hours?|days?)\b|\d{1,2}:\d{2}|\bago\b", re.IGNORECASE
)
_DATE = re.compile(
    r"\b(?:today|yesterday|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|\d{1,2}/\d{1,2}|\d{1,2}\.\d{1,2}\.|\d{1,2}\.? (?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*)\b",
    re.IGNORECASE,
)
AMOUNT = re.compile(
    r"\d[.,]\d{2}\b|[$€£¥%]|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{4}-\d{2}-\d{2}\b|^\d+ [^\W\d_]|^\W*[\d.,]+$"
)
"""An amount or a date: a value of a record, not its name."""


def question(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    """Compare the texts of two dialogs, for a button that answers them or is grave.

    The dialog decides what its `OK` means.
    """
    if not wanted.dialog and not wanted.record and answers(wanted.name, REPLIES):
        near = wanted.near[0] if wanted.near else ""
        said = (*found.near, *found.outline)
        if not near or not found.near or passing(near) or any(says(one, near) for one in said):
            return None
        return TargetDifference("question", near, found.near[0])
    if not (wanted.dialog and found.dialog and same_name(wanted.region, found.region)):
        return None
    if not (answers(wanted.name) or grave(wanted.name)):
        return None
    have = [COUNT.sub("#", one) for one in found.question]
    lost = [one for one in wanted.question if not passing(one) and COUNT.sub("#", one) not in have]
    if not lost or not found.question:
        return None
    more = [one for one in found.question if one not in wanted.question]
    return TargetDifference("question", lost[0], more[0] if more else "none")


def outline(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    """Compare the headings over two elements for a grave act: the page may be another record's.

    The key of its record identifies an element, unless it is as short as `web-01`: then the page's own heading counts.
    """
    if wanted.dialog or not grave(wanted.name) or not found.outline:
        return None
    binding = wanted.outline
    if wanted.record:
        binding = () if _KNOWN_ALONE.search(wanted.record) else binding[-1:]
    said = (*found.outline, *found.near)
    lost = [one for one in binding if not passing(one) and not any(same_name(one, other) for other in said)]
    return TargetDifference("heading", lost[0], found.outline[0]) if lost else None


def section(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    """Compare the parts of the page that two elements are in: *Shipping* is not *Billing*.

    A part with only one heading more or less is the same one. An element of a record is compared by its record, unless
    it is the record itself (an option).
    """
    mine, its = wanted.section, found.section
    placed = wanted.record and not same_name(wanted.record, wanted.name)
    if not mine or not its or placed or wanted.dialog or _changing(mine) or _changing(its):
        return None
    around = (found.region, found.heading, *found.outline, *found.near)
    before = (wanted.region, wanted.heading, *wanted.outline, *wanted.near)
    if any(same_name(mine, one) for one in (its, *around)) or any(same_name(its, one) for one in before):
        return None
    return TargetDifference("section", mine, its)


def _changing(text: str) -> bool:
    """Return True for a heading with a number or a time in it, which differs from run to run."""
    return any(letter.isdigit() for letter in text) or passing(text)


def passing(text: str) -> bool:
    """Return True for a text that differs from run to run: a time, a day, an amount."""
    return any(one.search(text) for one in (TIMELY, _DATE, AMOUNT))


_KNOWN_ALONE = re.compile(r"@|\d{3,}")
"""A record's key that means the same on any page: an address, a long number."""
