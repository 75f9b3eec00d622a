"""Evidence that two fingerprints are of the same element: names, marks, places."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reenact.browser.page.likeness import alike
from reenact.browser.page.target import OTHER, TargetIdentity, exact, extends, same_name

MARKS = ("test_id", "id", "field", "href")


def named(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    """Compare the two names: `same`, `near`, `other`, or `no` where the sought one has no name."""
    mine, its = names_of(wanted), names_of(told)
    if not mine:
        return _captioned(wanted, told, its)
    if mine & its:
        return "same"
    close = any(_near(one, other) for one in mine for other in its)
    return "near" if close else "other"


def _captioned(wanted: Mapping[str, Any], told: Mapping[str, Any], names: set[str]) -> str:
    """Compare a field known only by the text before it: `same`, `other` or `no`."""
    mine, its = str(wanted.get("caption") or ""), str(told.get("caption") or "")
    if not mine:
        return "no"
    if " ".join(tokens_of(mine)) in {*names, " ".join(tokens_of(its))}:
        return "same"
    # A text that differs in part may be an instruction, which changes with each run.
    return "other" if its and alike(mine, its) < 0.6 else "no"


def _near(one: str, other: str) -> bool:
    """Return True for another spelling of a name; a longer name or another number is none."""
    mine, its = one.split(), other.split()
    if same_name(one, other):
        return True
    if len(mine) != len(its) or re.findall(r"\d+", one) != re.findall(r"\d+", other):
        return False
    return bool(mine) and alike(one, other) >= 0.8


def marks(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> list[str]:
    """Return the identifying marks that are equal: `test_id`, `id`, `field`, `href`."""
    mine, its = marks_of(wanted), marks_of(told)
    return [name for name in MARKS if name in mine and mine.get(name) == its.get(name)]


def strong_marks(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> list[str]:
    """Return the equal marks that identify it on its page.

    The address is left out, because several links may share it.
    """
    return [name for name in marks(wanted, told) if name != "href"]


def recorded(wanted: Mapping[str, Any]) -> bool:
    """Return True if its record tells an element from others of its name."""
    return bool((wanted.get("record") or {}).get("key"))


def same_place(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    """Return True if it stands among the same texts, under the same heading."""
    near, its = wanted.get("near") or [], told.get("near") or []
    heading = wanted.get("heading")
    if heading and alike(str(heading), str(told.get("heading") or "")) < 0.8:
        return False
    if near:
        return str(near[0]) in {str(one) for one in its} or len(set(near) & set(its)) * 2 >= len(near)
    return bool(heading) or wanted.get("path") == told.get("path")


def identified(wanted: Mapping[str, Any], told: Mapping[str, Any], action: str = "") -> bool:
    """Return True for exactly the wanted element: its name, and its record or mark.

    To pick an element up (`drag`), its name is enough: it can be put back, and the drop has an element of its own.
    """
    mine = TargetIdentity.of(wanted)
    if not mine.name or exact(mine, TargetIdentity.of(told)):
        return False
    return action == "drag" or recorded(wanted) or bool(strong_marks(wanted, told))


def proven(wanted: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    """Return True if the name or a mark of an element is the wanted one's."""
    return named(wanted, told) == "same" or bool(strong_marks(wanted, told))


def other_name(wanted: Mapping[str, Any], told: Mapping[str, Any], *, vouched: bool = False) -> str:
    """Return the reason that an element of another name may be another one, or "".

    It is the sought one only if a mark says the sought name: `id="email"` does, `id="f1"` does not, since such an id
    may be given to another element. A name that is only spelled alike needs a mark, too: it may be a neighbour's,
    unless a model has `vouched` for it.
    """
    likeness = named(wanted, told)
    if likeness == "near" and not vouched and not strong_marks(wanted, told):
        close = any(same_name(one, other) for one in names_of(wanted) for other in names_of(told))
        return "" if close else f"its name {told.get('name')!r} is only spelled alike"
    if likeness != "other" or not names_of(told):
        return ""
    name, its = (str(one.get("name") or one.get("caption") or "") for one in (wanted, told))
    if extends(name, its) or words_in(told) & OTHER - words_in(wanted):
        return f"its name {its!r} is another element's"
    said = {word for mark in strong_marks(wanted, told) for word in tokens_of(marks_of(wanted)[mark])}
    if said & {word for word in tokens_of(name) if len(word) > 1 and not word.isdigit()}:
        return ""
    return f"its name is {its!r}, not {name!r}"


def names_of(told: Mapping[str, Any]) -> set[str]:
    """Return the names of an element: label, texts, placeholder, title; in lower case."""
    attributes = told.get("attributes") or {}
    texts = [told.get(name) for name in ("name", "text", "label", "shown")]
    texts += [attributes.get(name) for name in ("placeholder", "aria-label", "title", "alt")]
    return {" ".join(tokens_of(str(text))) for text in texts if text and tokens_of(str(text))}


def words_in(told: Mapping[str, Any]) -> set[str]:
    """Return all words of an element's names."""
    return {word for name in names_of(told) for word in name.split()}


def tokens_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return re.sub(r"[\W_]+", " ", text).lower().split()


def marks_of(told: Mapping[str, Any]) -> dict[str, str]:
    """Return the identifying attributes of an element."""
    attributes = told.get("attributes") or {}
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
        found["field"] = found["choice"] = f"{attributes['name']}={attributes['value']}"
    return {name: str(value) for name, value in found.items() if value and value != "#"}
