"""Choose the element that a step means; a wrong element is worse than none.

The criteria, in this order: the element has the right kind; its name or an identifying mark agrees (an id, a test id,
a field's name); nothing contradicts; it is similar enough, and no other possible element is nearly as similar.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reenact.browser.heal.evidence import (
    MARKS,
    marks,
    marks_of,
    named,
    names_of,
    pictured,
    recorded,
    same_place,
    strong_marks,
    words_in,
)
from reenact.browser.page.consequence import plain
from reenact.browser.page.differences import contradiction
from reenact.browser.page.fitting import ROLES
from reenact.browser.page.synonyms import said_otherwise
from reenact.browser.page.target import FIELDS, TargetIdentity
from reenact.browser.page.wording import GRAVE, OTHER

CAP = 0.6
"""The score that an element needs."""
MARGIN = 0.12
"""The lead that it needs over each other possible element."""
CAP_TWIN = 0.8
"""The score that an element needs among several of the same name."""

_PRESSED_ALIKE = frozenset({"button", "link", "generic"})

_BESIDE = 10
"""Pixels by which the last one of several equal elements may have moved."""

_PIXELS = 3
"""Pixels by which an element may have moved and still be in its place."""


Against = Callable[[Mapping[str, Any]], str]
"""A function that returns the objection to an element's fingerprint, or ""."""


@dataclass(frozen=True)
class ElementChoice:
    """The chosen element, or the reason for none.

    Attributes:
        place: Its index among the candidates, or None.
        score: Its likeness; `margin` its lead.
        why: The deciding facts, in a few words.
    """

    place: int | None
    score: float
    margin: float
    why: str


def choose(
    wanted: Mapping[str, Any],
    found: Sequence[Mapping[str, Any]],
    action: str,
    *,
    twin: bool = False,
    against: Against = lambda _: "",
) -> ElementChoice:
    """Choose the intended element.

    Args:
        wanted: The wanted element's fingerprint.
        found: Candidates: `score`, `fingerprint`, best first.
        action: The action's type.
        twin: True if there were others of the same name in the good run.
        against: Returns a further objection to an element's fingerprint, or "".
    """
    fit = [place for place, one in enumerate(found) if kind(wanted, one["fingerprint"], action)]
    meant = [place for place in fit if _meant(wanted, found[place]["fingerprint"])]
    objections = {place: _objection(wanted, found[place]["fingerprint"], against) for place in meant}
    objected = next((objections[place] for place in meant if objections[place]), "")
    meant = [place for place in meant if not objections[place]]
    # An equal name outranks an id, which may belong to another element by now.
    same = [place for place in meant if named(wanted, found[place]["fingerprint"]) == "same"]
    meant = [place for place in meant if not same or named(wanted, found[place]["fingerprint"]) != "other"]
    if not meant and objected:
        return ElementChoice(None, 0.0, 0.0, objected)
    if not meant:
        return ElementChoice(
            None, 0.0, 0.0, "nothing there has its name, or anything else that identifies it"
        )
    if (there := _pictured(wanted, found, meant) or _unnamed(wanted, found, meant)) is not None:
        return there
    # Identifying marks decide before likeness: `Password` is not `Confirm password`.
    # Its record distinguishes it from others of its name.
    twin = twin and not recorded(wanted)
    meant.sort(key=lambda place: (_rank(wanted, found[place]["fingerprint"]), -float(found[place]["score"])))
    alone = _sole_twin(wanted, found, meant) if twin else None
    best = meant[0] if alone is None else alone
    candidate = found[best]["fingerprint"]
    score = float(found[best]["score"])
    rivals = [] if alone is not None else _rivals(wanted, found, meant)
    margin = round(score - max(float(found[place]["score"]) for place in rivals), 4) if rivals else 1.0
    objection = refused(wanted, candidate)
    objection = objection or _weak(wanted, candidate, score, margin, twin=twin and alone is None)
    objection = objection or _overtaken(wanted, found, best, fit)
    if objection:
        return ElementChoice(None, score, margin, objection)
    agreed = ", ".join(marks(wanted, candidate)) or "no mark"
    return ElementChoice(best, score, margin, f"{named(wanted, candidate)} name, {agreed} the same")


def _objection(wanted: Mapping[str, Any], candidate: Mapping[str, Any], against: Against) -> str:
    return against(candidate) or (
        contradiction(TargetIdentity.of(wanted), TargetIdentity.of(candidate)) if wanted else ""
    )


def _rank(wanted: Mapping[str, Any], candidate: Mapping[str, Any]) -> int:
    """Return 0 if both name and a mark agree, 1 if one of them does, 2 if neither."""
    return 2 - (named(wanted, candidate) == "same") - bool(strong_marks(wanted, candidate))


def _rivals(wanted: Mapping[str, Any], found: Sequence[Mapping[str, Any]], meant: Sequence[int]) -> list[int]:
    """Return the other candidates that could be meant.

    Without nested and refused elements, and if the first candidate agrees in name or mark, those that do not.
    """
    candidate = found[meant[0]]["fingerprint"]
    rank = _rank(wanted, candidate)
    others = [(place, found[place]["fingerprint"]) for place in meant[1:]]
    return [
        place
        for place, other in others
        if not _nested(candidate, other)
        and not refused(wanted, other)
        and (rank == 2 or _rank(wanted, other) < 2)
    ]


def _overtaken(
    wanted: Mapping[str, Any], found: Sequence[Mapping[str, Any]], best: int, fit: Sequence[int]
) -> str:
    """Return an objection if another candidate is more similar and this one is not identified."""
    candidate = found[best]["fingerprint"]
    same = named(wanted, candidate) == "same"
    more = [
        place
        for place in fit
        if float(found[place]["score"]) > float(found[best]["score"])
        and not _nested(candidate, found[place]["fingerprint"])
        and (not same or named(wanted, found[place]["fingerprint"]) == "same")
    ]
    if (
        not more
        or strong_marks(wanted, candidate)
        or recorded(wanted)
        or (named(wanted, candidate) == "same" and same_place(wanted, candidate))
    ):
        return ""
    return "another one is more alike"


def _sole_twin(
    wanted: Mapping[str, Any], found: Sequence[Mapping[str, Any]], meant: Sequence[int]
) -> int | None:
    """Return the only one of several elements of the name that has the same texts around it."""
    twins = [place for place in meant if named(wanted, found[place]["fingerprint"]) == "same"]
    here = [place for place in twins if _among(wanted, found[place]["fingerprint"])]
    if len(here) != 1:
        return None
    candidate = found[here[0]]["fingerprint"]
    others = [
        place for place in twins if place != here[0] and not _nested(candidate, found[place]["fingerprint"])
    ]
    # If it is the only candidate, the texts distinguish nothing, so it must be in its old place.
    return here[0] if others or _apart(wanted, candidate) <= _BESIDE else None


def _among(wanted: Mapping[str, Any], candidate: Mapping[str, Any]) -> bool:
    """Return True if all texts around the wanted element are around it, under the same heading."""
    near = wanted.get("near") or []
    return (
        bool(near)
        and set(near) <= set(candidate.get("near") or [])
        and wanted.get("heading") == candidate.get("heading")
    )


def _apart(wanted: Mapping[str, Any], candidate: Mapping[str, Any]) -> float:
    """Return the most pixels by which it has moved or changed its size."""
    box, its = wanted.get("box"), candidate.get("box")
    if not box or not its:
        return float("inf")
    return max(abs(float(one) - float(other)) for one, other in zip(box, its, strict=True))


def _pictured(
    wanted: Mapping[str, Any], found: Sequence[Mapping[str, Any]], meant: Sequence[int]
) -> ElementChoice | None:
    """Choose an element without a name by its picture, if only one element has it."""
    there = [place for place in meant if pictured(wanted, found[place]["fingerprint"])]
    if len(there) != 1 or refused(wanted, found[there[0]]["fingerprint"]):
        return None
    score = float(found[there[0]]["score"])
    return ElementChoice(there[0], score, 1.0, "no name, and the only one with its picture")


def _unnamed(
    wanted: Mapping[str, Any], found: Sequence[Mapping[str, Any]], meant: Sequence[int]
) -> ElementChoice | None:
    """Choose an element without name and marks by its place, if only one is exactly there."""
    if names_of(wanted) or any(strong_marks(wanted, found[place]["fingerprint"]) for place in meant):
        return None
    there = [place for place in meant if _in_place(wanted, found[place]["fingerprint"])]
    others = [
        place
        for place in there[1:]
        if not _nested(found[there[0]]["fingerprint"], found[place]["fingerprint"])
    ]
    if not there or others or refused(wanted, found[there[0]]["fingerprint"]):
        return None
    score = float(found[there[0]]["score"])
    if score < CAP:
        return None
    return ElementChoice(there[0], score, 1.0, "no name, and the only one in its place among the same texts")


def _in_place(wanted: Mapping[str, Any], candidate: Mapping[str, Any]) -> bool:
    """Return True if it is in the same place to the pixel, among the same texts."""
    near = wanted.get("near")
    if not near or list(near) != list(candidate.get("near") or []):
        return False
    # Another picture or number of siblings means that another element has moved to its place.
    if wanted.get("icon", candidate.get("icon")) != candidate.get("icon") or wanted.get(
        "siblings"
    ) != candidate.get("siblings"):
        return False
    if wanted.get("tag") != candidate.get("tag") or wanted.get("heading") != candidate.get("heading"):
        return False
    return _apart(wanted, candidate) <= _PIXELS


def _meant(wanted: Mapping[str, Any], candidate: Mapping[str, Any]) -> bool:
    """Return True if a name or a mark, not only likeness, agrees with the wanted element."""
    return named(wanted, candidate) != "other" or bool(marks(wanted, candidate))


def kind(wanted: Mapping[str, Any], candidate: Mapping[str, Any], action: str) -> bool:
    """Return True if the element supports the action and has the same kind as the wanted one."""
    role, was = str(candidate.get("role")), str(wanted.get("role") or "")
    if not candidate.get("visible", True) or bool(candidate.get("secret")) != bool(
        wanted.get("secret", candidate.get("secret"))
    ):
        return False
    if action in ROLES:
        if role not in ROLES[action]:
            return False
        if action == "check":
            return was in {"", role}
        return not was or was in ROLES[action]
    if not was or was == role:
        return True
    # To a user, a link that became a button is the same, and so is a box that is pressed; a field is not.
    return was in _PRESSED_ALIKE and role in _PRESSED_ALIKE


def refused(wanted: Mapping[str, Any], candidate: Mapping[str, Any]) -> str:
    """Return the objection that excludes an element however similar it is, or ""."""
    grave = (words_in(candidate) & GRAVE) - words_in(wanted)
    if grave := {
        word for word in grave if not any(word in said_otherwise(name) for name in names_of(wanted))
    }:
        return f"it says {min(grave)!r}, which the sought one did not"
    if against := contradiction(TargetIdentity.of(wanted), TargetIdentity.of(candidate)):
        return against
    mine, its = marks_of(wanted), marks_of(candidate)
    choice = mine.get("group", "") == its.get("group") and mine["choice"] != its["choice"]
    if choice and named(wanted, candidate) != "same":
        return "it is another choice of the same group"
    if not any(mine.get(name) == its.get(name) for name in ("test_id", "id") if name in mine):
        # edit-4 is not edit-3, unless it is in the same place, or a field with the same label.
        series = [
            name for name in MARKS
            if name in mine and name in its and mine[name] != its[name] and plain(mine[name]) == plain(its[name])
        ]  # fmt: skip
        labelled = candidate.get("role") in FIELDS and named(wanted, candidate) == "same" and recorded(wanted)
        if series and not labelled and not same_place(wanted, candidate):
            return f"its {series[0]} is another one's of the same series"
    return ""


def _weak(
    wanted: Mapping[str, Any], candidate: Mapping[str, Any], score: float, margin: float, *, twin: bool
) -> str:
    """Return the reason that the evidence for an element is too weak, or ""."""
    how, strong = named(wanted, candidate), strong_marks(wanted, candidate)
    cap, need = CAP, MARGIN
    if how == "same":
        if twin and not strong:
            cap = CAP_TWIN
            if not same_place(wanted, candidate):
                return "there were others of its name, and it stands elsewhere"
        elif strong or recorded(wanted) or (not twin and margin >= 0.2):
            cap, need = 0.45, 0.08
    elif strong:
        if how == "other":
            cap, need = 0.5, 0.15
            if wanted.get("role") != candidate.get("role"):
                return "it has another name and another role"
    elif how == "near":
        need = 0.15
        extra = words_in(candidate) ^ words_in(wanted)
        if extra & OTHER:
            return f"its name differs by {min(extra & OTHER)!r}"
        if not same_place(wanted, candidate):
            return "its name is another, and it stands elsewhere"
    elif how == "no":
        near, its = wanted.get("near") or [], candidate.get("near") or []
        if near and near[:1] != its[:1]:
            return "it has no name, and another text stands beside it"
        if candidate.get("role") not in ROLES["fill"]:
            # Icons resemble each other, and `_unnamed` has found none in the old place.
            return "it has no name, and does not stand in its place"
        # The only candidate among the same texts may differ more than one of several.
        alone = margin >= 0.3 and same_place(wanted, candidate)
        cap, need = (CAP, 0.3) if alone else (0.75, 0.15)
    else:
        return "neither its name nor anything that identifies it is the same"
    if score < cap:
        return f"it is not alike enough: {score:.2f}, and {cap:.2f} is needed"
    if margin < need:
        return f"another one is nearly as alike: {margin:.2f} apart, and {need:.2f} is needed"
    return ""


def _nested(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return True if one element contains the other: pressing either presses both."""
    if one.get("frames") != other.get("frames"):
        return False
    mine, its = f"{one.get('path')}/", f"{other.get('path')}/"
    return mine.startswith(its) or its.startswith(mine)
