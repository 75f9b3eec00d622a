"""Compare identities of elements part by part, before anything happens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from reenact.browser.page.name_additions import names_alone
from reenact.browser.page.surroundings import AMOUNT, COUNT, TIMELY, outline, passing, question, section
from reenact.browser.page.target import FIELDS, KnownTarget, TargetDifference, TargetIdentity
from reenact.browser.page.wording import (
    coded,
    grave,
    graver,
    same_key,
    same_name,
    says,
    says_key,
    spoken,
    tokens,
)
from reenact.browser.page.written import NAMED_KEY, PageWording, from_code_roles, from_selector, from_written

_PRESSED = frozenset({
    "button", "link", "menuitem", "tab", "option", "summary", "generic", "treeitem", "img", "listitem", "cell", "row",
    "text", "paragraph", "heading", "presentation", "none", "gridcell",
})  # fmt: skip
_TICKED = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})

_DAY = re.compile(
    r"\b(?:today|yesterday|tomorrow|(?:this|last|next) (?:week|month|year)|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|\d{1,2}[. /-]|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
"""A group named after a day, which a record leaves with time."""
_PRICE = re.compile(r"\W*(?:[A-Z]{3} ?)?[\d.,]+ ?(?:[^\W\d]{1,3}|[^\w\s])?")
"""A number with its currency or unit."""
_LETTERS = re.compile(r"[^\W\d_]{2}")


def differences(
    known: KnownTarget, found: TargetIdentity, wording: PageWording | None = None
) -> list[TargetDifference]:
    """Return the parts in which a found element differs from the known one.

    Args:
        known: The known target.
        found: The found element's identity.
        wording: The page's texts for it, if only the words of a selector are known.
    """
    if known.written is not None:
        return from_written(known.written, found)
    if known.pasts:
        return _all_against(known.pasts, found)
    if wording is None:
        return []
    return from_selector(known, wording) or from_code_roles(known, wording, found.role)


def rivals(known: KnownTarget, mine: TargetIdentity, other: TargetIdentity) -> bool:
    """Return True if another element also is what the script states.

    Elements in other columns of the row, and of other roles and names, are no rivals.
    """
    if (mine.frames, mine.path) == (other.frames, other.path) or mine.role != other.role:
        return False
    same = same_name(mine.name, other.name) if mine.name else mine.icon == other.icon and not other.name
    columns = mine.twin and not same_name(mine.column, other.column)
    return same and not columns and not differences(known, other)


def exact(wanted: TargetIdentity, found: TargetIdentity) -> str:
    """Return the reason that a candidate is not exactly the wanted element, or ""."""
    found_differences = _between(wanted, found, bound=_BOUND)
    if found_differences:
        one = found_differences[0]
        return f"its {one.part} is {one.found!r}, not {one.meant!r}"
    same = set(wanted.marks) & set(found.marks) or (wanted.path == found.path and wanted.near == found.near)
    if not wanted.name and not wanted.icon and not same:
        return "it has no name and no picture that identify it"
    return ""


def belongs(found: TargetIdentity, fingerprint: Mapping[str, Any], text: str) -> bool:
    """Return True if the record, name, region or a neighbour of an element contains a text."""
    around = (found.record or "", " ".join(found.texts), *found.texts, found.name, found.region, *found.near)
    return any(
        says_key(one, text)
        for one in (*around, str(fingerprint.get("text") or ""), str(fingerprint.get("heading") or ""))
    )


def beside(near: Sequence[str], name: str, other: str) -> bool:
    """Return True if a synonym of a name was a text beside it: `Delete` beside `Remove`."""
    its = tokens(other)
    return its != tokens(name) and any(tokens(one) == its for one in near)


def contradiction(wanted: TargetIdentity, found: TargetIdentity) -> str:
    """Return the reason that an element has another record, dialog or frame, or ""."""
    parts = [
        check(wanted, found)
        for check in (_frame, _dialog, question, _record, _group, outline, section, _column)
    ]
    one = next((part for part in parts if part is not None), None)
    return "" if one is None else f"its {one.part} is {one.found!r}, not {one.meant!r}"


_BOUND = frozenset({"name", "record", "question", "outline", "section"})


def _all_against(pasts: Sequence[TargetIdentity], found: TargetIdentity) -> list[TargetDifference]:
    """Compare with all good runs; a part that differs among them does not count."""
    first = pasts[0]
    alike = {
        "name": all(same_name(first.name, one.name) for one in pasts[1:]),
        "record": all(first.record == one.record for one in pasts[1:]),
        "question": not any(question(first, one) for one in pasts[1:]),
        "outline": not any(outline(first, one) for one in pasts[1:]),
        "section": not any(section(first, one) for one in pasts[1:]),
    }
    bound = {part for part, same in alike.items() if same}
    best = _between(first, found, bound=frozenset(bound))
    for one in pasts[1:]:
        best = best and min(best, _between(one, found, bound=frozenset(bound)), key=len)
    if not best and "name" not in bound:
        known = set().union(*(grave(one.name) for one in pasts))
        if more := grave(found.name) - known:
            return [TargetDifference("grave word", ", ".join(sorted(known)) or "none", min(more))]
    return best


def _between(
    wanted: TargetIdentity, found: TargetIdentity, *, bound: frozenset[str]
) -> list[TargetDifference]:
    parts = [_role(wanted, found), _choice(wanted, found), _frame(wanted, found), _dialog(wanted, found)]
    if "record" in bound:
        parts.append(_column(wanted, found))
    if "name" in bound:
        parts.append(_name(wanted, found))
    if "record" in bound:
        parts += [_record(wanted, found), _group(wanted, found)]
    if "question" in bound:
        parts.append(question(wanted, found))
    if "outline" in bound:
        parts.append(outline(wanted, found))
    if "section" in bound:
        parts.append(section(wanted, found))
    return [one for one in parts if one is not None]


def _role(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    if not wanted.role or not found.role or wanted.role == found.role:
        return None
    if any({wanted.role, found.role} <= group for group in (_PRESSED, FIELDS, _TICKED)):
        return None
    return TargetDifference("role", wanted.role, found.role)


def _choice(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    """Compare the values of two boxes of one group, if neither has a name."""
    (group, value), (its, other) = wanted.choice, found.choice
    if wanted.name or found.name or not (group and value and other) or group != its or value == other:
        return None
    return TargetDifference("choice", value, other)


def _frame(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    if len(wanted.frames) == len(found.frames):
        # Frames can swap their contents, so the region over an element identifies its frame.
        identified = wanted.frames and wanted.region and found.region and not _DAY.search(wanted.region)
        if not identified or same_name(wanted.region, found.region):
            return None
        return TargetDifference("frame", wanted.region, found.region)
    return TargetDifference("frame", " > ".join(wanted.frames) or "none", " > ".join(found.frames) or "none")


def _dialog(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    if not wanted.dialog and not found.dialog:
        return None
    if wanted.dialog == found.dialog and (same_name(wanted.region, found.region) or _unnamed(wanted, found)):
        return None
    if wanted.record is None:
        return None  # recordings of older versions have no regions
    return TargetDifference(
        "dialog", wanted.region if wanted.dialog else "none", found.region if found.dialog else "none"
    )


def _unnamed(wanted: TargetIdentity, found: TargetIdentity) -> bool:
    """Return True for two dialogs of the same texts that have no other name."""
    called = (says(one.region, text) for one in (wanted, found) for text in one.question)
    return bool(wanted.question) and wanted.question == found.question and all(called)


def _column(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    if not wanted.twin or same_name(wanted.column, found.column):
        return None
    return TargetDifference("column", wanted.column, found.column or "none")


def _name(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    if wanted.name:
        cut = bool(wanted.long and found.long) and wanted.long != found.long
        if (
            same_name(wanted.name, found.name)
            and not cut
            and not beside(wanted.near, wanted.name, found.name)
        ):
            return _besides_name(wanted, found)
        return TargetDifference("name", wanted.name, found.name or found.icon or "none")
    if wanted.icon:
        if wanted.icon == found.icon:
            return None
        return TargetDifference("picture", wanted.icon, found.name or found.icon or "none")
    if _whole(wanted, found) or (set(wanted.marks) & set(found.marks) and not grave(found.name)):
        return None
    if not found.name and (wanted.path == found.path or set(wanted.near) & set(found.near)):
        return None
    if wanted.record is None and not grave(found.name):
        return None  # recordings of older versions have fewer facts
    return TargetDifference("name", "none", found.name or found.icon or "none, at another place")


def _besides_name(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    """Compare visible texts of one name: a grave word under a label, the title of a sign."""
    titles = wanted.title, found.title
    if all(titles) and not _LETTERS.search(found.name) and not same_name(*titles):
        return TargetDifference("title", *titles)
    labelled = found.role in _LABELLED and not same_name(found.name, found.text)
    more = graver(found.text, f"{wanted.name} {wanted.text}") if labelled else ""
    return TargetDifference("grave word", wanted.text or "none", more) if more else None


_LABELLED = frozenset({"button", "link", "menuitem", "tab", "switch"})
"""Roles of elements that show one text, and contain no other controls."""


def _record(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    if wanted.record is None or (not wanted.texts and not wanted.record):
        return _without_record(wanted, found)
    if _whole(wanted, found):
        return None
    if not wanted.record:
        # Nothing distinguished it from the records beside it, so only a record without its texts is another one.
        have = {" ".join(tokens(one)) for one in found.texts}
        if not found.texts or any(" ".join(tokens(one)) in have for one in wanted.texts):
            return None
        return TargetDifference("record", " ".join(wanted.texts[:3]), " ".join(found.texts[:3]))
    texts = found.texts or (*found.near, found.name, found.region, found.heading)
    if _equal_beside(wanted, found):
        return TargetDifference("record", " ".join(wanted.texts[:4]), " ".join(found.texts[:4]) or "none")
    if (
        not wanted.joint
        and not any(_same_text(one, wanted.record) for one in texts)
        and not (not found.texts and any(names_alone(wanted.record, one) for one in texts))
    ):
        return TargetDifference("record", wanted.record, found.record or " ".join(found.texts[:3]) or "none")
    weak = _lacks_name(wanted, found) or _lacks_number(wanted, found)
    if found.texts and (weak or (not NAMED_KEY.search(wanted.record) and _all_others_differ(wanted, found))):
        return TargetDifference("record", " ".join(wanted.texts[:4]), " ".join(found.texts[:4]))
    return None


def _whole(wanted: TargetIdentity, found: TargetIdentity) -> bool:
    """Return True if a record has become one control, whose name is all texts of the record."""
    if wanted.name or len(wanted.texts) < 2 or found.texts or found.long:
        return False
    return spoken(found.name) == spoken(" ".join(wanted.texts))


def _equal_beside(wanted: TargetIdentity, found: TargetIdentity) -> bool:
    """Return True if the key is not unique, and the other texts differ.

    A record beside the found one has the key, too. If it has all texts, nothing identifies the intended one.
    """
    if not wanted.joint and not any(_same_text(one, wanted.record or "") for one in found.shared):
        return False
    have = {COUNT.sub("#", one) for one in found.texts}
    lost = [one for one in wanted.texts if not TIMELY.search(one) and COUNT.sub("#", one) not in have]
    # The texts that now distinguish the found record from those beside it must be equal, also their counts.
    telling = {one for one in found.texts if found.joint or one not in found.shared}
    same = telling <= set(wanted.texts) if found.joint else telling & set(wanted.texts)
    return bool(lost) or not found.record or (bool(telling) and not same)


def _lacks_name(wanted: TargetIdentity, found: TargetIdentity) -> bool:
    """Return True if the key is only an amount, a date or a time, and words are missing.

    The key of `Lamp, 40 EUR` beside `Lamp, 60 EUR` is the price, which a chair may have by now.
    """
    if NAMED_KEY.search(wanted.record or "") and not AMOUNT.search(wanted.record or ""):
        return False
    if not AMOUNT.search(wanted.record or "") and not TIMELY.search(wanted.record or ""):
        return False
    have = {COUNT.sub("#", one) for one in found.texts}
    return any(
        _LETTERS.search(one)
        and not AMOUNT.search(one)
        and not TIMELY.search(one)
        and COUNT.sub("#", one) not in have
        for one in wanted.shared
    )


def _lacks_number(wanted: TargetIdentity, found: TargetIdentity) -> bool:
    """Return True if a long number of the record, such as that of an account, differs."""
    return any(
        _LONG_NUMBER.fullmatch(one) and not passing(one) and one not in found.texts for one in wanted.texts
    )


_LONG_NUMBER = re.compile(r"(?=(?:.*\d){6})[A-Z\d #+/.-]+")


def _same_text(one: str, other: str) -> bool:
    """Compare two texts of records; older recordings have no hash after a cut text."""
    short, long = sorted((one, other), key=len)
    return same_key(one, other) or (short.endswith("…") and long.startswith(short))


def _group(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    """Compare two records' groups, if the keys do not decide or the act is grave."""
    if not wanted.group or (found.group and same_name(wanted.group, found.group)):
        return None
    if not found.group:
        around = (found.record or "", *found.texts, found.region, found.heading)
        if not wanted.namesake or any(says(one, wanted.group) for one in around):
            return None
    alone = bool(wanted.record) and not wanted.namesake and not found.namesake
    if alone and (NAMED_KEY.search(wanted.record or "") or not grave(wanted.name)):
        return None
    if TIMELY.search(wanted.group) or _DAY.search(wanted.group):
        return None
    return TargetDifference("group", wanted.group, found.group or found.record or "none")


def _without_record(wanted: TargetIdentity, found: TargetIdentity) -> TargetDifference | None:
    """Compare an element that had no record with one that has one, by the texts beside it."""
    if wanted.record is None or not found.record or not wanted.near:
        return None
    around = " ".join((*found.near, *found.texts))
    if any(says(around, one) for one in wanted.near):
        return None
    return TargetDifference("record", wanted.near[0], found.record)


def _all_others_differ(wanted: TargetIdentity, found: TargetIdentity) -> bool:
    """Return True if a record has several texts, and only its key agrees.

    Prices do not count, because they change; before a grave act they do, unless the key has several words or is the
    name of a file. With such a key, dates and sizes do not count either.
    """
    key = wanted.record or ""
    long = len(tokens(key)) >= 3 or coded(key)
    valued = long or not grave(wanted.name)
    others = [
        one
        for one in wanted.texts
        if one != key
        and not TIMELY.search(one)
        and not (valued and _PRICE.fullmatch(one))
        and not (long and passing(one))
    ]
    have = {COUNT.sub("#", one) for one in found.texts}
    return bool(others) and not any(COUNT.sub("#", one) in have for one in others)
