"""Evidence that two fingerprints are of the same element: its name, marks and place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reenact.browser.page.differences import beside, exact
from reenact.browser.page.likeness import alike
from reenact.browser.page.target import TargetIdentity
from reenact.browser.page.wording import OTHER, extends, reworded, same_name, signs_differ, spoken, tokens

MARKS = ("test_id", "id", "field", "href")


def named(wanted: Mapping[str, Any], candidate: Mapping[str, Any]) -> str:
    """Compare the names: `same`, `near`, `other`, or `no` if the wanted element has no name."""
    mine, its = names_of(wanted), names_of(candidate)
    if not mine:
        return _captioned(wanted, candidate, its)
    if wanted.get("name"):
        # `Edit row 5` and `Edit row 6` may both show `Edit`.
        mine = names_of({"name": wanted["name"]}) or mine
    if mine & its:
        turned = signs_differ(str(wanted.get("name") or ""), str(candidate.get("name") or ""))
        longs = wanted.get("long"), candidate.get("long")
        return "other" if turned or (all(longs) and longs[0] != longs[1]) else "same"
    close = any(_near(one, other) for one in mine for other in its)
    return "near" if close else "other"


def _captioned(wanted: Mapping[str, Any], candidate: Mapping[str, Any], names: set[str]) -> str:
    """Compare a field known only by the text before it: `same`, `other` or `no`."""
    mine, its = str(wanted.get("caption") or ""), str(candidate.get("caption") or "")
    if not mine:
        return "no"
    if " ".join(spoken(mine)) in {*names, " ".join(spoken(its))}:
        return "same"
    # A text that differs only in part may be an instruction, which changes with each run.
    return "other" if its and alike(mine, its) < 0.6 else "no"


def _near(one: str, other: str) -> bool:
    """Return True for another spelling of a name, but not for a longer name or another number."""
    mine, its = one.split(), other.split()
    if same_name(one, other):
        return True
    if len(mine) != len(its) or any(_NUMBER.search(word) for word in {*mine} ^ {*its}):
        return False
    changed = [(a, b) for a, b in zip(mine, its, strict=True) if a != b]
    return alike(one, other) >= 0.8 and all(alike(a, b) >= 0.75 and not _turned(a, b) for a, b in changed)


def _turned(one: str, other: str) -> bool:
    """Return True for a word and its opposite: `lock` and `unlock`, `increase` and `decrease`.

    Opposites differ at the beginning and have the same end; spellings of one word differ later.
    """
    return _alike_from(one[::-1], other[::-1]) >= 3 and _alike_from(one, other) <= 2


def _alike_from(one: str, other: str) -> int:
    """Return the number of equal letters at the beginning of two words."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


_NUMBER = re.compile(r"\d|^[^\W\d_]$|^\W$")
"""A number, a single letter or a sign: another one makes another name."""


def marks(wanted: Mapping[str, Any], candidate: Mapping[str, Any]) -> list[str]:
    """Return the identifying marks that are equal: `test_id`, `id`, `field`, `href`."""
    mine, its = marks_of(wanted), marks_of(candidate)
    return [name for name in MARKS if name in mine and mine.get(name) == its.get(name)]


def strong_marks(wanted: Mapping[str, Any], candidate: Mapping[str, Any]) -> list[str]:
    """Return the equal marks that identify an element on its page.

    The address is left out, because several links may share it.
    """
    return [name for name in marks(wanted, candidate) if name != "href"]


def recorded(wanted: Mapping[str, Any]) -> bool:
    """Return True if the record of an element distinguishes it from others of its name."""
    return bool((wanted.get("record") or {}).get("key"))


def same_place(wanted: Mapping[str, Any], candidate: Mapping[str, Any]) -> bool:
    """Return True if both are among the same texts, under the same heading."""
    near, its = wanted.get("near") or [], candidate.get("near") or []
    heading = wanted.get("heading")
    if heading and alike(str(heading), str(candidate.get("heading") or "")) < 0.8:
        return False
    if near:
        return str(near[0]) in {str(one) for one in its} or len(set(near) & set(its)) * 2 >= len(near)
    return bool(heading) or wanted.get("path") == candidate.get("path")


def identified(wanted: Mapping[str, Any], candidate: Mapping[str, Any], action: str = "") -> bool:
    """Return True for exactly the wanted element.

    It has the same name and the same record, mark or place; if it has no name, the same picture.

    The name alone is enough for a tab, and for `drag`: a dragged element can be put back, and the target of the drop is
    checked by itself.
    """
    if pictured(wanted, candidate):
        return True
    mine = TargetIdentity.of(wanted)
    if not mine.name or exact(mine, TargetIdentity.of(candidate)):
        return False
    known = recorded(wanted) or bool(strong_marks(wanted, candidate)) or same_place(wanted, candidate)
    return action == "drag" or mine.role == "tab" or known


def moved(wanted: Mapping[str, Any], candidate: Mapping[str, Any], result: Mapping[str, Any] | None) -> bool:
    """Return True for the wanted link itself, in its old place or list, with a new address.

    It led to the address that it names, and sent no request that may change anything.
    """
    there = (result or {}).get("navigated")
    if (
        candidate.get("role") != "link"
        or wanted.get("role") != "link"
        or there != marks_of(candidate).get("href")
    ):
        return False
    sent = (result or {}).get("requests") or ()
    return (
        bool(there)
        and named(wanted, candidate) == "same"
        and not exact(TargetIdentity.of(wanted), TargetIdentity.of(candidate))
        and (same_place(wanted, candidate) or _in_one_navigation(wanted, candidate))
        and all(one.startswith("GET ") for one in sent)
    )


def _in_one_navigation(wanted: Mapping[str, Any], candidate: Mapping[str, Any]) -> bool:
    """Return True if both are in the same navigation box, where a name identifies a link."""
    box, its = (str(one.get("path") or "").rpartition("/")[0] for one in (wanted, candidate))
    return box == its and "/nav[" in f"{box}/"


def reworded_field(wanted: Mapping[str, Any], candidate: Mapping[str, Any]) -> bool:
    """Return True for the only field of its form, then and now, under a reworded name.

    The names differ only in words such as `is` and `needs`; kind and place are equal.
    """
    if not (wanted.get("only") and candidate.get("only")) or any(
        wanted.get(part) != candidate.get(part) for part in _KEPT
    ):
        return False
    kinds = ((one.get("attributes") or {}).get("type") or "text" for one in (wanted, candidate))
    return len(set(kinds)) == 1 and reworded(str(wanted.get("name")), str(candidate.get("name")))


_KEPT = ("tag", "role", "heading", "section", "region", "frames", "secret")


def proven(wanted: Mapping[str, Any], candidate: Mapping[str, Any]) -> bool:
    """Return True if the name, the picture or a mark of an element is that of the wanted one.

    The name of a field may be reworded.
    """
    known = (
        named(wanted, candidate) == "same"
        or bool(strong_marks(wanted, candidate))
        or pictured(wanted, candidate)
    )
    return known or reworded_field(wanted, candidate)


def pictured(wanted: Mapping[str, Any], candidate: Mapping[str, Any]) -> bool:
    """Return True if the picture identifies an element without a name.

    It does if the record is known, too, or nothing else on the page has the picture.
    """
    if names_of(wanted) or not wanted.get("icon") or wanted["icon"] != candidate.get("icon"):
        return False
    if exact(TargetIdentity.of(wanted), TargetIdentity.of(candidate)):
        return False
    return recorded(wanted) or bool(wanted.get("sole") and candidate.get("sole", True))


def other_name(
    wanted: Mapping[str, Any], candidate: Mapping[str, Any], *, vouched: bool = False, pressed: bool = False
) -> str:
    """Return the reason that an element of another name may be the wrong one, or "".

    It is the wanted one only if a mark contains the wanted name, as `id="email"` does: an id such as `f1` may have been
    given to another element. No mark is enough for an element that is `pressed`: by now `id="start"` may stop the work.
    A name of similar spelling may be a neighbour's, so it needs a mark, too, unless a model has `vouched` for it.
    """
    likeness = named(wanted, candidate)
    if likeness == "near" and not vouched and not strong_marks(wanted, candidate):
        close = any(same_name(one, other) for one in names_of(wanted) for other in names_of(candidate))
        if close and beside(wanted.get("near") or (), str(wanted.get("name")), str(candidate.get("name"))):
            return f"its name {candidate.get('name')!r} was another one's beside it"
        return "" if close else f"its name {candidate.get('name')!r} is only spelled alike"
    if likeness != "other" or not names_of(candidate):
        return ""
    name, its = (str(one.get("name") or one.get("caption") or "") for one in (wanted, candidate))
    if extends(name, its) or words_in(candidate) & OTHER - words_in(wanted):
        return f"its name {its!r} is another element's"
    mine, now = set(spoken(name)), set(spoken(its))
    if mine & now and now - mine:
        return f"its name {its!r} has another word than {name!r}"
    said = {word for mark in strong_marks(wanted, candidate) for word in spoken(marks_of(wanted)[mark])}
    if not pressed and said & {word for word in spoken(name) if len(word) > 1 and not word.isdigit()}:
        return ""
    return f"its name is {its!r}, not {name!r}"


def names_of(candidate: Mapping[str, Any]) -> set[str]:
    """Return the names of an element: label, texts, placeholder, title; in lower case."""
    attributes = candidate.get("attributes") or {}
    texts = [candidate.get(name) for name in ("name", "text", "label", "shown")]
    texts += [attributes.get(name) for name in ("placeholder", "aria-label", "title", "alt")]
    # A name without words, such as `+`, is itself.
    said = (" ".join(tokens(str(text)) or str(text).split()) for text in texts if text)
    return {text for text in said if text}


def words_in(candidate: Mapping[str, Any]) -> set[str]:
    """Return all words of an element's names."""
    return {word for name in names_of(candidate) for word in name.split()}


def marks_of(candidate: Mapping[str, Any]) -> dict[str, str]:
    """Return the identifying attributes of an element."""
    attributes = candidate.get("attributes") or {}
    test_id = next(
        (attributes[name] for name in ("data-testid", "data-test-id", "data-test") if name in attributes),
        None,
    )
    found = {
        "test_id": test_id,
        "id": attributes.get("id"),
        "field": attributes.get("name"),
        "href": attributes.get("href"),
    }
    if attributes.get("type") in {"radio", "checkbox"} and attributes.get("name") and attributes.get("value"):
        # All of a group have the same name: the value identifies the element.
        found["group"] = attributes["name"]
        found["field"] = found["choice"] = f"{attributes['name']}={attributes['value']}"
    return {name: str(value) for name, value in found.items() if value and value != "#"}
